// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/story"
)

// scene is a gateway and its surroundings. Its status is what the operator makes of them, step by step, a minute apart.
type scene struct {
	world   gatewaystatus.Input
	minutes int
	in      story.Input
}

func newScene() *scene {
	gateway := &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{
		Name: "orders", Namespace: "apis", UID: "1", Generation: 1, CreationTimestamp: flux.At(-time.Hour),
	}}
	gateway.Status.ObservedGeneration = -1
	return &scene{world: gatewaystatus.Input{Gateway: gateway}, in: story.Input{Program: "sluice"}}
}

// then changes the world, and has the operator look.
func (s *scene) then(changes ...func(*gatewaystatus.Input)) *scene {
	s.world.Now = flux.At(time.Duration(s.minutes) * time.Minute)
	s.minutes++
	for _, change := range changes {
		change(&s.world)
	}
	s.world.RunningSource = s.world.Source
	s.world.Gateway.Status = gatewaystatus.Compute(s.world)
	return s
}

// look changes the world after the operator looked.
func (s *scene) look(change func(*gatewaystatus.Input)) *scene {
	change(&s.world)
	return s
}

// with changes what is known beside.
func (s *scene) with(changes ...func(*story.Input)) *scene {
	for _, change := range changes {
		change(&s.in)
	}
	return s
}

// input is the scene as it is told half a minute after the last step.
func (s *scene) input() story.Input {
	in := s.in
	in.Gateway, in.Release, in.Source = s.world.Gateway, s.world.Release, s.world.Source
	in.Now = metav1.NewTime(flux.At(time.Duration(s.minutes) * time.Minute).Add(-30 * time.Second))
	return in
}

// wants is a gateway of that chart version.
func wants(version string) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.Plan = planOf(version)
		in.Fault = nil
		in.Desired = fluxobjects.Make(in.Plan, fluxobjects.SharedSources).Release
		in.Gateway.Generation++
	}
}

func planOf(version string) *plan.Plan {
	return &plan.Plan{
		Gateway:   types.NamespacedName{Namespace: "apis", Name: "orders"},
		ClassName: "web",
		Source: plan.Source{Namespace: "apis", Spec: sourcev1.OCIRepositorySpec{
			URL: "oci://registry.example.com/charts/gateway", Reference: &sourcev1.OCIRepositoryRef{Tag: version},
		}},
		Release: plan.Release{Name: "orders", TargetNamespace: "apis", StorageNamespace: "apis",
			Interval: 5 * time.Minute, Timeout: 5 * time.Minute, Values: []byte(fmt.Sprintf(`{"for":%q}`, version))},
		Remediation: plan.Remediation{Strategy: v1alpha1.StrategyRollback, FailureThreshold: 2,
			Backoff: plan.Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}},
	}
}

func refused(reason, field, message string) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.Plan, in.Desired = nil, nil
		in.Fault = &plan.Error{Faults: []plan.Fault{{Reason: reason, Field: field, Message: message}}}
		in.Gateway.Generation++
	}
}

// source is the wanted one.
func source(made *sourcev1.OCIRepository) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.Source = made
		if made == nil {
			return
		}
		made.Namespace, made.Name = in.Desired.Spec.ChartRef.Namespace, in.Desired.Spec.ChartRef.Name
		made.Spec = in.Plan.Source.Spec
	}
}

// release is the desired HelmRelease, owned by the gateway, with what Flux makes of it.
func release(generation int64, parts ...flux.Part) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.Release = flux.Release(in.Desired, generation, parts...)
		in.Release.OwnerReferences = []metav1.OwnerReference{
			*metav1.NewControllerRef(in.Gateway, v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayKind)),
		}
	}
}

// What Flux says.
var (
	oldDeployed = flux.Parts(attemptedOld, flux.Observed(1),
		flux.Released("True", "UpgradeSucceeded", "Helm upgrade succeeded"), flux.Ready("True", "UpgradeSucceeded", "Helm upgrade succeeded"),
		flux.History(config("a", flux.OldSnapshot(5, "deployed", "upgrade"))))
	upgrading = flux.Parts(flux.Attempted(2), flux.Observed(1), flux.History(config("a", flux.OldSnapshot(5, "deployed", "upgrade"))),
		flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade))
	rolledBack = flux.Parts(flux.Attempted(2), flux.Observed(2), flux.Stalled("RetriesExceeded"),
		flux.Released("False", "UpgradeFailed", flux.UpgradeFailed), flux.Remediated(), flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded),
		flux.History(config("a", withoutDigest(flux.OldSnapshot(7, "deployed", "rollback"))), config("b", flux.Snapshot(6, "failed", "upgrade")),
			config("a", flux.OldSnapshot(5, "superseded", "upgrade"))))
	// notRendered is as helm-controller left it in a cluster: failures counts, upgradeFailures does not.
	notRendered = flux.Parts(flux.Attempted(2), flux.Observed(1), flux.Failures(3), flux.History(config("a", flux.OldSnapshot(5, "deployed", "upgrade"))),
		flux.Reconciling(flux.RunningUpgrade), flux.Released("False", "UpgradeFailed", flux.UpgradeFailed), flux.Ready("False", "UpgradeFailed", flux.UpgradeFailed))
	installFailed = flux.Parts(flux.Attempted(1), flux.Observed(1), flux.Stalled("RetriesExceeded"),
		flux.Released("False", "InstallFailed", flux.InstallFailed), flux.Ready("False", "InstallFailed", flux.InstallFailed),
		flux.History(config("b", flux.Snapshot(1, "uninstalled", "install"))))
)

