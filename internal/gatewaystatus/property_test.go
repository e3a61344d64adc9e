// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"maps"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

// livesEnv says how many of them; more find rarer coincidences.
const livesEnv = "SLUICE_LIVES"

func lives(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv(livesEnv)
	if text == "" {
		return 60
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", livesEnv, err)
	}
	return n
}

// TestLives: in many random lives Ready is True only while the desired chart, values and patches are what runs, however
// failures, rollbacks, crashes, suspensions and changes fall together; and once nothing goes wrong any more, it becomes True.
func TestLives(t *testing.T) {
	for seed := range lives(t) {
		l := newLife(t, seed)
		for range 60 {
			l.event()
		}
		l.calmDown()
	}
}

// event is one thing that happens while Flux is not at work.
func (l *life) event() {
	switch l.r.IntN(5) {
	case 0, 1:
		l.look()
	case 2:
		l.observe()
	case 3:
		l.operate()
	case 4:
		l.meanwhile()
	}
}

// look is one of helm-controller's. Between two attempts that it makes by itself it waits long enough for the operator to see
// what became of the first.
func (l *life) look() {
	if l.flux.hr == nil {
		return
	}
	if gatewaystatus.Observe(l.input()).Activity == fluxstatus.Waiting {
		l.observe()
	}
	l.note("helm-controller looks")
	l.flux.reconcile()
}

// meanwhile is what may happen at any moment, also while Flux is at work.
func (l *life) meanwhile() {
	if l.flux.calm {
		l.observe()
		return
	}
	switch l.r.IntN(30) {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
		l.observe()
	case 10, 11, 12:
		l.operate()
	case 13:
		l.change()
		l.operate()
	case 14:
		l.suspend(l.r.IntN(3) == 0)
	case 15:
		l.moveSources()
	case 16:
		l.forget()
	case 18:
		l.insists = !l.insists
		l.suspend(l.insists)
	case 17:
		l.gateway.Annotations = map[string]string{meta.ReconcileRequestAnnotation: l.flux.tick().String()}
	}
	if l.flux.working && l.r.IntN(40) == 0 {
		l.note("helm-controller is killed")
		panic(killed{})
	}
}

func (l *life) forget() {
	if l.forgetful {
		l.note("the gateway's status is lost")
		l.gateway.Status = v1alpha1.APIGatewayStatus{}
	}
}

// observe computes and stores the status, and checks what it says.
func (l *life) observe() {
	in := l.input()
	status := gatewaystatus.Compute(in)
	l.note("%s", summary(status))
	l.check(status)
	if l.r.IntN(8) == 0 {
		compute(l.t, "a life", in)
	}
	l.gateway.Status = status
}

func (l *life) check(status v1alpha1.APIGatewayStatus) {
	checkPairs(l.t, l.story(), status)
	ready := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason == v1alpha1.ReasonChartDigestIgnored && !l.flux.interrupted {
		l.t.Fatalf("%s\nthis helm-controller does not ignore digests", l.story())
	}
	if l.r.IntN(8) == 0 {
		checkKstatus(l.t, l.story(), *l.gateway, status)
	}
	want, runs := contentsOf(l.desired.Release.Spec, l.seen[l.desired.Source.Name]), l.flux.runs
	if l.forgetful {
		want.patches, runs.patches = "", ""
	}
	last := l.flux.lastRevision()
	deployed := last != nil && last.status == "deployed" && runs == want
	if ready.Status == metav1.ConditionTrue && !deployed {
		l.t.Fatalf("%s\nReady is True, but %+v runs (last revision %+v), and %+v is desired", l.story(), runs, last, want)
	}
}

// operate does what the operator does: it writes the HelmRelease when that can switch, reports, and asks.
func (l *life) operate() {
	l.makeSource()
	l.write()
	l.observe()
	in := l.input()
	request := recovery.NextRequest(recovery.Input{
		Annotations: l.gateway.Annotations,
		Status:      l.gateway.Status,
		Observation: gatewaystatus.Observe(in),
		Now:         in.Now,
	})
	if len(request.Annotations) == 0 || l.flux.hr == nil {
		return
	}
	l.note("the operator asks: %v", request)
	if l.flux.hr.Annotations == nil {
		l.flux.hr.Annotations = map[string]string{}
	}
	maps.Copy(l.flux.hr.Annotations, request.Annotations)
	if request.Handled != "" {
		l.gateway.Status.LastHandledReconcileAt = request.Handled
	}
}

func (l *life) write() {
	hr, desired := l.flux.hr, l.desired.Release
	switch {
	case hr == nil:
		l.flux.hr = desired.DeepCopy()
		l.flux.hr.Generation = 1
		l.flux.hr.Status.ObservedGeneration = -1
		l.note("the HelmRelease is made")
	case sameButSuspend(hr.Spec, desired.Spec):
		l.insist()
	case hr.Spec.ChartRef.Name == desired.Spec.ChartRef.Name, gatewaystatus.Observe(l.input()).Source.Usable:
		l.recordSuccess()
		suspended := hr.Spec.Suspend
		desired.Spec.DeepCopyInto(&hr.Spec)
		hr.Spec.Suspend = suspended
		hr.Generation++
		l.note("the HelmRelease is written, generation %d", hr.Generation)
	}
}

func sameButSuspend(have, want helmv2.HelmReleaseSpec) bool {
	have.Suspend, want.Suspend = false, false
	return fluxobjects.SpecEqual(have, want)
}

// recordSuccess writes down what succeeded before it is overwritten.
func (l *life) recordSuccess() {
	status := gatewaystatus.Compute(l.input())
	if !reflect.DeepEqual(status.Release, l.gateway.Status.Release) || !reflect.DeepEqual(status.History, l.gateway.Status.History) {
		l.gateway.Status = status
	}
}

// calmDown: people leave it alone, and nothing fails. Flux looks only when something wakes it up.
func (l *life) calmDown() {
	l.note("all is calm")
	l.flux.calm, l.insists = true, false
	l.suspend(false)
	for range 40 {
		l.restoreSources()
		l.operate()
		if l.flux.awake || l.wakesUp() {
			l.look()
		}
		l.flux.now = metav1.NewTime(l.flux.now.Add(2 * time.Hour))
	}
	l.observe()
	if !apimeta.IsStatusConditionTrue(l.gateway.Status.Conditions, v1alpha1.ConditionReady) {
		l.t.Fatalf("%s\nReady does not become True", l.story())
	}
}

func (l *life) story() string { return strings.Join(l.log, "\n") }
