// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// What a HelmRelease shows that runs the old chart, at its first generation.
var oldDeployed = flux.Parts(
	flux.Attempted(1), flux.Observed(1), attemptedOldChart,
	flux.Ready("True", "UpgradeSucceeded", "Helm upgrade succeeded for release apis/orders.v5"),
	flux.Released("True", "UpgradeSucceeded", "Helm upgrade succeeded for release apis/orders.v5"),
	flux.History(flux.OldSnapshot(5, "deployed", "upgrade")),
)

func attemptedOldChart(hr *helmv2.HelmRelease) {
	hr.Status.LastAttemptedRevision, hr.Status.LastAttemptedRevisionDigest = flux.OldFluxVersion, flux.OldDigest
}

// What it shows once its second generation, with the new chart, was attempted.
var (
	upgrading   = flux.Parts(flux.Attempted(2), flux.Observed(1), flux.History(flux.OldSnapshot(5, "deployed", "upgrade")))
	failed      = flux.Released("False", "UpgradeFailed", flux.UpgradeFailed)
	failedRuns  = flux.History(flux.OldSnapshot(5, "deployed", "upgrade"), flux.Snapshot(6, "failed", "upgrade"))
	saysFailed  = flux.Parts(failed, flux.Ready("False", "UpgradeFailed", flux.UpgradeFailed))
	rolledBack  = flux.Parts(failed, flux.Remediated(), flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded), rollbackRuns)
	upgraded    = flux.Parts(flux.Attempted(2), flux.Observed(2), flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded))
	rests       = flux.Parts(flux.Attempted(2), flux.Observed(2), flux.Stalled("RetriesExceeded"))
	rollingBack = flux.Parts(upgrading, saysFailed, failedRuns, flux.Reconciling(flux.RunningRollback))
)

// rollbackRuns: the snapshot of a rollback has no digest, and the revision that it superseded is called a rollback too.
func rollbackRuns(hr *helmv2.HelmRelease) {
	rollback := flux.OldSnapshot(7, "deployed", "rollback")
	rollback.OCIDigest = ""
	hr.Status.History = helmv2.Snapshots{rollback, flux.Snapshot(6, "failed", "upgrade"), flux.OldSnapshot(5, "superseded", "rollback")}
}

// forced is a HelmRelease after so many requests for another attempt.
func forced(token string) flux.Part {
	return func(hr *helmv2.HelmRelease) { hr.Status.LastHandledForceAt = token }
}

const (
	switches   = "the HelmRelease switches to the desired state once OCIRepository team-a/" + newSource + " has its artifact"
	rolledText = "the upgrade to chart version 1.2.0 (revision 6) failed and was rolled back; chart version 1.1.0 (revision 7) runs instead, " +
		"and Flux repairs no drift of it meanwhile: " + flux.UpgradeFailed
)

// oldRunning is the first step of every upgrade: the old chart runs as desired.
func oldRunning(p *plan.Plan) step {
	return step{"the old chart runs", now(wants(p), source(flux.ReadySource(flux.OldChart)), release(1, oldDeployed)),
		lines("Ready", accepted, stored1, runs(oldRuns))}
}

