// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
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
	// Now is the time.
	Now metav1.Time
}

// Request is what to ask of Flux.
type Request struct {
	// Annotations to set on the HelmRelease; empty when there is nothing to ask.
	Annotations map[string]string
	// Handled is the value of the gateway's requestedAt that these annotations hand on; empty when none.
	Handled string
	// After is when to look again; zero when nothing is scheduled.
	After time.Duration
}

// NextRequest decides what to ask of Flux now. It asks only when no Helm action runs, since a request in mid-upgrade can
// cancel a good upgrade, and never again before Flux has handled the last request. What people ask goes first. Nothing is
// asked of a suspended HelmRelease: Flux would take the request for handled and do nothing.
func NextRequest(in Input) Request {
	o := in.Observation
	if !o.Settled() || o.Suspended || pending(o) {
		return Request{}
	}
	if wanted := in.Annotations[meta.ReconcileRequestAnnotation]; wanted != "" && wanted != in.Status.LastHandledReconcileAt {
		return handOn(in.Annotations, wanted)
	}
	if !o.Carries || !o.Resting() {
		return Request{}
	}
	if o.Failure != nil && o.Failure.Canceled || rollbackUnknown(in) {
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

// force starts one more attempt. resetAt would not: it does nothing after a change of patches alone.
func force(now metav1.Time) Request {
	token := now.UTC().Format(time.RFC3339Nano)
	return Request{Annotations: map[string]string{
		meta.ReconcileRequestAnnotation: token,
		meta.ForceRequestAnnotation:     token,
	}}
}

// rollbackUnknown: Flux speaks of success, but the release came from a rollback and no success is on record (a restored
// status), so that nobody knows what runs. One forced upgrade settles it; if that fails, the rounds go on as scheduled.
func rollbackUnknown(in Input) bool {
	o := in.Observation
	recorded := in.Status.Release != nil && in.Status.Release.DesiredHash != ""
	return o.Attempted && o.Ready.Status == metav1.ConditionTrue && o.FromRollback() && !recorded && in.Status.Failures == 0
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
