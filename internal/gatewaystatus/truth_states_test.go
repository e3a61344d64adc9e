// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
)

// The three sides of the truth table: what Flux says of a HelmRelease, which generation that is about, and the state of the
// wanted OCIRepository. With each state stands what is true then, independent of what the status makes of it.

// contentsThatRun are what is in the cluster.
type contentsThatRun string

const (
	nothingRuns contentsThatRun = "nothing"
	oldRunsOn   contentsThatRun = "the old contents"
	attempted   contentsThatRun = "what was attempted"
	inBetween   contentsThatRun = "neither the one nor the other"
)

// helmState is what Flux says of a HelmRelease whose second generation it has looked at, and the truth behind it.
type helmState struct {
	name  string
	parts flux.Part
	runs  contentsThatRun
	// fresh: there was no release before, else the old chart's revision 5 was on record.
	fresh bool
	// working: Flux has not finished with the generation.
	working bool
	// failed: the attempt failed. retried: and Flux tries again by itself, under strategy Retry.
	failed, retried bool
	// prerequisite: Flux says why it cannot attempt anything.
	prerequisite bool
	// deleting: the HelmRelease is being deleted.
	deleting bool
}

var (
	runningInstall = flux.Parts(flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall))
	runningUpgrade = flux.Parts(flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade))
	oldHistory     = flux.History(flux.OldSnapshot(5, "deployed", "upgrade"))
	newHistory     = flux.History(flux.Snapshot(6, "deployed", "upgrade"), flux.OldSnapshot(5, "superseded", "upgrade"))
	firstHistory   = flux.History(flux.Snapshot(1, "deployed", "install"))
	saysUpgraded   = flux.Parts(flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded), flux.Released("True", "UpgradeSucceeded", flux.UpgradeSucceeded), newHistory)
	notInstalled   = flux.Parts(flux.Failures(1), flux.Released("False", "InstallFailed", flux.InstallFailed), flux.Ready("False", "InstallFailed", flux.InstallFailed))
)

// says is what Flux says before it attempts anything.
func saysBefore(reason, message string) flux.Part {
	return flux.Parts(flux.Reconciling(flux.Prerequisites), flux.Ready("False", reason, message))
}

const (
	rollbackFailed = "Helm rollback to previous release apis/orders.v5 failed: timeout"
	testFailed     = "Helm test failed for release apis/orders.v6 with chart gateway@1.2.0: probe"
	canceled       = "Helm upgrade failed for release apis/orders with chart gateway@1.2.0: context canceled"
)

var helmStates = []helmState{
	{name: "none", runs: nothingRuns, fresh: true},
	{name: "no status", parts: neverAttempted, runs: nothingRuns, fresh: true, working: true},
	{name: "prerequisites, first", parts: flux.Parts(neverAttempted, flux.Reconciling(flux.Prerequisites)), runs: nothingRuns, fresh: true, working: true},
	{name: "source not ready, first", parts: flux.Parts(neverAttempted, saysBefore("SourceNotReady", noArtifact)), runs: nothingRuns, fresh: true, working: true, prerequisite: true},
	{name: "dependency not ready, first", parts: flux.Parts(neverAttempted, saysBefore("DependencyNotReady", "why")), runs: nothingRuns, fresh: true, working: true, prerequisite: true},
	{name: "values missing, first", parts: flux.Parts(neverAttempted, saysBefore("ValuesError", "why")), runs: nothingRuns, fresh: true, working: true, prerequisite: true},
	{name: "access denied, first", parts: flux.Parts(neverAttempted, flux.Ready("False", "AccessDenied", "why"), flux.Stalled("AccessDenied")), runs: nothingRuns, fresh: true, prerequisite: true},
	{name: "installing", parts: runningInstall, runs: inBetween, fresh: true, working: true},
	{name: "installed", parts: flux.Parts(flux.Ready("True", "InstallSucceeded", flux.InstallSucceeded), firstHistory), runs: attempted, fresh: true},
	{name: "template error, first", parts: flux.Parts(notInstalled, flux.Reconciling(flux.RunningInstall)), runs: nothingRuns, fresh: true, working: true, failed: true},
	{name: "install failed, uninstalling", parts: flux.Parts(notInstalled, flux.History(flux.Snapshot(1, "failed", "install")),
		flux.Reconciling("Running 'uninstall' action with timeout of 5m0s")), runs: inBetween, fresh: true, working: true, failed: true},
	{name: "install failed, uninstalled", parts: flux.Parts(notInstalled, flux.Condition("Remediated", "True", "UninstallSucceeded", "Helm uninstall remediation succeeded"),
		flux.History(flux.Snapshot(1, "uninstalling", "uninstall-remediation")), flux.Stalled("RetriesExceeded")), runs: nothingRuns, fresh: true, failed: true},

	{name: "prerequisites", parts: flux.Parts(oldHistory, flux.Reconciling(flux.Prerequisites)), runs: oldRunsOn, working: true},
	{name: "dependency not ready", parts: flux.Parts(oldHistory, saysBefore("DependencyNotReady", "why")), runs: oldRunsOn, working: true, prerequisite: true},
	{name: "values missing", parts: flux.Parts(oldHistory, saysBefore("ValuesError", "why")), runs: oldRunsOn, working: true, prerequisite: true},
	{name: "upgrading", parts: flux.Parts(oldHistory, runningUpgrade), runs: inBetween, working: true},
	{name: "upgraded", parts: saysUpgraded, runs: attempted},
	{name: "upgraded, drift corrected", parts: flux.Parts(newHistory, flux.Reconciling(flux.RunningCorrection), flux.Ready("Unknown", "Progressing", flux.RunningCorrection)), runs: attempted, working: true},
	{name: "testing", parts: flux.Parts(newHistory, flux.Reconciling(flux.RunningTest), flux.Ready("Unknown", "Progressing", flux.RunningTest)), runs: attempted, working: true},
	{name: "template error", parts: flux.Parts(oldHistory, flux.Failures(1), saysFailed, flux.Reconciling(flux.RunningUpgrade)), runs: oldRunsOn, working: true, failed: true},
	{name: "upgrade failed, rolling back", parts: flux.Parts(saysFailed, failedRuns, flux.Reconciling(flux.RunningRollback)), runs: inBetween, working: true, failed: true},
	{name: "rolled back", parts: flux.Parts(rolledBack, flux.Stalled("RetriesExceeded")), runs: oldRunsOn, failed: true},
	{name: "rolled back, taken for success", parts: flux.Parts(flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded), rollbackRuns), runs: oldRunsOn, failed: true},
	{name: "rollback failed", parts: flux.Parts(failed, flux.Condition("Remediated", "False", "RollbackFailed", rollbackFailed), flux.Ready("False", "RollbackFailed", rollbackFailed),
		flux.History(flux.Snapshot(7, "failed", "rollback"), flux.Snapshot(6, "failed", "upgrade"), flux.OldSnapshot(5, "superseded", "rollback")), flux.Stalled("RetriesExceeded")), runs: inBetween, failed: true},
	{name: "test failed, rolled back", parts: flux.Parts(flux.Condition("TestSuccess", "False", "TestFailed", testFailed), flux.Remediated(), rollbackRuns,
		flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded), flux.Stalled("RetriesExceeded")), runs: oldRunsOn, failed: true},
	{name: "upgrade failed, retried", parts: flux.Parts(saysFailed, failedRuns, flux.Failures(1), flux.Retrying(flux.RetryingAfter)), runs: inBetween, failed: true, retried: true},
	{name: "health checks canceled", parts: flux.Parts(oldHistory, flux.Released("False", "UpgradeFailed", canceled), flux.Reconciling(flux.RunningUpgrade),
		flux.Ready("False", "HealthCheckCanceled", "New reconciliation triggered")), runs: inBetween, working: true},
	{name: "unlocked", parts: flux.Parts(oldHistory, flux.Reconciling("Running 'unlock' action with timeout of 5m0s"), flux.Ready("False", "PendingRelease", "Unlocked Helm release")), runs: inBetween, working: true},
	{name: "being deleted", parts: flux.Parts(saysUpgraded, func(hr *helmv2.HelmRelease) { hr.DeletionTimestamp = &flux.Noon }), runs: attempted, deleting: true},
}

