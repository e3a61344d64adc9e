// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// Wish is what somebody asked of a gateway and waits for.
type Wish struct {
	// Request is the value of the annotation reconcile.fluxcd.io/requestedAt that was set; empty when none was.
	Request string
	// Suspend is how the HelmRelease is to be.
	Suspend bool
}

// Outcome of a wish so far.
type Outcome struct {
	// Done: it came true.
	Done bool
	// Failed: it did not, and nothing goes on that would change that soon.
	Failed bool
	// Message says how things stand, in one line.
	Message string
}

// Await judges whether a wish has come true. The HelmRelease is nil when there is none, or it may not be read; then the
// gateway's word alone counts.
func Await(g *v1alpha1.APIGateway, hr *helmv2.HelmRelease, w Wish) Outcome {
	ready := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case g.DeletionTimestamp != nil:
		return failed("the gateway is being deleted")
	case ready == nil || g.Status.ObservedGeneration != g.Generation:
		return waiting("waiting for the operator to look at generation %d of the gateway", g.Generation)
	case apimeta.IsStatusConditionFalse(g.Status.Conditions, v1alpha1.ConditionAccepted):
		return failed(standing(g, ready))
	case w.Suspend:
		return awaitSuspension(hr)
	case hr != nil && hr.Spec.Suspend && w.Request != "":
		return failed(fmt.Sprintf("HelmRelease %s/%s is suspended, and what is asked waits until it is resumed", hr.Namespace, hr.Name))
	case hr != nil && hr.Spec.Suspend:
		return waiting("waiting for HelmRelease %s/%s to be resumed", hr.Namespace, hr.Name)
	case w.Request != "" && g.Status.LastHandledReconcileAt != w.Request:
		return waiting("%s", handingOn(hr))
	case w.Request != "" && hr != nil && !handled(hr, w.Request):
		return waiting("%s", standing(g, ready))
	}
	return settled(g, hr, ready)
}

func awaitSuspension(hr *helmv2.HelmRelease) Outcome {
	if hr != nil && !hr.Spec.Suspend {
		return waiting("waiting for HelmRelease %s/%s to be suspended", hr.Namespace, hr.Name)
	}
	return Outcome{Done: true, Message: "suspended"}
}

// handingOn says what the operator waits for before it asks Flux, by the rule of internal/recovery.
func handingOn(hr *helmv2.HelmRelease) string {
	if hr != nil {
		o := fluxstatus.Observe(fluxstatus.Input{Release: hr})
		if !o.Settled() || o.RequestedAt != "" && o.RequestedAt != o.HandledRequestAt {
			return "waiting for Flux to end what it does now, before the request is handed on to it"
		}
	}
	return "waiting for the operator to hand the request on to Flux"
}

// handled tells whether Flux has dealt with a request that was handed on. A newer one, as for Sluice's next round, takes its
// place in the annotation, and then that one counts.
func handled(hr *helmv2.HelmRelease, request string) bool {
	if newer := hr.Annotations[meta.ReconcileRequestAnnotation]; newer != "" {
		request = newer
	}
	return hr.Status.LastHandledReconcileAt == request
}

// settled: both must say the same, since the gateway's status lags behind the HelmRelease's by a moment.
func settled(g *v1alpha1.APIGateway, hr *helmv2.HelmRelease, ready *metav1.Condition) Outcome {
	now := standing(g, ready)
	switch {
	case ready.Status == metav1.ConditionTrue && fluxSays(hr, metav1.ConditionTrue):
		return Outcome{Done: true, Message: now}
	case ready.Status == metav1.ConditionFalse && (fluxSays(hr, metav1.ConditionFalse) || sourceFault(g) == ready.Reason || stalledForGood(g)):
		return failed(now)
	}
	return waiting("%s", now)
}

// fluxSays: the HelmRelease says so of its present spec, and no action runs. After a failure that made no revision Flux's
// Reconciling goes on telling of the action that failed.
func fluxSays(hr *helmv2.HelmRelease, status metav1.ConditionStatus) bool {
	if hr == nil {
		return true
	}
	ready := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.Status != status || ready.ObservedGeneration != hr.Generation {
		return false
	}
	c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReconcilingCondition)
	return c == nil || c.Status != metav1.ConditionTrue || c.Reason == meta.ProgressingWithRetryReason ||
		fluxstatus.Observe(fluxstatus.Input{Release: hr}).Activity == fluxstatus.Waiting
}

func stalledForGood(g *v1alpha1.APIGateway) bool {
	c := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionStalled)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason != v1alpha1.ReasonRetriesExceeded
}

func standing(g *v1alpha1.APIGateway, ready *metav1.Condition) string {
	text := string(g.Status.Phase)
	if ready.Reason != text {
		text += ", " + ready.Reason
	}
	return text + ": " + oneLine(ready.Message)
}

func failed(message string) Outcome { return Outcome{Failed: true, Message: message} }

func waiting(format string, args ...any) Outcome {
	return Outcome{Message: fmt.Sprintf(format, args...)}
}
