// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"math/rand/v2"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
)

// contents are what a release is made of.
type contents struct{ digest, values, patches string }

// mixture is what runs while an action goes on that changes it, and after one that failed.
var mixture = contents{digest: "a mixture"}

// helmController is a model of helm-controller v1.6.4: what it writes, in which order, and what becomes of the cluster. Its
// decisions are those of AtomicRelease.actionForState and DetermineReleaseState.
type helmController struct {
	r *rand.Rand
	// hr is the HelmRelease as the API server has it, sources the OCIRepositories by name.
	hr      *helmv2.HelmRelease
	sources map[string]*sourcev1.OCIRepository
	// helm is Helm's storage, oldest first; runs is what is in the cluster.
	helm []*helmRevision
	runs contents
	now  metav1.Time
	// calm: nothing goes wrong any more.
	calm bool
	// awake: it looks at the HelmRelease again by itself. working: it is at that. interrupted: it was killed since it was last
	// done.
	awake, working, interrupted bool
	// between is called after each write to the API server, and while an action runs.
	between func()
	// patched is the HelmRelease as it was patched last.
	patched *helmv2.HelmRelease
}

// killed is what between panics with when helm-controller dies.
type killed struct{}

// reconcile is one look at the HelmRelease.
func (m *helmController) reconcile() {
	m.working = true
	defer func() {
		m.working = false
		p := recover()
		if p != nil && p != (killed{}) {
			panic(p)
		}
		m.interrupted = p != nil
	}()
	m.awake = true
	obj := m.hr.DeepCopy()
	m.patched = obj.DeepCopy()
	if obj.Spec.Suspend {
		m.awake = false
		m.finish(obj, true)
		return
	}
	m.remove(obj, meta.StalledCondition)
	m.set(obj, meta.ReconcilingCondition, metav1.ConditionTrue, meta.ProgressingReason, flux.Prerequisites)
	m.patch(obj, false)
	if reason := m.blocked(obj); reason != "" {
		m.set(obj, meta.ReadyCondition, metav1.ConditionFalse, reason, "why")
		m.finish(obj, false)
		return
	}
	if ready := apimeta.FindStatusCondition(obj.Status.Conditions, meta.ReadyCondition); ready != nil && ready.Message == "why" {
		m.set(obj, meta.ReadyCondition, metav1.ConditionUnknown, meta.ProgressingReason, "reconciliation in progress")
	}
	want := contentsOf(obj.Spec, m.digest(obj))
	m.begin(obj, want)
	m.atomicRelease(obj, want)
}

func (m *helmController) blocked(obj *helmv2.HelmRelease) string {
	switch {
	case m.digest(obj) == "":
		return "SourceNotReady"
	case m.chance(12):
		return helmv2.DependencyNotReadyReason
	}
	return ""
}

func (m *helmController) digest(obj *helmv2.HelmRelease) string {
	source := m.sources[obj.Spec.ChartRef.Name]
	if source == nil || source.Status.Artifact == nil {
		return ""
	}
	return source.Status.Artifact.Revision
}

// begin notes the attempt; another generation or chart clears the failures.
func (m *helmController) begin(obj *helmv2.HelmRelease, want contents) {
	s := &obj.Status
	if s.LastAttemptedGeneration != obj.Generation || s.LastAttemptedRevisionDigest != want.digest {
		s.ClearFailures()
	}
	s.LastAttemptedGeneration, s.LastAttemptedRevisionDigest = obj.Generation, want.digest
}

// patch writes as Flux's patch helper does: first the conditions that changed, which get the generation that the API server
// has by then, then the rest of the status. observedGeneration is the one that was looked at.
func (m *helmController) patch(obj *helmv2.HelmRelease, done bool) {
	for _, c := range obj.Status.Conditions {
		before := apimeta.FindStatusCondition(m.patched.Status.Conditions, c.Type)
		if before == nil || *before != c {
			c.ObservedGeneration = m.hr.Generation
			apimeta.RemoveStatusCondition(&m.hr.Status.Conditions, c.Type)
			m.hr.Status.Conditions = append(m.hr.Status.Conditions, c)
		}
	}
	for _, c := range m.patched.Status.Conditions {
		if apimeta.FindStatusCondition(obj.Status.Conditions, c.Type) == nil {
			apimeta.RemoveStatusCondition(&m.hr.Status.Conditions, c.Type)
		}
	}
	m.between()
	if done {
		obj.Status.ObservedGeneration = obj.Generation
	}
	rest := obj.Status.DeepCopy()
	rest.Conditions = m.hr.Status.Conditions
	m.hr.Status = *rest
	m.patched = obj.DeepCopy()
	m.between()
}

// finish is the patch at the end of every look.
func (m *helmController) finish(obj *helmv2.HelmRelease, done bool) {
	if requested := obj.Annotations[meta.ReconcileRequestAnnotation]; requested != "" {
		obj.Status.LastHandledReconcileAt = requested
	}
	m.patch(obj, done)
}

func (m *helmController) set(obj *helmv2.HelmRelease, kind string, status metav1.ConditionStatus, reason, message string) {
	c := metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: obj.Generation, LastTransitionTime: m.tick(),
	}
	before := apimeta.FindStatusCondition(obj.Status.Conditions, kind)
	if before != nil && before.Status == status && before.Reason == reason && before.Message == message {
		c.LastTransitionTime = before.LastTransitionTime
	}
	apimeta.RemoveStatusCondition(&obj.Status.Conditions, kind)
	obj.Status.Conditions = append(obj.Status.Conditions, c)
}

func (m *helmController) remove(obj *helmv2.HelmRelease, kind string) {
	apimeta.RemoveStatusCondition(&obj.Status.Conditions, kind)
}

// summarize makes Ready of Remediated, if that is as new, or else of Released.
func (m *helmController) summarize(obj *helmv2.HelmRelease) {
	released := apimeta.FindStatusCondition(obj.Status.Conditions, helmv2.ReleasedCondition)
	remediated := apimeta.FindStatusCondition(obj.Status.Conditions, helmv2.RemediatedCondition)
	switch {
	case remediated != nil && (released == nil || remediated.ObservedGeneration >= released.ObservedGeneration):
		m.set(obj, meta.ReadyCondition, metav1.ConditionFalse, remediated.Reason, remediated.Message)
	case released != nil:
		if released.Status == metav1.ConditionTrue {
			m.remove(obj, meta.StalledCondition)
		}
		m.set(obj, meta.ReadyCondition, released.Status, released.Reason, released.Message)
	}
	obj.Status.ObservedPostRenderersDigest = patchesOf(obj.Spec)
}

// tick is a second later each time.
func (m *helmController) tick() metav1.Time {
	m.now = metav1.NewTime(m.now.Add(time.Second))
	return m.now
}

// chance is true once in n times, and never when all is calm.
func (m *helmController) chance(n int) bool { return !m.calm && m.r.IntN(n) == 0 }

// contentsOf is what a spec and a chart make.
func contentsOf(spec helmv2.HelmReleaseSpec, digest string) contents {
	c := contents{digest: digest, patches: patchesOf(spec)}
	if spec.Values != nil {
		c.values = string(spec.Values.Raw)
	}
	return c
}

func patchesOf(spec helmv2.HelmReleaseSpec) string {
	if len(spec.PostRenderers) == 0 {
		return ""
	}
	return spec.PostRenderers[0].Kustomize.Patches[0].Patch
}
