// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package fluxstatus is the fourth stage of the flow: it reads what Flux reports of one gateway's OCIRepository and
// HelmRelease into an Observation, in which every statement has been checked against the generation, the digest and the
// attempt that it speaks of. It is pure and judges nothing; internal/gatewaystatus does.
package fluxstatus

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

// Input is what there is to observe.
type Input struct {
	// Desired is the HelmRelease that the plan wants, pointing at the wanted source; nil without a plan.
	Desired *helmv2.HelmRelease
	// Release is the HelmRelease as the API server has it; nil when there is none.
	Release *helmv2.HelmRelease
	// Source is the wanted OCIRepository as the API server has it; nil when there is none.
	Source *sourcev1.OCIRepository
	// KnownRevision is the revision that the wanted source was last seen to have, empty when it never had one. It stands in
	// while the source has no artifact: source-controller loses all of them when its pod restarts on an emptyDir.
	KnownRevision string
}

// Observation is what Flux reports, checked.
type Observation struct {
	Source Source
	// Exists: there is a HelmRelease.
	Exists bool
	// Deleting: it is being deleted, so that what runs is about to go.
	Deleting bool
	// Carries: its spec is the desired one, suspend aside, and it is there to stay.
	Carries bool
	// Suspended: Flux does not reconcile it.
	Suspended bool
	// Activity is what helm-controller is at; empty without a HelmRelease.
	Activity Activity
	// Stalled: Flux says that nothing more will happen without a change or a request.
	Stalled bool
	// AttemptedChart: Flux's latest attempt was with the wanted chart digest.
	AttemptedChart bool
	// Attempted: so it was, and at this generation.
	Attempted bool
	// AttemptedGeneration is that of the latest attempt.
	AttemptedGeneration int64
	// Observed: Flux has finished with this generation (status.observedGeneration).
	Observed bool
	// Unfinished: the latest attempt began and has not ended, perhaps since helm-controller was killed.
	Unfinished bool
	// Attempt identifies the latest attempt: generation, digest and force request.
	Attempt string
	// Ready is the HelmRelease's Ready condition, Unknown when there is none.
	Ready Statement
	// Reconciling is the message of the HelmRelease's Reconciling condition, empty when that is not True.
	Reconciling string
	// Failure of the latest attempt, if that is the one at the desired state; nil if it did not fail.
	Failure *Failure
	// RolledBack: the latest attempt, at the desired state, was rolled back.
	RolledBack bool
	// UninstallSucceeded: the latest remediation took the release away.
	UninstallSucceeded bool
	// Latest is the snapshot with the highest version; nil when there is none.
	Latest *helmv2.Snapshot
	// History holds all snapshots, highest version first.
	History []*helmv2.Snapshot
	// AttemptedVersion is the chart version of the latest attempt, as its author wrote it.
	AttemptedVersion string
	// FluxFailures is the number of failures that Flux counts since the last change.
	FluxFailures int64
	// DesiredHash and ContentHash of the desired state; empty while the chart's digest is unknown.
	DesiredHash string
	ContentHash string
	// Mirrored are the conditions that are passed on as they are: Drifted and TestSuccess.
	Mirrored []metav1.Condition
	// Annotations of the HelmRelease, and what of them Flux has handled.
	RequestedAt, HandledRequestAt string
	ForceAt, HandledForceAt       string
}

// Statement is a condition and whether it speaks of the present generation.
type Statement struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
	Current bool
}

// Observe reads what Flux reports.
func Observe(in Input) Observation {
	o := Observation{Source: observeSource(in.Source, in.KnownRevision), Ready: Statement{Status: metav1.ConditionUnknown}}
	if in.Desired != nil {
		o.DesiredHash = fluxobjects.DesiredHash(in.Desired.Spec, o.Source.Digest)
		o.ContentHash = fluxobjects.ContentHash(in.Desired.Spec, o.Source.Digest)
	}
	if in.Release != nil {
		o.observeRelease(in.Release, in.Desired)
	}
	return o
}
