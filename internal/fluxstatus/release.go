// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

// StatusDeployed is Helm's word for the revision that runs.
const StatusDeployed = "deployed"

// fulfillingPrerequisites is helm-controller's message while it looks at dependencies, source and values, before it
// touches the release (v1.6.4, reconcileRelease).
const fulfillingPrerequisites = "Fulfilling prerequisites"

func (o *Observation) observeRelease(hr, desired *helmv2.HelmRelease) {
	status := &hr.Status
	o.Exists = true
	o.Carries = desired != nil && carries(hr, desired)
	o.Suspended = hr.Spec.Suspend
	o.Observed = status.ObservedGeneration == hr.Generation
	o.Attempted = status.LastAttemptedGeneration == hr.Generation &&
		o.Source.Digest != "" && digestOf(status.LastAttemptedRevisionDigest) == o.Source.Digest
	o.Attempt = fmt.Sprintf("%d/%s/%s", status.LastAttemptedGeneration,
		digestOf(status.LastAttemptedRevisionDigest), status.LastHandledForceAt)
	o.AttemptedVersion = AuthorVersion(status.LastAttemptedRevision)
	o.FluxFailures = status.Failures
	o.Ready = statement(status.Conditions, meta.ReadyCondition, hr.Generation)
	o.Stalled = apimeta.IsStatusConditionTrue(status.Conditions, meta.StalledCondition)
	o.observeReconciling(status.Conditions)
	o.observeHistory(status.History)
	o.observeFailure(status.Conditions)
	o.Mirrored = mirrored(status.Conditions)
	o.RequestedAt = hr.Annotations[meta.ReconcileRequestAnnotation]
	o.ForceAt = hr.Annotations[meta.ForceRequestAnnotation]
	o.HandledRequestAt, o.HandledForceAt = status.LastHandledReconcileAt, status.LastHandledForceAt
}

// carries compares the specs less suspend, which belongs to people unless the gateway says otherwise.
func carries(hr, desired *helmv2.HelmRelease) bool {
	have, want := hr.Spec, desired.Spec
	have.Suspend, want.Suspend = false, false
	return fluxobjects.SpecEqual(have, want)
}

// observeReconciling tells what Flux is at. No Helm action runs when Reconciling is absent, when Flux waits for its own
// retry, and while it looks at the prerequisites; in the last case one may start any moment unless they fail.
func (o *Observation) observeReconciling(conditions []metav1.Condition) {
	c := apimeta.FindStatusCondition(conditions, meta.ReconcilingCondition)
	if c == nil || c.Status != metav1.ConditionTrue {
		o.Settled = true
		return
	}
	o.Reconciling = c.Message
	waits := c.Reason == meta.ProgressingWithRetryReason
	prerequisites := c.Message == fulfillingPrerequisites
	o.Settled = waits || prerequisites && o.Ready.Status == metav1.ConditionFalse
	o.Acting = !waits && !prerequisites
}

// observeHistory sorts the snapshots, since Flux does not keep them sorted.
func (o *Observation) observeHistory(history helmv2.Snapshots) {
	for _, s := range history {
		if s != nil {
			o.History = append(o.History, s)
		}
	}
	sort.SliceStable(o.History, func(i, j int) bool { return o.History[i].Version > o.History[j].Version })
	if len(o.History) > 0 {
		o.Latest = o.History[0]
	}
}

// observeFailure reads the failure of the latest attempt. A condition's own observedGeneration can run ahead of the attempt
// that it reports, so that the attempt alone decides.
func (o *Observation) observeFailure(conditions []metav1.Condition) {
	if !o.Attempted || o.Ready.Status != metav1.ConditionFalse || !IsReleaseFailure(o.Ready.Reason) {
		return
	}
	o.RolledBack = o.Ready.Reason == helmv2.RollbackSucceededReason
	failure := Failure{Reason: o.Ready.Reason, Message: o.Ready.Message}
	if cause := cause(conditions, o.Ready.Reason); cause != nil {
		failure.Reason, failure.Message = cause.Reason, cause.Message
	}
	failure.Canceled = strings.Contains(failure.Message, "context canceled")
	o.Failure = &failure
}

// cause finds why a remediation that succeeded was needed: the failed release, or the failed test.
func cause(conditions []metav1.Condition, reason string) *metav1.Condition {
	if reason != helmv2.RollbackSucceededReason && reason != helmv2.UninstallSucceededReason {
		return nil
	}
	for _, kind := range []string{helmv2.ReleasedCondition, helmv2.TestSuccessCondition} {
		if c := apimeta.FindStatusCondition(conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			return c
		}
	}
	return nil
}

// IsReleaseFailure tells whether a reason of Ready=False is the outcome of a Helm action, as against a prerequisite.
func IsReleaseFailure(reason string) bool {
	switch reason {
	case helmv2.InstallFailedReason, helmv2.UpgradeFailedReason, helmv2.TestFailedReason,
		helmv2.RollbackFailedReason, helmv2.RollbackSucceededReason,
		helmv2.UninstallFailedReason, helmv2.UninstallSucceededReason:
		return true
	}
	return false
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

// fluxDigestSuffix is what helm-controller appends to a chart's version: 12 hex digits of its digest.
var fluxDigestSuffix = regexp.MustCompile(`\+[0-9a-f]{12}$`)

// AuthorVersion is a chart version as its author wrote it, without the digest that helm-controller appends.
func AuthorVersion(version string) string {
	return fluxDigestSuffix.ReplaceAllString(version, "")
}

// FromRollback tells whether the latest snapshot came from a rollback.
func (o Observation) FromRollback() bool {
	return o.Latest != nil && o.Latest.Action == helmv2.ReleaseActionRollback
}

// Deployed tells whether the latest snapshot is the one that runs.
func (o Observation) Deployed() bool {
	return o.Latest != nil && o.Latest.Status == StatusDeployed
}

// DigestIgnored tells whether the running release was made from another chart than the wanted one, though Flux speaks of
// success (its gate DisableChartDigestTracking). A rollback's snapshot has no digest.
func (o Observation) DigestIgnored() bool {
	return o.Latest != nil && o.Latest.OCIDigest != "" && o.Source.Digest != "" && digestOf(o.Latest.OCIDigest) != o.Source.Digest
}

// OnceSucceeded tells whether a release that once succeeded is still there.
func (o Observation) OnceSucceeded() bool {
	if o.Latest != nil && o.Latest.Status == "uninstalled" {
		return false
	}
	for _, s := range o.History {
		if s.Status == StatusDeployed || s.Status == "superseded" {
			return true
		}
	}
	return false
}