func attemptedOld(hr *helmv2.HelmRelease) {
	hr.Status.LastAttemptedGeneration = hr.Generation
	hr.Status.LastAttemptedRevision, hr.Status.LastAttemptedRevisionDigest = flux.OldFluxVersion, flux.OldDigest
}

// withoutDigest: the snapshot of a rollback has none.
func withoutDigest(s *helmv2.Snapshot) *helmv2.Snapshot {
	s.OCIDigest = ""
	return s
}

func config(values string, s *helmv2.Snapshot) *helmv2.Snapshot {
	s.ConfigDigest = "sha256:" + values
	return s
}

// oldRuns is a gateway of chart 1.1.0 that is Ready.
func oldRuns() *scene {
	return newScene().then(wants("1.1.0"), source(flux.ReadySource(flux.OldChart)), release(1, oldDeployed))
}

// upgradeFails is that gateway after a failed upgrade to 1.2.0.
func upgradeFails() *scene {
	return oldRuns().then(wants("1.2.0"), source(flux.ReadySource()), release(2, upgrading)).then(release(2, rolledBack))
}

// objects of the release, as YAML documents after their kind, with the status that kstatus judges.
func objects(manifests ...string) func(*story.Input) {
	return func(in *story.Input) {
		for _, manifest := range manifests {
			o := &unstructured.Unstructured{}
			data, err := yaml.YAMLToJSON([]byte(manifest))
			if err == nil {
				err = o.UnmarshalJSON(data)
			}
			if err != nil {
				panic(err)
			}
			in.Objects = append(in.Objects, story.Live{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Object: o})
		}
	}
}

const (
	service         = "{apiVersion: v1, kind: Service, metadata: {name: orders, namespace: apis}, spec: {type: ClusterIP}}"
	readyDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: orders, namespace: apis, generation: 1}, spec: {replicas: 1},
  status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: "True"}]}}`
	waitingDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: orders, namespace: apis, generation: 1}, spec: {replicas: 2},
  status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 0, conditions: [{type: Available, status: "False"}]}}`
)

// pods in YAML.
func pods(manifests ...string) func(*story.Input) {
	return func(in *story.Input) {
		for _, manifest := range manifests {
			var pod corev1.Pod
			if err := yaml.Unmarshal([]byte(manifest), &pod); err != nil {
				panic(err)
			}
			pod.Namespace, pod.CreationTimestamp = "apis", flux.Noon
			in.Pods = append(in.Pods, pod)
		}
	}
}

const readyPod = `{metadata: {name: orders-1}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`

// unready is a pod whose container is in that state; more is what else its status says.
func unready(name, state, more string) string {
	return fmt.Sprintf(`{metadata: {name: %s}, status: {phase: Pending, conditions: [{type: Ready, status: "False"}],
  containerStatuses: [{name: web, state: {%s}%s}]}}`, name, state, more)
}

// event about an object, a minute before noon and as many seconds later.
func event(seconds int, kind, name, eventType, reason, message string) func(*story.Input) {
	return func(in *story.Input) {
		in.Events = append(in.Events, corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "apis", Name: fmt.Sprintf("event-%d", seconds)},
			InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name},
			Type:           eventType, Reason: reason, Message: message, Count: 2,
			LastTimestamp: flux.At(time.Duration(seconds-60) * time.Second),
		})
	}
}

func gap(what, why string) func(*story.Input) {
	return func(in *story.Input) { in.Gaps = append(in.Gaps, story.Gap{What: what, Why: why}) }
}

var lostSource = flux.Source(flux.OldChart,
	flux.SourceCondition(meta.ReadyCondition, "False", sourcev1.OCIPullFailedReason, "dial tcp: connection refused"))
