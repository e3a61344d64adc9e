// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus_test

import (
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

const attempt = "2/" + digest + "/"

// TestObserveFailures: the HelmRelease's second generation was attempted, and what came of it.
func TestObserveFailures(t *testing.T) {
	upgradeFailed := fluxstatus.Failure{Reason: "UpgradeFailed", Message: upgradeMessage}
	releasedFalse := released("False", "UpgradeFailed", upgradeMessage)
	remediated := condition(helmv2.RemediatedCondition, "True", "RollbackSucceeded", rollbackMessage)
	rolledBack := []part{attempted(2), observed(2), ready("False", "RollbackSucceeded", rollbackMessage), remediated, releasedFalse, stalled("RetriesExceeded")}
	parts := func(base []part, more ...part) []part { return append(append([]part(nil), base...), more...) }
	for what, c := range map[string]struct {
		parts []part
		want  func(*fluxstatus.Observation)
	}{
		"the upgrade runs": {
			[]part{attempted(2), observed(1), reconciling(runningUpgrade), ready("Unknown", "Progressing", runningUpgrade)},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Acting, runningUpgrade
				o.Ready = says("Unknown", "Progressing", runningUpgrade)
			},
		},
		"the upgrade failed and the rollback runs": {
			[]part{attempted(2), observed(1), reconciling(runningRollback), ready("False", "UpgradeFailed", upgradeMessage), releasedFalse},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Acting, runningRollback
				o.Ready = says("False", "UpgradeFailed", upgradeMessage)
				o.Failure = &upgradeFailed
			},
		},
		"it was rolled back, and Flux rests": {
			rolledBack,
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed, o.Stalled = fluxstatus.Idle, true, true
				o.Ready = says("False", "RollbackSucceeded", rollbackMessage)
				o.RolledBack, o.Failure = true, &upgradeFailed
			},
		},
		"it was rolled back, and Flux has retries left": {
			[]part{attempted(2), observed(1), ready("False", "RollbackSucceeded", rollbackMessage), remediated, releasedFalse,
				condition("Reconciling", "True", "ProgressingWithRetry", rollbackMessage)},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Retrying, rollbackMessage
				o.Ready = says("False", "RollbackSucceeded", rollbackMessage)
				o.RolledBack, o.Failure = true, &upgradeFailed
			},
		},
		"and is about to use one: Ready still speaks of the rollback": {
			[]part{attempted(2), observed(1), ready("False", "RollbackSucceeded", rollbackMessage), remediated, releasedFalse, reconciling(prerequisites)},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Preparing, prerequisites
				o.Ready = says("False", "RollbackSucceeded", rollbackMessage)
				o.RolledBack, o.Failure = true, &upgradeFailed
			},
		},
		"with strategy Retry Flux waits": {
			[]part{attempted(2), observed(2), ready("False", "UpgradeFailed", upgradeMessage), releasedFalse, failures(3),
				condition("Reconciling", "True", "ProgressingWithRetry", "retrying after 1m0s")},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling, o.Observed, o.FluxFailures = fluxstatus.Waiting, "retrying after 1m0s", true, 3
				o.Ready = says("False", "UpgradeFailed", upgradeMessage)
				o.Failure = &upgradeFailed
			},
		},
		"a template does not render: the condition stays, and Flux tries again ever more seldom": {
			[]part{attempted(2), observed(1), reconciling(runningUpgrade), ready("False", "UpgradeFailed", upgradeMessage), releasedFalse,
				history(snapshot(5, "deployed", "upgrade"))},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Waiting, runningUpgrade
				o.Ready = says("False", "UpgradeFailed", upgradeMessage)
				o.Failure = &upgradeFailed
				o.History = []*helmv2.Snapshot{snapshot(5, "deployed", "upgrade")}
				o.Latest = o.History[0]
			},
		},
		"the upgrade has just failed with a revision: the rollback follows at once": {
			[]part{attempted(2), observed(1), reconciling(runningUpgrade), ready("False", "UpgradeFailed", upgradeMessage), releasedFalse,
				history(young(snapshot(6, "failed", "upgrade")))},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Acting, runningUpgrade
				o.Ready = says("False", "UpgradeFailed", upgradeMessage)
				o.Failure = &upgradeFailed
				o.History = []*helmv2.Snapshot{young(snapshot(6, "failed", "upgrade"))}
				o.Latest = o.History[0]
			},
		},
		"the spec changed while the upgrade waited: the failure is that of the generation before": {
			[]part{attempted(1), observed(1), reconciling(runningRollback), ready("False", "UpgradeFailed", upgradeMessage), releasedFalse},
			func(o *fluxstatus.Observation) {
				o.Attempted, o.Attempt = false, "1/"+digest+"/"
				o.Activity, o.Reconciling = fluxstatus.Acting, runningRollback
				o.Ready = says("False", "UpgradeFailed", upgradeMessage)
			},
		},
		"the spec changed while Flux waited to retry": {
			[]part{attempted(1), observed(1), ready("False", "UpgradeFailed", upgradeMessage), ofGeneration(1),
				condition("Reconciling", "True", "ProgressingWithRetry", "retrying after 1m0s"), ofGeneration(1)},
			func(o *fluxstatus.Observation) {
				o.Attempted, o.Attempt = false, "1/"+digest+"/"
				o.Activity, o.Reconciling = fluxstatus.Unseen, "retrying after 1m0s"
				o.Ready = fluxstatus.Statement{Status: "False", Reason: "UpgradeFailed", Message: upgradeMessage}
			},
		},
		"the action was interrupted, and rolled back": {
			[]part{attempted(2), observed(2), ready("False", "RollbackSucceeded", rollbackMessage), remediated, stalled("RetriesExceeded"),
				released("False", "UpgradeFailed", "Helm upgrade failed for release apis/orders with chart gateway@1.2.0: context canceled")},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed, o.Stalled = fluxstatus.Idle, true, true
				o.Ready = says("False", "RollbackSucceeded", rollbackMessage)
				o.RolledBack = true
				o.Failure = &fluxstatus.Failure{
					Reason: "UpgradeFailed", Message: "Helm upgrade failed for release apis/orders with chart gateway@1.2.0: context canceled", Canceled: true,
				}
			},
		},
		"health checks were canceled by a request, and the next look begins": {
			[]part{attempted(2), observed(1), ready("False", "HealthCheckCanceled", "New reconciliation triggered by HelmRelease/team-a/orders"), releasedFalse, reconciling(prerequisites)},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Preparing, prerequisites
				o.Ready = says("False", "HealthCheckCanceled", "New reconciliation triggered by HelmRelease/team-a/orders")
			},
		},
		"a test failed, and the release was rolled back": {
			[]part{attempted(2), observed(2), ready("False", "RollbackSucceeded", rollbackMessage), remediated, stalled("RetriesExceeded"),
				released("True", "UpgradeSucceeded", "Helm upgrade succeeded"), condition("TestSuccess", "False", "TestFailed", "Helm test failed: probe")},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed, o.Stalled = fluxstatus.Idle, true, true
				o.Ready = says("False", "RollbackSucceeded", rollbackMessage)
				o.RolledBack, o.Failure = true, &fluxstatus.Failure{Reason: "TestFailed", Message: "Helm test failed: probe"}
				o.Mirrored = release(2, condition("TestSuccess", "False", "TestFailed", "Helm test failed: probe")).Status.Conditions
			},
		},
		"the rollback failed": {
			[]part{attempted(2), observed(2), ready("False", "RollbackFailed", "Helm rollback failed: timeout"), releasedFalse, stalled("RetriesExceeded")},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed, o.Stalled = fluxstatus.Idle, true, true
				o.Ready = says("False", "RollbackFailed", "Helm rollback failed: timeout")
				o.Failure = &fluxstatus.Failure{Reason: "RollbackFailed", Message: "Helm rollback failed: timeout"}
			},
		},
		"a dependency was not ready since, and hides what Ready said": {
			parts(rolledBack[:2], ready("Unknown", "Progressing", "reconciliation in progress"), remediated, releasedFalse, stalled("RetriesExceeded")),
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed, o.Stalled = fluxstatus.Idle, true, true
				o.Ready = says("Unknown", "Progressing", "reconciliation in progress")
				o.RolledBack, o.Failure = true, &fluxstatus.Failure{Reason: "UpgradeFailed", Message: upgradeMessage, Earlier: true}
			},
		},
		"a reference is not allowed, which is no failed release though one failed before": {
			parts(rolledBack[:2], ready("False", "AccessDenied", "cross-namespace references"), remediated, releasedFalse, stalled("AccessDenied")),
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed, o.Stalled = fluxstatus.Idle, true, true
				o.Ready = says("False", "AccessDenied", "cross-namespace references")
			},
		},
		"a change of patches alone was rolled back, and Flux takes that for success": {
			[]part{attempted(2), observed(2), ready("True", "UpgradeSucceeded", "Helm upgrade succeeded"), released("True", "UpgradeSucceeded", "Helm upgrade succeeded"),
				history(snapshot(7, "deployed", "rollback"))},
			func(o *fluxstatus.Observation) {
				o.Activity, o.Observed = fluxstatus.Idle, true
				o.Ready = says("True", "UpgradeSucceeded", "Helm upgrade succeeded")
				o.History = []*helmv2.Snapshot{snapshot(7, "deployed", "rollback")}
				o.Latest = o.History[0]
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			want := seen(func(o *fluxstatus.Observation) {
				tried(o, attempt)
				c.want(o)
			})
			compare(t, fluxstatus.Observe(fluxstatus.Input{Desired: desired(), Release: release(2, c.parts...), Source: readySource()}), want)
		})
	}
}

func failures(n int64) part { return func(hr *helmv2.HelmRelease) { hr.Status.Failures = n } }

// young is a snapshot made after the conditions were set.
func young(s *helmv2.Snapshot) *helmv2.Snapshot {
	s.LastDeployed = at(time.Second)
	return s
}

func TestSettledAndResting(t *testing.T) {
	for activity, want := range map[fluxstatus.Activity]struct{ settled, resting bool }{
		"":                    {false, false},
		fluxstatus.Unseen:     {false, false},
		fluxstatus.Idle:       {true, true},
		fluxstatus.Preparing:  {false, false},
		fluxstatus.Blocked:    {true, false},
		fluxstatus.Acting:     {false, false},
		fluxstatus.Correcting: {false, false},
		fluxstatus.Retrying:   {true, false},
		fluxstatus.Waiting:    {true, true},
	} {
		o := fluxstatus.Observation{Activity: activity}
		if o.Settled() != want.settled || o.Resting() != want.resting {
			t.Errorf("%q: settled %v, resting %v; want %v", activity, o.Settled(), o.Resting(), want)
		}
		o.Deleting = true
		if o.Settled() {
			t.Errorf("%q of a HelmRelease that is being deleted is settled", activity)
		}
	}
}
