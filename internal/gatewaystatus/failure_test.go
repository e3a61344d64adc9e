// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"fmt"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// toInstall is a gateway whose HelmRelease has just been written.
func toInstall(p *plan.Plan) step {
	return step{"it is to be installed", now(wants(p), source(flux.ReadySource()), release(1)),
		lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))}
}

func with(strategy v1alpha1.RemediationStrategy) *plan.Plan {
	p := chart("1.2.0")
	p.Remediation.Strategy = strategy
	return p
}

// installFails are the parts of a first install that failed, and of one that was uninstalled since.
var (
	installFailed = flux.Parts(flux.Attempted(1), flux.Failures(1), flux.Released("False", "InstallFailed", flux.InstallFailed), flux.Ready("False", "InstallFailed", flux.InstallFailed))
	uninstalled   = flux.Parts(installFailed, flux.Condition("Remediated", "True", "UninstallSucceeded", "Helm uninstall remediation succeeded"),
		flux.History(flux.Snapshot(1, "uninstalling", "uninstall-remediation")))
)

func TestInstallFails(t *testing.T) {
	story{
		toInstall(chart("1.2.0")),
		{"it failed, and is uninstalled", release(1, installFailed, flux.History(flux.Snapshot(1, "failed", "install")), flux.Reconciling("Running 'uninstall' action with timeout of 5m0s")),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(1, "Running 'uninstall' action with timeout of 5m0s")))},
		{"it was uninstalled", release(1, uninstalled, flux.Observed(1), flux.Stalled("RetriesExceeded")),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(1, nextAt("12:03:00"))))},
		{"the next attempt runs", release(1, flux.Attempted(1), forced("a"), flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall)),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(1, flux.RunningInstall)))},
		{"it succeeds", release(1, installed, forced("a")), lines("Ready", accepted, stored1, runs(firstRuns))},
	}.run(t)
}

func TestTemplateDoesNotRender(t *testing.T) {
	story{
		toInstall(chart("1.2.0")),
		{"Flux fails, and tries again by itself, ever more seldom", release(1, installFailed, flux.Reconciling(flux.RunningInstall)),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(1, triesAt("12:02:00"))))},
		{"Flux tries again", release(1, flux.Attempted(1), flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall)),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(1, flux.RunningInstall)))},
		{"and fails: the same round", release(1, installFailed, flux.Reconciling(flux.RunningInstall)),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(1, triesAt("12:02:00"))))},
		{"Sluice has asked for an attempt, which fails: another round", release(1, installFailed, forced("a"), flux.Reconciling(flux.RunningInstall)),
			lines("Failed", accepted, stored1, fails("InstallFailed", flux.InstallFailed, rounds(2, triesAt("12:06:00"))))},
	}.run(t)
}

