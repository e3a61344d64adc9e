// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package gatewaystatus is the last stage of the flow: it derives the whole status of an APIGateway from its plan (or why
// there is none) and from what Flux reports. It is pure: time is an argument. The rule of Ready stands in one place, ready.go.
package gatewaystatus

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

// Input is what a status is derived from. Nothing in it is changed.
type Input struct {
	// Gateway with its previous status.
	Gateway *v1alpha1.APIGateway
	// Plan of the gateway; nil when it is not accepted.
	Plan *plan.Plan
	// Fault is why the gateway is not accepted; nil when it is.
	Fault *plan.Error
	// Desired is the HelmRelease that the plan wants, pointing at the wanted source; nil without a plan.
	Desired *helmv2.HelmRelease
	// Release is the gateway's HelmRelease as the API server has it; nil when there is none, or a foreign one.
	Release *helmv2.HelmRelease
	// Source is the wanted OCIRepository as the API server has it; nil when there is none. Without a plan it is the one
	// that the HelmRelease refers to.
	Source *sourcev1.OCIRepository
	// RunningSource is the OCIRepository that the HelmRelease refers to, which may be another; nil when there is none.
	RunningSource *sourcev1.OCIRepository
	// WriteError is the API server's answer to the last write of an object, if it refused.
	WriteError error
	// Wait says what an accepted gateway waits for before anything is written; empty when it waits for nothing.
	Wait string
	// Hold says why a deleted gateway waits, and what to do about it; empty when nothing holds it up.
	Hold string
	// Now is the time of the transition, if there is one.
	Now metav1.Time
}

// Compute derives the status. Called again with its own result and nothing new, it gives the same.
func Compute(in Input) v1alpha1.APIGatewayStatus {
	f := gather(in)
	status := v1alpha1.APIGatewayStatus{
		ObservedGeneration:     in.Gateway.Generation,
		LastHandledReconcileAt: in.Gateway.Status.LastHandledReconcileAt,
		ClassName:              className(in),
		Source:                 sourceStatus(in, f.o),
		Failures:               f.rounds.Failures,
		LastFailure:            f.rounds.Last,
		NextRetryTime:          nextRetry(f),
	}
	status.Release, status.History = releaseStatus(in, f)
	verdict := ready(f)
	status.Phase = phase(f, verdict)
	status.Conditions = conditions(f, verdict, status.NextRetryTime)
	return status
}

// Observe is the observation that Compute judges.
func Observe(in Input) fluxstatus.Observation {
	return fluxstatus.Observe(fluxstatus.Input{
		Desired:       in.Desired,
		Release:       in.Release,
		Source:        in.Source,
		KnownRevision: knownRevision(in, in.Desired),
	})
}

// knownRevision is the revision on record for the source that the HelmRelease refers to. A source's name is a hash of its
// spec, so that one of the same name is the same source, also after it was deleted and made again.
func knownRevision(in Input, hr *helmv2.HelmRelease) string {
	known := in.Gateway.Status.Source
	if known == nil || sourceOf(hr) != known.Namespace+"/"+known.Name {
		return ""
	}
	return known.Revision
}

// sourceOf is the OCIRepository that the HelmRelease refers to, as <namespace>/<name>; empty when there is none.
func sourceOf(hr *helmv2.HelmRelease) string {
	if hr == nil || hr.Spec.ChartRef == nil {
		return ""
	}
	return hr.Spec.ChartRef.Namespace + "/" + hr.Spec.ChartRef.Name
}

func gather(in Input) facts {
	f := facts{in: in, o: Observe(in)}
	f.known = recordOf(in)
	f.rounds = rounds(f)
	return f
}

// rounds are cleared by success. Of a gateway that is not accepted they stay as they are. A rollback that only the record of
// the last success gives away is a failure too.
func rounds(f facts) recovery.Rounds {
	previous := f.in.Gateway.Status
	switch {
	case f.in.Plan == nil:
		return recovery.Rounds{Failures: previous.Failures, Last: previous.LastFailure}
	case desiredIsDeployed(f):
		return recovery.Rounds{}
	}
	o := f.o
	if o.Failure == nil && isRolledBack(f) && f.known.last != "" {
		o.Failure = hiddenFailure(previous.LastFailure)
	}
	return recovery.Count(previous, o, f.in.Plan.Remediation.Strategy, f.in.Now)
}

// hiddenFailure stands in for a failure that Flux does not report any more, since it takes what it rolled back to for what
// is desired. What is known of it stays.
func hiddenFailure(last *v1alpha1.FailureStatus) *fluxstatus.Failure {
	if last == nil {
		return &fluxstatus.Failure{Reason: helmv2.UpgradeFailedReason, Message: unknownCause}
	}
	return &fluxstatus.Failure{Reason: last.Reason, Message: last.Message}
}

// nextRetry is shown while it is to come.
func nextRetry(f facts) *metav1.Time {
	if f.in.Plan == nil || f.in.Gateway.DeletionTimestamp != nil || !f.o.Carries || f.o.Suspended || !f.o.Resting() {
		return nil
	}
	return recovery.NextRetry(f.rounds, f.in.Plan.Remediation)
}

// className stays what it was while a gateway with a release has no plan, so that a class that comes back is found again. Of a
// gateway that has none it is the class that it was judged by, or else the one that it names.
func className(in Input) string {
	known, named := in.Gateway.Status.ClassName, in.Gateway.Spec.ClassName
	switch {
	case in.Plan != nil:
		return in.Plan.ClassName
	case in.Fault != nil && in.Fault.ClassName != "" && in.Gateway.Status.Release == nil:
		return in.Fault.ClassName
	case known == "" && named != nil:
		return *named
	}
	return known
}
