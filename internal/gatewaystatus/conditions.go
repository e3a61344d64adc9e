// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// conditions in a fixed order; those that have nothing to say are absent.
func conditions(f facts, ready verdict, next *metav1.Time) []metav1.Condition {
	stalled := stalled(f, ready, next)
	return newSet(f.in).
		set(v1alpha1.ConditionAccepted, accepted(f)).
		set(v1alpha1.ConditionSourceReady, sourceReady(f)).
		set(v1alpha1.ConditionProgrammed, programmed(f, ready)).
		set(v1alpha1.ConditionReady, &ready).
		set(v1alpha1.ConditionReconciling, reconciling(f, ready, stalled, next)).
		set(v1alpha1.ConditionStalled, stalled).
		set(v1alpha1.ConditionRolledBack, rolledBackCondition(f)).
		mirror(mirrored(f)).
		conditions
}

// accepted stays as it was while a gateway is being deleted, since nothing is planned any more.
func accepted(f facts) *verdict {
	switch {
	case f.in.Fault != nil:
		return notAccepted(f)
	case f.in.Plan == nil:
		return previous(f.in, v1alpha1.ConditionAccepted)
	}
	return isTrue(v1alpha1.ReasonAccepted, "spec, class and config are valid")
}

func sourceReady(f facts) *verdict {
	s := f.o.Source
	switch {
	case f.in.Plan == nil && f.in.Source == nil:
		return isUnknown(v1alpha1.ReasonPending, "no source is wanted")
	case !s.Exists:
		return isUnknown(v1alpha1.ReasonPending, "OCIRepository %s does not exist yet", sourceOf(f.in.Desired))
	case s.Refreshes():
		return isTrue(v1alpha1.ReasonReady, "%s", s.Ready.Message)
	case s.Ready.Status == metav1.ConditionFalse:
		return isFalse(s.Ready.Reason, "%s", s.Ready.Message)
	}
	return isUnknown(v1alpha1.ReasonProgressing, "waiting for source-controller to pull the chart")
}

func programmed(f facts, ready verdict) *verdict {
	if f.in.Plan != nil && f.in.Wait == "" && f.in.WriteError == nil && desiredIsDeployed(f) {
		return isTrue(v1alpha1.ReasonDeployed, "%s", running(f))
	}
	return &ready
}

// stalled: nothing gets better without a change by people, or attempts are an hour apart by now.
func stalled(f facts, ready verdict, next *metav1.Time) *verdict {
	switch {
	case ready.status == metav1.ConditionTrue || f.in.Gateway.DeletionTimestamp != nil:
		return nil
	case f.in.Fault != nil:
		return isTrue(ready.reason, "%s", ready.message)
	case f.in.Plan != nil && f.rounds.Last != nil && f.rounds.Failures >= int64(f.in.Plan.Remediation.FailureThreshold):
		return isTrue(v1alpha1.ReasonRetriesExceeded, "%s", stalledMessage(f, next))
	case ready.reason == v1alpha1.ReasonChartDigestIgnored, stalledBeforeAttempt(f):
		return isTrue(ready.reason, "%s", ready.message)
	}
	return nil
}

// stalledBeforeAttempt: Flux gave up for a reason that no attempt changes, such as a reference that it may not follow.
func stalledBeforeAttempt(f facts) bool {
	r := f.o.Ready
	return f.o.Stalled && f.o.Carries && r.Current && r.Status == metav1.ConditionFalse &&
		!fluxstatus.IsReleaseFailure(r.Reason) && !interrupted(f)
}

func reconciling(f facts, ready verdict, stalled *verdict, next *metav1.Time) *verdict {
	switch {
	case stalled != nil || ready.reason == v1alpha1.ReasonSuspended || f.in.Gateway.DeletionTimestamp != nil:
		return nil
	case ready.status == metav1.ConditionUnknown || waitsForDependency(f, ready):
		return isTrue(v1alpha1.ReasonProgressing, "%s", ready.message)
	case ready.status == metav1.ConditionFalse:
		return isTrue(meta.ProgressingWithRetryReason, "%s", retryMessage(f, next))
	}
	return prerequisiteFails(f)
}

// prerequisiteFails: what runs is what is wanted, but Flux could not look after it now.
func prerequisiteFails(f facts) *verdict {
	r := f.o.Ready
	if f.o.Suspended || r.Status != metav1.ConditionFalse || !r.Current {
		return nil
	}
	return isTrue(r.Reason, "the desired state is deployed, but Flux cannot look after it: %s", r.Message)
}

