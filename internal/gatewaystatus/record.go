// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// record is what the gateway's status has on record of the release. Flux does not say what contents a revision was made of.
type record struct {
	// last is the content hash at the last success.
	last string
	// atLatest is the content hash at which the very revision that runs succeeded, empty when it is not known to have.
	atLatest string
	// latestAttempt is the last generation that the revision which runs can have been made of; 0 when that is not known.
	latestAttempt int64
	// failure is the last failed attempt.
	failure *v1alpha1.FailureStatus
}

// recordOf reads the record. A success of what the HelmRelease carries now, with its own source, counts at once, even when
// something else is desired, or the release was suspended, by now.
func recordOf(in Input) record {
	previous := in.Gateway.Status
	r := record{failure: previous.LastFailure}
	if previous.Release != nil {
		r.last = previous.Release.DesiredHash
	}
	if in.Release == nil {
		return r
	}
	running := fluxstatus.Observe(fluxstatus.Input{
		Desired:       in.Release,
		Release:       fluxstatus.AsAttempted(in.Release),
		Source:        in.RunningSource,
		KnownRevision: knownRevision(in, in.Release),
	})
	for _, entry := range previous.History {
		if sameRevision(entry, running.Latest) {
			r.atLatest, r.latestAttempt = entry.DesiredHash, entry.Attempt
		}
	}
	if attemptSucceeded(running, r) {
		r.last, r.atLatest = running.ContentHash, running.ContentHash
	}
	return r
}

// madeBefore: the revision that runs was there before the latest attempt, which therefore did not make it.
func (r record) madeBefore(o fluxstatus.Observation) bool {
	return r.latestAttempt > 0 && r.latestAttempt < o.AttemptedGeneration
}

// ranOn: an attempt at what is desired failed while this revision ran on, which therefore is not made of it.
func (r record) ranOn(o fluxstatus.Observation) bool {
	return r.failure != nil && r.failure.DesiredHash == o.DesiredHash && o.Latest != nil &&
		r.failure.Revision == int64(o.Latest.Version)
}

// sameRevision tells revisions apart by number and time, since a release that was installed anew starts at 1 again.
func sameRevision(entry v1alpha1.RevisionStatus, snapshot *helmv2.Snapshot) bool {
	return snapshot != nil && entry.Revision == int64(snapshot.Version) &&
		timePtr(snapshot.LastDeployed).Equal(entry.Deployed)
}
