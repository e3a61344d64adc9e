// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"fmt"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/kustomize"

	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
)

const rolledLine = "RolledBack=True RolledBack: " + rolledText

// rounds is Reconciling after so many failed rounds.
func rounds(n int, next string) string { return fmt.Sprintf("failed rounds: %d of 5; %s", n, next) }

func nextAt(clock string) string { return "the next attempt starts at 2026-11-03T" + clock + "Z" }

// triesAt: after a failure that made no revision Flux goes on by itself.
func triesAt(clock string) string {
	return "Flux tries again by itself, after waits that grow, and Sluice asks for an attempt at 2026-11-03T" + clock + "Z"
}

// failedOnce are the steps to a first failed round: the switch at 12:00 to 12:03, the failure, and its rollback at 12:05.
func failedOnce() story {
	return append(switched(chart("1.2.0")),
		step{"it failed, and the rollback runs", release(2, rollingBack),
			lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, flux.RunningRollback)))},
		step{"it was rolled back; the wait begins", release(2, rests, rolledBack),
			lines("Degraded", accepted, stored1, fails("RolledBack", rolledText, rounds(1, nextAt("12:06:00"))), rolledLine)},
	)
}

// attempt are the steps of one more round that fails the same way.
func attempt(token string) []step {
	running := release(2, upgrading, failed, rollbackRuns, flux.Remediated(), forced(token),
		flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade))
	return []step{{"an attempt runs", running, ""}, {"it was rolled back", release(2, rests, rolledBack, forced(token)), ""}}
}

func TestRounds(t *testing.T) {
	running := func(n int) string {
		return lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(n, flux.RunningUpgrade)), rolledLine)
	}
	rested := func(n int, clock string) string {
		return lines("Degraded", accepted, stored1, fails("RolledBack", rolledText, rounds(n, nextAt(clock))), rolledLine)
	}
	stalls := func(n int, next, reason, message string) string {
		return lines("Degraded", accepted, stored1, both("False "+reason+": "+message),
			fmt.Sprintf("Stalled=True RetriesExceeded: failed rounds: %d; %sthe last: %s", n, next, flux.UpgradeFailed), rolledLine)
	}
	s := failedOnce()
	for i, want := range []string{
		running(1), rested(2, "12:09:00"),
		running(2), rested(3, "12:13:00"),
		running(3), rested(4, "12:19:00"),
		running(4), stalls(5, nextAt("12:28:00")+"; ", "RolledBack", rolledText),
		stalls(5, "", "UpgradeFailed", flux.UpgradeFailed), stalls(6, nextAt("13:15:00")+"; ", "RolledBack", rolledText),
	} {
		next := attempt(fmt.Sprint(i / 2))[i%2]
		next.want = want
		s = append(s, next)
	}
	in := s.run(t)
	if got := in.Gateway.Status.NextRetryTime.UTC().Format("15:04:05"); got != "13:15:00" {
		t.Errorf("after the sixth round the next one is at %s, want an hour later, at 13:15:00", got)
	}
}