// rolledBackCondition stays while the next attempt at the same desired state runs: an earlier revision runs until it ends.
func rolledBackCondition(f facts) *verdict {
	if f.in.Gateway.DeletionTimestamp != nil || desiredIsDeployed(f) {
		return nil
	}
	if isRolledBack(f) {
		return isTrue(v1alpha1.ReasonRolledBack, "%s", rollbackMessage(f))
	}
	if f.rounds.Failures > 0 {
		return previous(f.in, v1alpha1.ConditionRolledBack)
	}
	return nil
}

// mirrored are the conditions that are passed on. How a test ended is told only of what is desired: Flux goes on telling of the
// last release's until the next one begins.
func mirrored(f facts) []metav1.Condition {
	var told []metav1.Condition
	for _, c := range f.o.Mirrored {
		ofThisAttempt := f.o.Carries && f.o.Attempted && c.ObservedGeneration == f.in.Release.Generation
		if c.Type != v1alpha1.ConditionTestSuccess || ofThisAttempt || desiredIsDeployed(f) {
			told = append(told, c)
		}
	}
	return told
}

func previous(in Input, kind string) *verdict {
	c := apimeta.FindStatusCondition(in.Gateway.Status.Conditions, kind)
	if c == nil {
		return nil
	}
	return &verdict{c.Status, c.Reason, c.Message}
}

// conditionSet collects conditions; a transition time stays while the status does.
type conditionSet struct {
	in         Input
	conditions []metav1.Condition
}

func newSet(in Input) *conditionSet { return &conditionSet{in: in} }

func (s *conditionSet) set(kind string, v *verdict) *conditionSet {
	if v == nil {
		return s
	}
	c := metav1.Condition{
		Type:               kind,
		Status:             v.status,
		Reason:             v.reason,
		Message:            cut(oneLine(v.message)),
		ObservedGeneration: s.in.Gateway.Generation,
		LastTransitionTime: s.in.Now,
	}
	if before := apimeta.FindStatusCondition(s.in.Gateway.Status.Conditions, kind); before != nil && before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	s.conditions = append(s.conditions, c)
	return s
}

func (s *conditionSet) mirror(conditions []metav1.Condition) *conditionSet {
	for _, c := range conditions {
		s.set(c.Type, &verdict{c.Status, c.Reason, c.Message})
	}
	return s
}

// phase is one word for people.
func phase(f facts, ready verdict) v1alpha1.Phase {
	switch {
	case f.in.Gateway.DeletionTimestamp != nil:
		return v1alpha1.PhaseDeleting
	case ready.status == metav1.ConditionTrue:
		return v1alpha1.PhaseReady
	case ready.reason == v1alpha1.ReasonSuspended:
		return v1alpha1.PhaseSuspended
	case waitsForDependency(f, ready) && f.o.Latest == nil:
		return v1alpha1.PhasePending
	case waitsForDependency(f, ready):
		return v1alpha1.PhaseProgressing
	case ready.status == metav1.ConditionFalse && onceSucceeded(f):
		return v1alpha1.PhaseDegraded
	case ready.status == metav1.ConditionFalse:
		return v1alpha1.PhaseFailed
	case !f.o.Exists, f.o.Latest == nil && f.o.Source.Digest == "":
		return v1alpha1.PhasePending
	}
	return v1alpha1.PhaseProgressing
}

// waitsForDependency: Flux says False though nothing failed.
func waitsForDependency(f facts, ready verdict) bool {
	return ready.reason == helmv2.DependencyNotReadyReason && f.rounds.Failures == 0
}

// onceSucceeded: a release that once succeeded is still there. Under Retry Flux's history forgets it after five failures, so
// that the record of a success counts too, unless the release was installed anew since.
func onceSucceeded(f facts) bool {
	upgraded := f.o.Latest != nil && f.o.Latest.Action == helmv2.ReleaseActionUpgrade && !f.o.Uninstalled()
	return f.o.OnceSucceeded() || upgraded && f.known.last != ""
}

func sourceStatus(in Input, o fluxstatus.Observation) *v1alpha1.SourceStatus {
	if in.Desired == nil || in.Desired.Spec.ChartRef == nil {
		return in.Gateway.Status.Source
	}
	ref := in.Desired.Spec.ChartRef
	return &v1alpha1.SourceStatus{Name: ref.Name, Namespace: ref.Namespace, Revision: o.Source.Revision}
}
