// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"slices"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// Input is what a request is decided from.
type Input struct {
	// Annotations of the gateway: people's requests.
	Annotations map[string]string
	// Status of the gateway as just computed.
	Status v1alpha1.APIGatewayStatus
	// Observation that it was computed from.
	Observation fluxstatus.Observation
	// Disturbed: somebody deleted or changed an object of the release, and Flux, once it looks, puts that right.
	Disturbed bool
	// Corrected is when Flux was last asked for such a correction; zero when it never was.
	Corrected time.Time
	// Now is the time.
	Now metav1.Time
}

// Request is what to ask of Flux.
type Request struct {
	// Annotations to set on the HelmRelease; empty when there is nothing to ask.
	Annotations map[string]string
	// Handled is the value of the gateway's requestedAt that these annotations hand on; empty when none.
	Handled string
	// Corrects: this asks for a correction of what was disturbed.
	Corrects bool
	// After is when to look again; zero when nothing is scheduled.
	After time.Duration
}

// correctionInterval is the least time between two corrections of one gateway: where somebody else insists on a change, the
// two sides take turns at this pace.
const correctionInterval = 10 * time.Second

// NextRequest decides what to ask of Flux now. It asks only when no Helm action runs, since a request in mid-upgrade can
// cancel a good upgrade, and never again before Flux has handled the last request. What people ask goes first, then attempts
// after a failure, then corrections. Nothing is asked of a suspended HelmRelease: Flux would take the request for handled
// and do nothing.
func NextRequest(in Input) Request {
	o := in.Observation
	if !o.Settled() || o.Suspended || pending(o) {
		return Request{}
	}
	if wanted := in.Annotations[meta.ReconcileRequestAnnotation]; wanted != "" && wanted != in.Status.LastHandledReconcileAt {
		return handOn(in.Annotations, wanted)
	}
	if request := attempt(in); len(request.Annotations) > 0 || request.After > 0 {
		return request
	}
	return correction(in)
}

// attempt starts the next attempt at what is desired.
func attempt(in Input) Request {
	o := in.Observation
	if !o.Carries || !o.Resting() {
		return Request{}
	}
	if o.Failure != nil && o.Failure.Canceled || unproven(in) {
		return force(in.Now)
	}
	return scheduled(in)
}

// pending: Flux has not handled the last request, and may act on it any moment.
func pending(o fluxstatus.Observation) bool {
	return o.RequestedAt != "" && o.RequestedAt != o.HandledRequestAt
}

// handOn passes a person's request on. Flux heeds forceAt and resetAt only where they equal requestedAt.
func handOn(annotations map[string]string, wanted string) Request {
	out := map[string]string{meta.ReconcileRequestAnnotation: wanted}
	for _, key := range []string{meta.ForceRequestAnnotation, helmv2.ResetRequestAnnotation} {
		if annotations[key] == wanted {
			out[key] = wanted
		}
	}
	return Request{Annotations: out, Handled: wanted}
}

// correction has Flux look at what was disturbed. It does so only while the HelmRelease is Ready, whatever contents it
// carries: after a failure Flux corrects nothing.
func correction(in Input) Request {
	ready := in.Observation.Ready
	if !in.Disturbed || ready.Status != metav1.ConditionTrue || !ready.Current {
		return Request{}
	}
	if wait := in.Corrected.Add(correctionInterval).Sub(in.Now.Time); wait > 0 {
		return Request{After: wait}
	}
	return Request{Annotations: map[string]string{meta.ReconcileRequestAnnotation: tokenAt(in.Now)}, Corrects: true}
}

func tokenAt(now metav1.Time) string { return now.UTC().Format(time.RFC3339Nano) }

// force starts one more attempt. resetAt would not: it does nothing after a change of patches alone.
func force(now metav1.Time) Request {
	token := tokenAt(now)
	return Request{Annotations: map[string]string{
		meta.ReconcileRequestAnnotation: token,
		meta.ForceRequestAnnotation:     token,
	}}
}

// unproven: Flux rests and speaks of success, but the status does not have it on record that the revision which runs has the
// desired contents: it came from a rollback and no success is known (a restored status), or it was made of other contents
// and Flux took a failed change of patches for done. One forced upgrade settles it; if that fails, rounds go on as scheduled.
func unproven(in Input) bool {
	o := in.Observation
	if !o.Attempted || o.Ready.Status != metav1.ConditionTrue || o.DigestIgnored() || in.Status.Failures > 0 {
		return false
	}
	return !slices.ContainsFunc(in.Status.History, func(entry v1alpha1.RevisionStatus) bool {
		return o.Latest != nil && entry.Revision == int64(o.Latest.Version) && entry.DesiredHash == o.ContentHash
	})
}

// scheduled starts the next round when it is due.
func scheduled(in Input) Request {
	next := in.Status.NextRetryTime
	if next == nil {
		return Request{}
	}
	if remaining := next.Sub(in.Now.Time); remaining > 0 {
		return Request{After: remaining}
	}
	return force(in.Now)
}