func TestFixedOrReverted(t *testing.T) {
	fixed := chart("1.2.0")
	fixed.Release.Values = []byte(`{"for":"1.2.0","fixed":true}`)
	for what, rest := range map[string]story{
		"the chart is fixed by another value": {
			{"it is written", now(wants(fixed), release(3, rests, rolledBack)), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
			{"the upgrade runs", release(3, flux.Attempted(3), flux.Observed(2), failed, flux.Remediated(), rollbackRuns,
				flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)),
				lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
		},
		"the old chart is wanted again: what was rolled back to is it": {
			{"it is written", now(wants(chart("1.1.0")), source(flux.ReadySource(flux.OldChart)), release(3, rests, rolledBack)),
				lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
			{"Flux finds it in sync", release(3, flux.Attempted(3), attemptedOldChart, flux.Observed(3),
				flux.Ready("True", "UpgradeSucceeded", "Helm upgrade succeeded for release apis/orders.v7"), rollbackRuns),
				lines("Ready", accepted, stored1, runs("chart gateway 1.1.0 is deployed as revision 7"))},
			{"suspended", also(flux.Suspended, func(hr *helmv2.HelmRelease) { hr.Generation = 4 }),
				lines("Ready", accepted, stored1, runs("chart gateway 1.1.0 is deployed as revision 7"+whileSuspended))},
		},
		"the old chart is wanted again, and has drifted meanwhile": {
			{"drift is corrected; Ready still says what became of the new chart", now(wants(chart("1.1.0")), source(flux.ReadySource(flux.OldChart)),
				release(3, flux.Attempted(3), attemptedOldChart, flux.Observed(2), failed, flux.Remediated(), rollbackRuns,
					flux.OfGeneration(2, flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded)), flux.Reconciling(flux.RunningCorrection))),
				lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningCorrection))},
		},
		"another new chart is wanted, which is pulled first": {
			{"it is pulled", now(wants(chart("1.3.0")), source(flux.NewSource())),
				lines("Progressing", accepted, pulling, goesOn("Pending", "the HelmRelease switches to the desired state once OCIRepository team-a/wso2-7d147283 has its artifact"))},
		},
		"it is suspended": {
			{"suspended", release(3, rests, rolledBack, flux.Suspended),
				lines("Suspended", accepted, stored1, both(`False Suspended: the HelmRelease is suspended, and Flux has not confirmed that the desired state runs: run "flux resume helmrelease orders -n team-a" to go on`), rolledLine)},
		},
		"a dependency is not ready, and hides what Ready said": {
			{"not ready", release(2, flux.Attempted(2), flux.Observed(2), failed, flux.Remediated(), rollbackRuns,
				flux.Reconciling(flux.Prerequisites), flux.Ready("False", "DependencyNotReady", "dependency 'team-a/users' is not ready")),
				lines("Degraded", accepted, stored1, fails("DependencyNotReady", "dependency 'team-a/users' is not ready", rounds(1, flux.Prerequisites)), rolledLine)},
			{"ready again", release(2, rests, failed, flux.Remediated(), rollbackRuns, flux.Ready("Unknown", "Progressing", "reconciliation in progress"), forced("lost")),
				lines("Degraded", accepted, stored1, fails("RolledBack", rolledText, rounds(1, nextAt("12:06:00"))), rolledLine)},
		},
	} {
		t.Run(what, func(t *testing.T) { append(failedOnce(), rest...).run(t) })
	}
}

// TestPatchesOnly: only patches changed, so that Flux takes what it rolled back to for what is desired.
func TestPatchesOnly(t *testing.T) {
	patched := now(wants(chart("1.1.0")), func(in *gatewaystatus.Input) {
		in.Desired.Spec.PostRenderers = []helmv2.PostRenderer{{Kustomize: &helmv2.Kustomize{Patches: []kustomize.Patch{{Patch: "x"}}}}}
	})
	takenForSuccess := release(2, flux.Attempted(2), attemptedOldChart, flux.Observed(2),
		flux.Ready("True", "UpgradeSucceeded", "Helm upgrade succeeded for release apis/orders.v7"), rollbackRuns)
	told := func(cause string) string {
		return "the upgrade to chart version 1.1.0 (revision 6) failed and was rolled back; chart version 1.1.0 (revision 7) runs instead, and Flux repairs no drift of it meanwhile: " + cause
	}
	unknown := told("its error is not known any more")
	for what, s := range map[string]story{
		"Sluice saw it fail": {
			oldRunning(chart("1.1.0")),
			{"the patches are written", now(patched, release(2, oldDeployed)), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
			{"the rollback runs", release(2, rollingBack, attemptedOldChart),
				lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, flux.RunningRollback)))},
			{"Flux says that all is well", takenForSuccess, lines("Degraded", accepted, stored1,
				fails("RolledBack", told(flux.UpgradeFailed), rounds(1, nextAt("12:04:00"))), "RolledBack=True RolledBack: "+told(flux.UpgradeFailed))},
		},
		"Sluice did not": {
			oldRunning(chart("1.1.0")),
			{"the patches are written", now(patched, release(2, oldDeployed)), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
			{"Flux says that all is well", takenForSuccess, lines("Degraded", accepted, stored1,
				fails("RolledBack", unknown, rounds(1, nextAt("12:03:00"))), "RolledBack=True RolledBack: "+unknown)},
		},
	} {
		t.Run(what, func(t *testing.T) { s.run(t) })
	}
}