func neverAttempted(hr *helmv2.HelmRelease) {
	hr.Status.LastAttemptedGeneration, hr.Status.LastAttemptedRevision, hr.Status.LastAttemptedRevisionDigest = 0, "", ""
}

// generations say which generation of the HelmRelease all that is about, and whether what was attempted is what is desired.
var generations = []struct {
	name string
	// now is the HelmRelease's generation; Flux looked at the second.
	now int64
	// ahead: the conditions carry the present generation, though they tell of the second.
	ahead bool
	// suspended: the third generation suspends the second, and changes nothing else.
	suspended, bySluice bool
	// otherSpec: the HelmRelease carries another spec than the desired one, for whose chart it waits.
	otherSpec bool
	// ofDesired: what Flux attempted is what is desired.
	ofDesired bool
}{
	{name: "this one", now: 2, ofDesired: true},
	{name: "the one before", now: 3},
	{name: "the one before, though conditions carry this", now: 3, ahead: true},
	{name: "the one before, suspended since by people", now: 3, suspended: true, ofDesired: true},
	{name: "the one before, suspended since by Sluice", now: 3, suspended: true, bySluice: true, ofDesired: true},
	{name: "this one, of another spec", now: 2, otherSpec: true},
}

// sourceStates are of the wanted OCIRepository. known: its digest is that of the chart that was attempted.
var sourceStates = []struct {
	name   string
	source func() *sourcev1.OCIRepository
	known  bool
	// refreshes: it has its artifact, and the last look at the registry went well. failed: it never had one, and says why.
	refreshes, failed bool
}{
	{name: "none", source: func() *sourcev1.OCIRepository { return nil }},
	{name: "pulled", source: flux.NewSource},
	{name: "tag missing", source: flux.FailedSource, failed: true},
	{name: "ready", source: func() *sourcev1.OCIRepository { return flux.ReadySource() }, known: true, refreshes: true},
	{name: "does not refresh", source: func() *sourcev1.OCIRepository { return flux.Source(flux.PullFails) }, known: true},
	{name: "moved on", source: func() *sourcev1.OCIRepository { return flux.ReadySource(movedOn) }, refreshes: true},
}

func movedOn(s *sourcev1.OCIRepository) { s.Status.Artifact.Revision = "1.3.0@sha256:moved" }

// at puts what Flux says into a HelmRelease of that generation.
func (h helmState) at(desired *helmv2.HelmRelease, now int64, ahead bool) *helmv2.HelmRelease {
	finished := int64(2)
	if h.working {
		finished = 1
	}
	hr := flux.Release(desired, 2, flux.Attempted(2), flux.Observed(finished), h.parts)
	hr.Generation = now
	if ahead {
		for i := range hr.Status.Conditions {
			hr.Status.Conditions[i].ObservedGeneration = now
		}
	}
	return hr
}

func markedSince2(hr *helmv2.HelmRelease) {
	hr.Annotations = map[string]string{
		v1alpha1.AnnotationSuspended: "true", v1alpha1.AnnotationSuspendedAt: fluxobjects.SuspensionMark(hr.Spec, 2, 3),
	}
}
