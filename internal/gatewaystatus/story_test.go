// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// A story is a row of steps: each changes the world, and says the phase and the whole list of conditions that follow. The
// status of each step is the previous one of the next, as the API server would have stored it. Steps are a minute apart,
// the first at noon. After each step it is checked that nothing was changed, and that looking again changes nothing.
type story []step

type step struct {
	what  string
	world func(*gatewaystatus.Input)
	want  string
}

func (s story) run(t *testing.T) gatewaystatus.Input {
	t.Helper()
	in := gatewaystatus.Input{
		Gateway: &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "team-a", Generation: 1}},
		Now:     flux.Noon,
	}
	for i, step := range s {
		in.Now = flux.At(time.Duration(i) * time.Minute)
		step.world(&in)
		status := compute(t, step.what, in)
		if got := summary(status); got != step.want {
			t.Fatalf("%s:\ngot\n%s\nwant\n%s", step.what, got, step.want)
		}
		in.Gateway.Status = stored(t, status)
		checkKstatus(t, step.what, *in.Gateway, in.Gateway.Status)
	}
	return in
}

// compute checks that the input stays as it is, and that the status says nothing new when it is computed again later.
func compute(t *testing.T, what string, in gatewaystatus.Input) v1alpha1.APIGatewayStatus {
	t.Helper()
	gateway, before := in.Gateway.DeepCopy(), text(t, in.Gateway, in.Desired, in.Release, in.Source, in.RunningSource)
	status := gatewaystatus.Compute(in)
	if after := text(t, in.Gateway, in.Desired, in.Release, in.Source, in.RunningSource); after != before {
		t.Fatalf("%s: the input became\n%s\nit was\n%s", what, after, before)
	}
	again := in
	again.Gateway = gateway
	again.Gateway.Status = *status.DeepCopy()
	again.Now = metav1.NewTime(in.Now.Add(time.Hour))
	if second := gatewaystatus.Compute(again); !reflect.DeepEqual(second, status) {
		t.Fatalf("%s: computed again\n%s\nat first\n%s", what, text(t, second), text(t, status))
	}
	return status
}

// summary is the phase, and a line for each condition.
func summary(status v1alpha1.APIGatewayStatus) string {
	out := []string{string(status.Phase)}
	for _, c := range status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, "\n")
}

// Lines that most summaries have.
const (
	accepted = "Accepted=True Accepted: spec, class and config are valid"
	stored1  = "SourceReady=True Ready: " + flux.Stored
	oldRuns  = "chart gateway 1.1.0 is deployed as revision 5"
	newRuns  = "chart gateway 1.2.0 is deployed as revision 6"
	noSource = "SourceReady=Unknown Pending: OCIRepository team-a/wso2-19c6a703 does not exist yet"
)

func lines(parts ...string) string { return strings.Join(parts, "\n") }

// both is what Programmed and Ready say alike.
func both(says string) string { return "Programmed=" + says + "\nReady=" + says }

// runs is what they say when the desired state is deployed.
func runs(message string) string {
	return "Programmed=True Deployed: " + message + "\nReady=True Ready: " + message
}

// goesOn is Unknown, and Reconciling saying the same.
func goesOn(reason, message string) string {
	return both("Unknown "+reason+": "+message) + "\nReconciling=True Progressing: " + message
}

// fails is False, and Reconciling saying what comes next.
func fails(reason, message, next string) string {
	return both("False "+reason+": "+message) + "\nReconciling=True ProgressingWithRetry: " + next
}

// now changes several things at once.
func now(changes ...func(*gatewaystatus.Input)) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		for _, change := range changes {
			change(in)
		}
		if in.Release != nil && in.Desired != nil && in.Release.Spec.ChartRef.Name == in.Desired.Spec.ChartRef.Name {
			in.RunningSource = in.Source
		}
	}
}

// wants is a change of the gateway's spec or class.
func wants(p *plan.Plan) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.Plan, in.Desired = p, fluxobjects.Make(p, fluxobjects.SharedSources).Release
		in.Gateway.Generation++
	}
}

// release is the desired HelmRelease, with what Flux makes of it.
func release(generation int64, parts ...flux.Part) func(*gatewaystatus.Input) {
	return now(func(in *gatewaystatus.Input) { in.Release = flux.Release(in.Desired, generation, parts...) })
}

// source is the wanted one; where the release refers to another, that becomes the running one.
func source(s *sourcev1.OCIRepository) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		if in.Source != nil && in.RunningSource == nil {
			in.RunningSource = in.Source
		}
		in.Source = s
	}
}

// also changes the HelmRelease as it is.
func also(parts ...flux.Part) func(*gatewaystatus.Input) {
	return now(func(in *gatewaystatus.Input) {
		in.Release = in.Release.DeepCopy()
		for _, p := range parts {
			p(in.Release)
		}
	})
}

// chart is a plan for a chart of that version, with all defaults.
func chart(version string) *plan.Plan {
	return &plan.Plan{
		Gateway:   types.NamespacedName{Namespace: "team-a", Name: "orders"},
		ClassName: "wso2",
		Source: plan.Source{
			Namespace: "team-a",
			Spec: sourcev1.OCIRepositorySpec{
				URL:       "oci://registry.example.com/charts/gateway",
				Reference: &sourcev1.OCIRepositoryRef{Tag: version},
				Interval:  metav1.Duration{Duration: 10 * time.Minute},
			},
		},
		Release: plan.Release{
			Name: "orders", TargetNamespace: "apis", StorageNamespace: "apis",
			Interval: 5 * time.Minute, Timeout: 5 * time.Minute, MaxHistory: 5, CRDs: helmv2.CreateReplace,
			Values: []byte(fmt.Sprintf(`{"for":%q}`, version)),
		},
		Remediation: plan.Remediation{
			Strategy: v1alpha1.StrategyRollback, FailureThreshold: 5,
			Backoff: plan.Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour},
		},
	}
}

func stored(t *testing.T, status v1alpha1.APIGatewayStatus) (out v1alpha1.APIGatewayStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(text(t, status)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func text(t *testing.T, values ...any) string {
	t.Helper()
	var out []string
	for _, v := range values {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	return strings.Join(out, "\n")
}