// TestPatchesThatDoNotRender: there is no revision, and Flux forgets the failure at its next look.
func TestPatchesThatDoNotRender(t *testing.T) {
	patched := now(wants(chart("1.1.0")), func(in *gatewaystatus.Input) {
		in.Desired.Spec.PostRenderers = []helmv2.PostRenderer{{Kustomize: &helmv2.Kustomize{Patches: []kustomize.Patch{{Patch: "x"}}}}}
	})
	oldRevision := flux.History(flux.OldSnapshot(5, "deployed", "upgrade"))
	attempted := flux.Parts(flux.Attempted(2), attemptedOldChart, oldRevision)
	fail := step{"they do not render", release(2, attempted, flux.Failures(1), saysFailed, flux.Reconciling(flux.RunningUpgrade)),
		lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, triesAt("12:03:00"))))}
	allIsWell := release(2, attempted, flux.Observed(2), flux.Failures(1), flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded))
	written := step{"they are written", now(patched, release(2, oldDeployed)), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))}
	for what, s := range map[string]story{
		"what runs is on record": {oldRunning(chart("1.1.0")), written, fail,
			{"Flux says that all is well", allIsWell, lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, nextAt("12:03:00"))))}},
		"what runs is not, since the patches came before Flux was done with it": {
			{"the old chart is upgraded to", now(wants(chart("1.1.0")), source(flux.ReadySource(flux.OldChart)), release(1, oldDeployed, flux.Observed(0))),
				lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
			written, fail,
			{"Flux says that all is well", allIsWell, lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, nextAt("12:03:00"))))}},
		"what runs was first seen together with the failure": {
			{"they do not render", now(patched, source(flux.ReadySource(flux.OldChart)), release(2, attempted, flux.Failures(1), saysFailed, flux.Reconciling(flux.RunningUpgrade))),
				lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, triesAt("12:01:00"))))},
			{"Flux says that all is well", allIsWell, lines("Degraded", accepted, stored1, fails("UpgradeFailed", flux.UpgradeFailed, rounds(1, nextAt("12:01:00"))))}},
		"neither what runs is on record, nor the failure, since a suspension and its end came before it": {
			{"the old chart is upgraded to", now(wants(chart("1.1.0")), source(flux.ReadySource(flux.OldChart)), release(1, oldDeployed, flux.Observed(0))),
				lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
			written,
			{"they do not render", release(4, attempted, flux.Failures(1), saysFailed, flux.Reconciling(flux.RunningUpgrade)),
				lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningUpgrade))},
			{"Flux says that all is well", release(4, attempted, flux.Attempted(4), attemptedOldChart, flux.Observed(4), flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
				lines("Progressing", accepted, stored1,
					goesOn("Progressing", "Flux reports success, but revision 5 was made of other contents; one more upgrade is asked for"))}},
		"nobody saw the failure": {oldRunning(chart("1.1.0")), written,
			{"Flux says that all is well", allIsWell, lines("Progressing", accepted, stored1,
				goesOn("Progressing", "Flux reports success, but revision 5 was made of other contents; one more upgrade is asked for"))}},
	} {
		t.Run(what, func(t *testing.T) { s.run(t) })
	}
}