// TestFluxCannotAttempt: every prerequisite that helm-controller knows, before the first install.
func TestFluxCannotAttempt(t *testing.T) {
	for _, reason := range []string{
		"ValuesError", "ArtifactFailed", "ChartMutateError", "RESTClientError", "ResourceManagerError", "FactoryError", "StateError",
	} {
		story{
			toInstall(chart("1.2.0")),
			{reason, release(1, flux.Reconciling(flux.Prerequisites), flux.Ready("False", reason, "why")), lines("Failed", accepted, stored1, fails(reason, "why", fluxRetries))},
			{"it passes", release(1, installed), lines("Ready", accepted, stored1, runs(firstRuns))},
		}.run(t)
	}
	for _, reason := range []string{"AccessDenied", "InvalidCELExpression"} {
		story{
			toInstall(chart("1.2.0")),
			{reason + " is for people", release(1, flux.Observed(1), flux.Ready("False", reason, "why"), flux.Stalled(reason)),
				lines("Failed", accepted, stored1, both("False "+reason+": why"), "Stalled=True "+reason+": why")},
		}.run(t)
	}
	story{
		toInstall(chart("1.2.0")),
		{"a condition of another generation says nothing", release(2, flux.OfGeneration(1, flux.Ready("False", "ValuesError", "why"))),
			lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
	}.run(t)
}

// TestDependencyIsNotReady: Flux says False, and nothing failed.
func TestDependencyIsNotReady(t *testing.T) {
	story{
		toInstall(chart("1.2.0")),
		{"before the first install", release(1, flux.Reconciling(flux.Prerequisites), flux.Ready("False", "DependencyNotReady", "why")),
			lines("Pending", accepted, stored1, both("False DependencyNotReady: why"), "Reconciling=True Progressing: why")},
		{"it passes", release(1, installed), lines("Ready", accepted, stored1, runs(firstRuns))},
	}.run(t)
	append(switched(chart("1.2.0"))[:3],
		step{"before an upgrade", release(2, oldDeployed, func(hr *helmv2.HelmRelease) { hr.Status.Conditions = nil },
			flux.Reconciling(flux.Prerequisites), flux.Ready("False", "DependencyNotReady", "why")),
			lines("Progressing", accepted, stored1, both("False DependencyNotReady: why"), "Reconciling=True Progressing: why")},
		step{"before another attempt", release(2, rests, rolledBack), lines("Degraded", accepted, stored1, fails("RolledBack", rolledText, rounds(1, nextAt("12:05:00"))), rolledLine)},
	).run(t)
}

// TestInterruptions say nothing about the release.
func TestInterruptions(t *testing.T) {
	message := "Helm upgrade failed for release apis/orders with chart gateway@1.2.0: context canceled"
	canceled := flux.Released("False", "UpgradeFailed", message)
	told := "the upgrade to chart version 1.2.0 (revision 6) failed and was rolled back; chart version 1.1.0 (revision 7) runs instead, and Flux repairs no drift of it meanwhile: " + message
	for what, rest := range map[string]story{
		"health checks are canceled by a request": {
			{"canceled", release(2, upgrading, flux.Reconciling(flux.RunningUpgrade), canceled, flux.Ready("False", "HealthCheckCanceled", "New reconciliation triggered")),
				lines("Progressing", accepted, stored1, goesOn("HealthCheckCanceled", "New reconciliation triggered"))},
			{"unless Flux gives up", release(2, upgrading, flux.Observed(2), flux.Ready("False", "HealthCheckCanceled", "New reconciliation triggered"), flux.Stalled("RetriesExceeded")),
				lines("Degraded", accepted, stored1, both("False HealthCheckCanceled: New reconciliation triggered"), "Stalled=True HealthCheckCanceled: New reconciliation triggered")},
		},
		"health checks are canceled by a change: Flux stalls at what was, and goes on": {
			{"changed", release(3, upgrading, flux.Attempted(2), canceled, flux.Ready("False", "HealthCheckCanceled", "New reconciliation triggered"), flux.Stalled("RetriesExceeded")),
				lines("Progressing", accepted, stored1, goesOn("HealthCheckCanceled", "New reconciliation triggered"))},
		},
		"health checks are canceled by a request, and Flux has spent its retries": {
			{"rolled back", release(2, upgrading, flux.Observed(2), canceled, flux.Remediated(), rollbackRuns,
				flux.Ready("False", "HealthCheckCanceled", "New reconciliation triggered"), flux.Stalled("RetriesExceeded")),
				lines("Degraded", accepted, stored1, fails("RolledBack", told, "the attempt was interrupted; another one starts at once"), "RolledBack=True RolledBack: "+told)},
			{"not rolled back", release(2, upgrading, flux.Observed(2), canceled, failedRuns,
				flux.Ready("False", "HealthCheckCanceled", "New reconciliation triggered"), flux.Stalled("RetriesExceeded")),
				lines("Progressing", accepted, stored1, goesOn("HealthCheckCanceled", "New reconciliation triggered"))},
		},
		"helm-controller was killed, and unlocks the release": {
			{"unlocked", release(2, upgrading, flux.Reconciling("Running 'unlock' action with timeout of 5m0s"), flux.Ready("False", "PendingRelease", "Unlocked Helm release")),
				lines("Progressing", accepted, stored1, goesOn("PendingRelease", "Unlocked Helm release"))},
		},
		"the upgrade's context is canceled": {
			{"the rollback runs", release(2, upgrading, failedRuns, canceled, flux.Ready("False", "UpgradeFailed", message), flux.Reconciling(flux.RunningRollback)),
				lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningRollback))},
			{"it was rolled back, and does not count", release(2, rests, canceled, flux.Remediated(), rollbackRuns, flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded)),
				lines("Degraded", accepted, stored1, fails("RolledBack", told, "the attempt was interrupted; another one starts at once"), "RolledBack=True RolledBack: "+told)},
			{"which it does", release(2, upgrading, rollbackRuns, canceled, forced("a"), flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)),
				lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
		},
	} {
		t.Run(what, func(t *testing.T) { append(switched(chart("1.2.0")), rest...).run(t) })
	}
}