// switched are the steps from there to the upgrade, when the new chart's source is quick.
func switched(p *plan.Plan) story {
	return story{
		oldRunning(chart("1.1.0")),
		{"the new chart is wanted, and its source is ready", now(wants(p), source(flux.ReadySource())),
			lines("Progressing", accepted, stored1, goesOn("Pending", aboutToBe))},
		{"the switch is written", release(2, oldDeployed), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
		{"the upgrade runs", release(2, upgrading, flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
	}
}

func TestSwitch(t *testing.T) {
	story{
		oldRunning(chart("1.1.0")),
		{"a new chart is wanted", now(wants(chart("1.2.0")), source(nil)), lines("Progressing", accepted, noSource, goesOn("Pending", switches))},
		{"its source is pulled", source(flux.NewSource()), lines("Progressing", accepted, pulling, goesOn("Pending", switches))},
		{"its tag does not exist", source(flux.FailedSource()),
			lines("Degraded", accepted, pullFails, fails("OCIArtifactPullFailed", "OCIRepository team-a/"+newSource+": "+flux.PullFailed, fluxRetries))},
		{"now it does", source(flux.ReadySource()), lines("Progressing", accepted, stored1, goesOn("Pending", aboutToBe))},
		{"the switch is written", release(2, oldDeployed), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
		{"prerequisites", release(2, oldDeployed, flux.Reconciling(flux.Prerequisites)), lines("Progressing", accepted, stored1, goesOn("Progressing", flux.Prerequisites))},
		{"the upgrade runs", release(2, upgrading, flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
		{"it succeeded, and Flux is not done", release(2, upgrading, flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded), flux.Reconciling(flux.RunningUpgrade),
			flux.History(flux.Snapshot(6, "deployed", "upgrade"), flux.OldSnapshot(5, "superseded", "upgrade"))),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
		{"the conditions are written, the rest is not", release(2, upgraded, flux.Observed(1), flux.History(flux.Snapshot(6, "deployed", "upgrade"))),
			lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
		{"Flux is done", release(2, upgraded, flux.History(flux.Snapshot(6, "deployed", "upgrade"), flux.OldSnapshot(5, "superseded", "upgrade"))),
			lines("Ready", accepted, stored1, runs(newRuns))},
	}.run(t)
}

// TestChangeOfMindBeforeTheSwitch: the old chart never ceased to run.
func TestChangeOfMindBeforeTheSwitch(t *testing.T) {
	story{
		oldRunning(chart("1.1.0")),
		{"a new chart is wanted, whose tag does not exist", now(wants(chart("1.2.0")), source(flux.FailedSource())),
			lines("Degraded", accepted, pullFails, fails("OCIArtifactPullFailed", "OCIRepository team-a/"+newSource+": "+flux.PullFailed, fluxRetries))},
		{"the old one is wanted again", now(wants(chart("1.1.0")), func(in *gatewaystatus.Input) { in.Source = in.RunningSource }),
			lines("Ready", accepted, stored1, runs(oldRuns))},
	}.run(t)
}

// TestInterruptedAndReverted: helm-controller died in mid-upgrade, and the old chart is wanted again. What is on record of it
// proves nothing until Flux has looked.
func TestInterruptedAndReverted(t *testing.T) {
	running := flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)
	append(switched(chart("1.2.0")),
		step{"the old chart is wanted again", now(wants(chart("1.1.0")), source(flux.ReadySource(flux.OldChart)), release(3, upgrading, flux.Reconciling(flux.RunningUpgrade), running)),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
		step{"helm-controller is back", release(3, upgrading, attemptedOldChart, flux.Reconciling(flux.Prerequisites), running),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.Prerequisites))},
		step{"a dependency is not ready", release(3, upgrading, attemptedOldChart, flux.Reconciling(flux.Prerequisites), flux.Ready("False", "DependencyNotReady", "why")),
			lines("Progressing", accepted, stored1, both("False DependencyNotReady: why"), "Reconciling=True Progressing: why")},
	).run(t)
}

// TestRangeThatMovesBack: the last attempt was with a chart that is not wanted any more.
func TestRangeThatMovesBack(t *testing.T) {
	story{
		oldRunning(chart("^1")),
		{"a new version was attempted, and is gone from the registry", now(release(1, oldDeployed, flux.Attempted(1), flux.Reconciling(flux.Prerequisites))),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.Prerequisites))},
	}.run(t)
}

// TestAtTheSameContents: an upgrade that was forced fails before there is a revision, and Ready says so until one succeeds.
func TestAtTheSameContents(t *testing.T) {
	failedAgain := flux.Parts(flux.Attempted(1), attemptedOldChart, flux.Observed(1), flux.Failures(1), saysFailed, flux.History(flux.OldSnapshot(5, "deployed", "upgrade")))
	story{
		oldRunning(chart("1.1.0")),
		{"it fails", release(1, failedAgain, flux.Reconciling(flux.RunningUpgrade)),
			lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, triesAt("12:02:00"))))},
		{"Flux looks again", release(1, failedAgain, flux.Reconciling(flux.Prerequisites)),
			lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, flux.Prerequisites)))},
		{"it finds all in sync", release(1, oldDeployed), lines("Ready", accepted, stored1, runs(oldRuns))},
	}.run(t)
}

// TestSemver: the artifact moves inside its source.
func TestSemver(t *testing.T) {
	story{
		oldRunning(chart("^1")),
		{"a new version was pulled", now(source(flux.ReadySource())), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
		{"the upgrade runs", release(1, flux.Attempted(1), flux.Observed(1), flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade),
			flux.History(flux.OldSnapshot(5, "deployed", "upgrade"))), lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
		{"it was upgraded", release(1, flux.Attempted(1), flux.Observed(1), flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded),
			flux.History(flux.Snapshot(6, "deployed", "upgrade"))), lines("Ready", accepted, stored1, runs(newRuns))},
	}.run(t)
}

func TestChartDigestIgnored(t *testing.T) {
	ignored := "Flux runs chart digest " + flux.OldDigest + ", not the wanted " + flux.Digest +
		", and reports success: its feature gate DisableChartDigestTracking is on; turn it off, or change the chart's version"
	story{
		oldRunning(chart("latest")),
		{"the tag moved", now(source(flux.ReadySource())), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
		{"Flux says that all is well", release(1, oldDeployed, flux.Attempted(1)),
			lines("Degraded", accepted, stored1, both("False ChartDigestIgnored: "+ignored), "Stalled=True ChartDigestIgnored: "+ignored)},
	}.run(t)
}
