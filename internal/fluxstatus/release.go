// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus

import (
	"fmt"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

func (o *Observation) observeRelease(hr, desired *helmv2.HelmRelease) {
	status := &hr.Status
	o.Exists = true
	o.Deleting = hr.DeletionTimestamp != nil
	o.Carries = !o.Deleting && desired != nil && carries(hr, desired)
	o.Suspended = hr.Spec.Suspend
	o.Observed = status.ObservedGeneration == hr.Generation
	o.AttemptedChart = o.Source.Digest != "" && digestOf(status.LastAttemptedRevisionDigest) == o.Source.Digest
	o.Attempted = o.AttemptedChart && status.LastAttemptedGeneration == hr.Generation
	o.AttemptedGeneration = status.LastAttemptedGeneration
	o.Attempt = fmt.Sprintf("%d/%s/%s", status.LastAttemptedGeneration,
		digestOf(status.LastAttemptedRevisionDigest), status.LastHandledForceAt)
	o.AttemptedVersion = AuthorVersion(status.LastAttemptedRevision)
	o.FluxFailures = status.Failures
	o.Ready = statement(status.Conditions, meta.ReadyCondition, hr.Generation)
	o.Unfinished = status.LastAttemptedGeneration > max(status.ObservedGeneration, 0) || isRunning(o.Ready)
	o.Stalled = apimeta.IsStatusConditionTrue(status.Conditions, meta.StalledCondition)
	o.observeHistory(status.History)
	o.UninstallSucceeded = uninstallSucceeded(status.Conditions)
	o.observeFailure(status.Conditions)
	o.observeActivity(hr)
	o.Mirrored = mirrored(status.Conditions)
	o.RequestedAt = hr.Annotations[meta.ReconcileRequestAnnotation]
	o.ForceAt = hr.Annotations[meta.ForceRequestAnnotation]
	o.HandledRequestAt, o.HandledForceAt = status.LastHandledReconcileAt, status.LastHandledForceAt
}

// AsAttempted is the HelmRelease as it was when the latest attempt began, where nothing but its suspension has changed since:
// what Flux says of that generation is about the same contents. Any other is returned as it is.
func AsAttempted(hr *helmv2.HelmRelease) *helmv2.HelmRelease {
	began := hr.Status.LastAttemptedGeneration
	if began >= hr.Generation || began < fluxobjects.UnchangedSince(hr) {
		return hr
	}
	attempted := hr.DeepCopy()
	attempted.Generation = began
	attempted.Status.ObservedGeneration = min(hr.Status.ObservedGeneration, began)
	for i := range attempted.Status.Conditions {
		c := &attempted.Status.Conditions[i]
		c.ObservedGeneration = min(c.ObservedGeneration, began)
	}
	return attempted
}

// carries compares the specs less suspend, which belongs to people unless the gateway says otherwise.
func carries(hr, desired *helmv2.HelmRelease) bool {
	have, want := hr.Spec, desired.Spec
	have.Suspend, want.Suspend = false, false
	return fluxobjects.SpecEqual(have, want)
}

// isRunning: Ready says that an action runs. It goes on saying so when helm-controller is killed meanwhile.
func isRunning(ready Statement) bool {
	return ready.Status == metav1.ConditionUnknown && strings.HasPrefix(ready.Message, runningAction)
}

func mirrored(conditions []metav1.Condition) []metav1.Condition {
	var out []metav1.Condition
	for _, kind := range []string{helmv2.DriftedCondition, helmv2.TestSuccessCondition} {
		if c := apimeta.FindStatusCondition(conditions, kind); c != nil {
			out = append(out, *c)
		}
	}
	return out
}