func TestStrategyRetry(t *testing.T) {
	waits := func(failures int64, versions ...int) step {
		var history helmv2.Snapshots
		for _, version := range versions {
			history = append(history, flux.Snapshot(version, "failed", "upgrade"))
		}
		return step{fmt.Sprintf("failure %d", failures), release(2, upgrading, saysFailed, flux.Observed(2), flux.Failures(failures), flux.Retrying(flux.RetryingAfter), flux.History(history...)), ""}
	}
	wants := func(s step, want string) step { s.want = want; return s }
	next := func(failures int) string {
		return fmt.Sprintf("failed attempts: %d; Flux tries again every 1m0s", failures)
	}
	append(switched(with(v1alpha1.StrategyRetry)),
		wants(waits(1, 6), lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, next(1)))),
		step{"Flux retries", release(2, upgrading, failed, flux.Failures(1), flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)),
			lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, next(1)))},
		wants(waits(4, 9, 8, 7, 6), lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, next(4)))),
		wants(waits(5, 10, 9, 8, 7, 6), lines("Degraded", accepted, stored1, both("False UpgradeFailed: "+flux.UpgradeFailed),
			"Stalled=True RetriesExceeded: failed rounds: 5; Flux tries again every 1m0s; the last: "+flux.UpgradeFailed)),
		wants(waits(9, 14, 13, 12, 11, 10), lines("Degraded", accepted, stored1, both("False UpgradeFailed: "+flux.UpgradeFailed),
			"Stalled=True RetriesExceeded: failed rounds: 9; Flux tries again every 1m0s; the last: "+flux.UpgradeFailed)),
		step{"it succeeds", release(2, upgraded, flux.History(flux.Snapshot(15, "deployed", "upgrade"))),
			lines("Ready", accepted, stored1, runs("chart gateway 1.2.0 is deployed as revision 15"))},
	).run(t)
}

func TestStrategyUninstall(t *testing.T) {
	gone := flux.History(flux.Snapshot(6, "uninstalling", "uninstall-remediation"), flux.OldSnapshot(5, "deployed", "uninstall-remediation"))
	fail := func(phase, next string) string {
		return lines(phase, accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, next)))
	}
	append(switched(with(v1alpha1.StrategyUninstall)),
		step{"it failed, and is uninstalled", release(2, upgrading, saysFailed, failedRuns, flux.Reconciling("Running 'uninstall' action with timeout of 5m0s")),
			fail("Degraded", "Running 'uninstall' action with timeout of 5m0s")},
		step{"it was uninstalled", release(2, upgrading, saysFailed, gone, flux.Retrying(flux.UpgradeFailed)), fail("Failed", flux.UpgradeFailed)},
		step{"it is installed anew", release(2, flux.Attempted(2), flux.Observed(1), flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall)),
			fail("Failed", flux.RunningInstall)},
		step{"that succeeds", release(2, flux.Attempted(2), flux.Observed(2), flux.Ready("True", "InstallSucceeded", flux.InstallSucceeded), flux.History(flux.Snapshot(1, "deployed", "install"))),
			lines("Ready", accepted, stored1, runs(firstRuns))},
	).run(t)
}

func TestTestsFail(t *testing.T) {
	message := "Helm test failed for release apis/orders.v6 with chart gateway@1.2.0: probe"
	told := "the upgrade to chart version 1.2.0 (revision 6) failed and was rolled back; chart version 1.1.0 (revision 7) runs instead, and Flux repairs no drift of it meanwhile: " + message
	testFailed := flux.Condition("TestSuccess", "False", "TestFailed", message)
	p := chart("1.2.0")
	p.Release.TestEnabled = true
	append(switched(p),
		step{"the rollback runs", release(2, upgrading, failedRuns, testFailed, flux.Ready("False", "TestFailed", message), flux.Reconciling(flux.RunningRollback)),
			lines("Degraded", accepted, stored1, fails("TestFailed", message, rounds(1, flux.RunningRollback)), "TestSuccess=False TestFailed: "+message)},
		step{"it was rolled back", release(2, rests, testFailed, flux.Remediated(), rollbackRuns, flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded)),
			lines("Degraded", accepted, stored1, fails("RolledBack", told, rounds(1, nextAt("12:06:00"))), "RolledBack=True RolledBack: "+told, "TestSuccess=False TestFailed: "+message)},
	).run(t)
}
