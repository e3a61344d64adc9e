// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package fluxtest builds OCIRepositories and HelmReleases as Flux's controllers leave them (source-controller v1.9.4,
// helm-controller v1.6.4), piece by piece, for the tests of the stages that read them.
package fluxtest

import (
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Two charts: the manifest's digest and the version, as their author and as helm-controller write it.
const (
	Digest      = "sha256:7fff28b7a7a2bb0a9bd1c7b4e3b5a0b0f6a3e0a8c1d2e3f4a5b6c7d8e9f0a1b2"
	Version     = "1.2.0"
	FluxVersion = "1.2.0+7fff28b7a7a2"

	OldDigest      = "sha256:0123456789abbb0a9bd1c7b4e3b5a0b0f6a3e0a8c1d2e3f4a5b6c7d8e9f0a1b2"
	OldVersion     = "1.1.0"
	OldFluxVersion = "1.1.0+0123456789ab"
)

// Messages of helm-controller's conditions.
const (
	InstallSucceeded  = "Helm install succeeded for release apis/orders.v1 with chart gateway@" + FluxVersion
	InstallFailed     = "Helm install failed for release apis/orders with chart gateway@" + FluxVersion + ": timeout"
	UpgradeSucceeded  = "Helm upgrade succeeded for release apis/orders.v6 with chart gateway@" + FluxVersion
	UpgradeFailed     = "Helm upgrade failed for release apis/orders with chart gateway@" + FluxVersion + ": timeout"
	RollbackSucceeded = "Helm rollback to previous release apis/orders.v5 with chart gateway@" + OldFluxVersion + " succeeded"
	Prerequisites     = "Fulfilling prerequisites"
	RunningInstall    = "Running 'install' action with timeout of 5m0s"
	RunningUpgrade    = "Running 'upgrade' action with timeout of 5m0s"
	RunningRollback   = "Running 'rollback' action with timeout of 5m0s"
	RunningTest       = "Running 'test' action with timeout of 5m0s"
	RunningCorrection = "Running 'correct cluster drift' action with timeout of 5m0s"
	RetryingAfter     = "retrying after 1m0s"
)

// Noon is when conditions were set, unless a part says otherwise.
var Noon = metav1.NewTime(time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC))

// At is a time as long after noon.
func At(d time.Duration) metav1.Time { return metav1.NewTime(Noon.Add(d)) }

// Part is a piece of a HelmRelease, most often of its status.
type Part func(*helmv2.HelmRelease)

// Release is a copy of the desired HelmRelease at a generation, with its parts in the order given.
func Release(desired *helmv2.HelmRelease, generation int64, parts ...Part) *helmv2.HelmRelease {
	hr := desired.DeepCopy()
	hr.Generation = generation
	hr.Status.ObservedGeneration = -1
	for _, p := range parts {
		p(hr)
	}
	return hr
}

// Parts are several as one.
func Parts(parts ...Part) Part {
	return func(hr *helmv2.HelmRelease) {
		for _, p := range parts {
			p(hr)
		}
	}
}

// Attempted means that the generation was tried, with the new chart.
func Attempted(generation int64) Part {
	return func(hr *helmv2.HelmRelease) {
		hr.Status.LastAttemptedGeneration = generation
		hr.Status.LastAttemptedRevision = FluxVersion
		hr.Status.LastAttemptedRevisionDigest = Digest
	}
}

// Observed means that helm-controller has finished with the generation.
func Observed(generation int64) Part {
	return func(hr *helmv2.HelmRelease) { hr.Status.ObservedGeneration = generation }
}

// Suspended HelmReleases are not reconciled.
func Suspended(hr *helmv2.HelmRelease) { hr.Spec.Suspend = true }

// Failures is what helm-controller counts.
func Failures(n int64) Part { return func(hr *helmv2.HelmRelease) { hr.Status.Failures = n } }

// Condition was set at noon, of the HelmRelease's generation.
func Condition(kind string, status metav1.ConditionStatus, reason, message string) Part {
	return func(hr *helmv2.HelmRelease) {
		hr.Status.Conditions = append(hr.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message,
			ObservedGeneration: hr.Generation, LastTransitionTime: Noon,
		})
	}
}

// OfGeneration means that the part's condition was set at that generation.
func OfGeneration(generation int64, part Part) Part {
	return func(hr *helmv2.HelmRelease) {
		part(hr)
		hr.Status.Conditions[len(hr.Status.Conditions)-1].ObservedGeneration = generation
	}
}

// Ready is the condition of that name.
func Ready(status metav1.ConditionStatus, reason, message string) Part {
	return Condition(meta.ReadyCondition, status, reason, message)
}

// Released is the condition of that name: how the last install or upgrade ended.
func Released(status metav1.ConditionStatus, reason, message string) Part {
	return Condition(helmv2.ReleasedCondition, status, reason, message)
}

// Remediated is the condition of that name, after a rollback.
func Remediated() Part {
	return Condition(helmv2.RemediatedCondition, metav1.ConditionTrue, helmv2.RollbackSucceededReason, RollbackSucceeded)
}

// Reconciling is the condition of that name.
func Reconciling(message string) Part {
	return Condition(meta.ReconcilingCondition, metav1.ConditionTrue, meta.ProgressingReason, message)
}

// Retrying is Reconciling with the reason that announces another attempt.
func Retrying(message string) Part {
	return Condition(meta.ReconcilingCondition, metav1.ConditionTrue, meta.ProgressingWithRetryReason, message)
}

// Stalled is the condition of that name.
func Stalled(reason string) Part {
	return Condition(meta.StalledCondition, metav1.ConditionTrue, reason, "Failed to upgrade after 1 attempt(s)")
}

// History is status.history, in the order given.
func History(snapshots ...*helmv2.Snapshot) Part {
	return func(hr *helmv2.HelmRelease) { hr.Status.History = snapshots }
}

// Snapshot is a revision of the new chart, made as many minutes before noon as it is below 60.
func Snapshot(version int, status string, action helmv2.ReleaseAction) *helmv2.Snapshot {
	return &helmv2.Snapshot{
		Name: "orders", Namespace: "apis", Version: version, Status: status, Action: action,
		ChartName: "gateway", ChartVersion: FluxVersion, AppVersion: "4.5", OCIDigest: Digest,
		LastDeployed: At(time.Duration(version-60) * time.Minute),
	}
}

// OldSnapshot is a revision of the old chart.
func OldSnapshot(version int, status string, action helmv2.ReleaseAction) *helmv2.Snapshot {
	s := Snapshot(version, status, action)
	s.ChartVersion, s.AppVersion, s.OCIDigest = OldFluxVersion, "4.4", OldDigest
	return s
}
