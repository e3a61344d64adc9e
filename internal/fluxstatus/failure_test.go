// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus_test

import (
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
)

const (
	canceled     = "Helm upgrade failed for release apis/orders with chart gateway@1.2.0: context canceled"
	testFailed   = "Helm test failed for release apis/orders.v6 with chart gateway@1.2.0: probe"
	newRequest   = "New reconciliation triggered by HelmRelease/team-a/orders"
	inProgress   = "reconciliation in progress"
	accessDenied = "can't access 'OCIRepository/charts/gateway'"
)

// What Ready and Released say after an attempt at the second generation.
var (
	failed      = flux.Parts(flux.Ready("False", "UpgradeFailed", flux.UpgradeFailed), flux.Released("False", "UpgradeFailed", flux.UpgradeFailed))
	rolledBack  = flux.Parts(flux.Ready("False", "RollbackSucceeded", flux.RollbackSucceeded), flux.Remediated())
	releaseFail = flux.Released("False", "UpgradeFailed", flux.UpgradeFailed)
	stalled     = flux.Parts(flux.Observed(2), flux.Stalled("RetriesExceeded"))

	saysFailed     = says("False", "UpgradeFailed", flux.UpgradeFailed)
	saysRolledBack = says("False", "RollbackSucceeded", flux.RollbackSucceeded)
)

// busy is Flux at something, not done with the second generation; idle is done with it, and stalled.
func busy(activity fluxstatus.Activity, reconciling string, ready fluxstatus.Statement) fluxstatus.Observation {
	return fluxstatus.Observation{Activity: activity, Reconciling: reconciling, Ready: ready, Unfinished: true}
}

func counting(failures int64, o fluxstatus.Observation) fluxstatus.Observation {
	o.FluxFailures = failures
	return o
}

func idle(ready fluxstatus.Statement) fluxstatus.Observation {
	return fluxstatus.Observation{Activity: fluxstatus.Idle, Observed: true, Stalled: true, Ready: ready}
}

// TestObserveFailures: the HelmRelease's second generation was attempted; what has come of it?
func TestObserveFailures(t *testing.T) {
	upgradeFailed := &fluxstatus.Failure{Reason: "UpgradeFailed", Message: flux.UpgradeFailed}
	for what, c := range map[string]struct {
		parts   flux.Part
		want    fluxstatus.Observation
		failure *fluxstatus.Failure
	}{
		"the upgrade runs": {
			flux.Parts(flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)),
			busy(fluxstatus.Acting, flux.RunningUpgrade, says("Unknown", "Progressing", flux.RunningUpgrade)), nil,
		},
		"the upgrade failed and the rollback runs": {
			flux.Parts(flux.Reconciling(flux.RunningRollback), failed),
			busy(fluxstatus.Acting, flux.RunningRollback, saysFailed), upgradeFailed,
		},
		"the rollback failed": {
			flux.Parts(flux.Ready("False", "RollbackFailed", "Helm rollback failed: timeout"), releaseFail, stalled),
			idle(says("False", "RollbackFailed", "Helm rollback failed: timeout")),
			&fluxstatus.Failure{Reason: "RollbackFailed", Message: "Helm rollback failed: timeout"},
		},
		"a template does not render: the condition stays, and Flux tries again ever more seldom": {
			flux.Parts(flux.Failures(1), flux.Reconciling(flux.RunningUpgrade), failed),
			counting(1, busy(fluxstatus.Waiting, flux.RunningUpgrade, saysFailed)), upgradeFailed,
		},
		"a template of the first install does not render": {
			flux.Parts(flux.Failures(1), flux.Reconciling(flux.RunningInstall), flux.Ready("False", "InstallFailed", flux.InstallFailed)),
			counting(1, busy(fluxstatus.Waiting, flux.RunningInstall, says("False", "InstallFailed", flux.InstallFailed))),
			&fluxstatus.Failure{Reason: "InstallFailed", Message: flux.InstallFailed},
		},
		"with strategy Retry Flux waits": {
			flux.Parts(failed, flux.Failures(3), flux.Retrying(flux.RetryingAfter)),
			counting(3, busy(fluxstatus.Waiting, flux.RetryingAfter, saysFailed)), upgradeFailed,
		},
		"health checks were canceled by a request, and the next look begins": {
			flux.Parts(flux.Ready("False", "HealthCheckCanceled", newRequest), releaseFail, flux.Reconciling(flux.Prerequisites)),
			busy(fluxstatus.Preparing, flux.Prerequisites, says("False", "HealthCheckCanceled", newRequest)), nil,
		},
		"a reference is not allowed, which is no failed release though one failed before": {
			flux.Parts(flux.Ready("False", "AccessDenied", accessDenied), flux.Remediated(), releaseFail, flux.Observed(2), flux.Stalled("AccessDenied")),
			idle(says("False", "AccessDenied", accessDenied)), nil,
		},
	} {
		t.Run(what, func(t *testing.T) {
			compare(t, observe(2, flux.Attempted(2), flux.Observed(1), c.parts), secondGeneration(c.want, c.failure))
		})
	}
}

func TestObserveRollbacks(t *testing.T) {
	upgradeFailed := &fluxstatus.Failure{Reason: "UpgradeFailed", Message: flux.UpgradeFailed}
	for what, c := range map[string]struct {
		parts   flux.Part
		want    fluxstatus.Observation
		failure *fluxstatus.Failure
	}{
		"Flux rests": {flux.Parts(rolledBack, releaseFail, stalled), idle(saysRolledBack), upgradeFailed},
		"Flux has retries left": {
			flux.Parts(rolledBack, releaseFail, flux.Retrying(flux.RollbackSucceeded)),
			busy(fluxstatus.Retrying, flux.RollbackSucceeded, saysRolledBack), upgradeFailed,
		},
		"and is about to use one: Ready still speaks of the rollback": {
			flux.Parts(rolledBack, releaseFail, flux.Reconciling(flux.Prerequisites)),
			busy(fluxstatus.Preparing, flux.Prerequisites, saysRolledBack), upgradeFailed,
		},
		"the upgrade was interrupted": {
			flux.Parts(rolledBack, flux.Released("False", "UpgradeFailed", canceled), stalled),
			idle(saysRolledBack), &fluxstatus.Failure{Reason: "UpgradeFailed", Message: canceled, Canceled: true},
		},
		"a test failed": {
			flux.Parts(rolledBack, flux.Released("True", "UpgradeSucceeded", flux.UpgradeSucceeded), flux.Condition("TestSuccess", "False", "TestFailed", testFailed), stalled),
			func() fluxstatus.Observation {
				o := idle(saysRolledBack)
				o.Mirrored = []metav1.Condition{{
					Type: "TestSuccess", Status: "False", Reason: "TestFailed", Message: testFailed, ObservedGeneration: 2, LastTransitionTime: flux.Noon,
				}}
				return o
			}(),
			&fluxstatus.Failure{Reason: "TestFailed", Message: testFailed},
		},
		"a dependency was not ready since, and hides what Ready said": {
			flux.Parts(flux.Ready("Unknown", "Progressing", inProgress), flux.Remediated(), releaseFail, stalled),
			idle(says("Unknown", "Progressing", inProgress)),
			&fluxstatus.Failure{Reason: "UpgradeFailed", Message: flux.UpgradeFailed, Earlier: true},
		},
		"health checks were canceled by a request, and no retry is left": {
			flux.Parts(flux.Ready("False", "HealthCheckCanceled", newRequest), flux.Remediated(), flux.Released("False", "UpgradeFailed", canceled), stalled),
			idle(says("False", "HealthCheckCanceled", newRequest)),
			&fluxstatus.Failure{Reason: "UpgradeFailed", Message: canceled, Canceled: true, Earlier: true},
		},
	} {
		t.Run(what, func(t *testing.T) {
			c.want.RolledBack = true
			compare(t, observe(2, flux.Attempted(2), flux.Observed(1), c.parts), secondGeneration(c.want, c.failure))
		})
	}
}

// secondGeneration adds to what Flux says all that is the same whenever the second generation was attempted.
func secondGeneration(says fluxstatus.Observation, failure *fluxstatus.Failure) fluxstatus.Observation {
	return seen(func(o *fluxstatus.Observation) {
		tried(o, "2/"+flux.Digest+"/")
		o.Activity, o.Reconciling, o.Observed, o.Stalled = says.Activity, says.Reconciling, says.Observed, says.Stalled
		o.Unfinished, o.FluxFailures = says.Unfinished, says.FluxFailures
		o.Ready, o.RolledBack, o.Failure, o.Mirrored = says.Ready, says.RolledBack, failure, says.Mirrored
	})
}

// TestFailuresOfAnotherGeneration: the spec was changed since the attempt.
func TestFailuresOfAnotherGeneration(t *testing.T) {
	waits := flux.OfGeneration(1, flux.Retrying(flux.RetryingAfter))
	for what, c := range map[string]struct {
		parts    flux.Part
		activity fluxstatus.Activity
	}{
		"the failure came after the change, and its condition claims the new generation": {
			flux.Parts(flux.Reconciling(flux.RunningRollback), failed), fluxstatus.Acting,
		},
		"Flux waited to retry: the change ends that": {flux.Parts(failed, waits), fluxstatus.Unseen},
		"unless it is suspended":                     {flux.Parts(failed, waits, flux.Suspended), fluxstatus.Waiting},
		"Flux rested":                                {flux.Parts(failed, flux.Observed(1)), fluxstatus.Unseen},
	} {
		t.Run(what, func(t *testing.T) {
			o := observe(2, flux.Attempted(1), flux.Observed(1), c.parts)
			if o.Attempted || o.Failure != nil || o.RolledBack || o.Activity != c.activity {
				t.Errorf("attempted %v, failure %v, rolled back %v, %s; want none of them, %s", o.Attempted, o.Failure, o.RolledBack, o.Activity, c.activity)
			}
		})
	}
}

// TestWhetherAFailedUpgradeMadeARevision: one that did is remedied at once, so that nothing may be asked of Flux.
func TestWhetherAFailedUpgradeMadeARevision(t *testing.T) {
	made := func(after time.Duration) *helmv2.Snapshot {
		s := flux.Snapshot(6, "failed", "upgrade")
		s.LastDeployed = flux.At(after)
		return s
	}
	for what, c := range map[string]struct {
		latest             *helmv2.Snapshot
		failures, upgrades int64
		want               fluxstatus.Activity
	}{
		"there is no revision":                           {nil, 1, 0, fluxstatus.Waiting},
		"the latest is one that ran before":              {flux.Snapshot(5, "deployed", "upgrade"), 1, 0, fluxstatus.Waiting},
		"the latest failed before, and was counted":      {made(-time.Second), 2, 1, fluxstatus.Waiting},
		"the latest was made in the same second":         {made(0), 2, 1, fluxstatus.Acting},
		"the latest was made since":                      {made(time.Second), 1, 1, fluxstatus.Acting},
		"the conditions are written, the history is not": {flux.Snapshot(5, "deployed", "upgrade"), 0, 0, fluxstatus.Acting},
		"so they are, after a failure before":            {made(-time.Second), 1, 1, fluxstatus.Acting},
	} {
		t.Run(what, func(t *testing.T) {
			counted := func(hr *helmv2.HelmRelease) { hr.Status.Failures, hr.Status.UpgradeFailures = c.failures, c.upgrades }
			o := observe(2, flux.Attempted(2), flux.Reconciling(flux.RunningUpgrade), failed, flux.History(c.latest), counted)
			if o.Activity != c.want {
				t.Errorf("got %s, want %s", o.Activity, c.want)
			}
		})
	}
}

// TestTriesByItself: only a failure that made no revision is counted in failures alone.
func TestTriesByItself(t *testing.T) {
	for what, c := range map[string]struct {
		parts flux.Part
		want  bool
	}{
		"a template does not render":              {flux.Parts(flux.Failures(1), flux.Reconciling(flux.RunningUpgrade), failed), true},
		"it is tried again":                       {flux.Parts(flux.Failures(1), flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)), true},
		"unless it is suspended":                  {flux.Parts(flux.Failures(1), flux.Reconciling(flux.RunningUpgrade), failed, flux.Suspended), false},
		"a revision was made, and is rolled back": {flux.Parts(flux.Failures(1), upgradeFailures(1), flux.Reconciling(flux.RunningRollback), failed), false},
		"its retries are spent":                   {flux.Parts(flux.Failures(1), upgradeFailures(1), failed, flux.Stalled("RetriesExceeded")), false},
		"strategy Retry has its own interval":     {flux.Parts(flux.Failures(1), flux.Retrying(flux.RetryingAfter), failed), false},
		"nothing failed":                          {flux.Reconciling(flux.RunningUpgrade), false},
	} {
		t.Run(what, func(t *testing.T) {
			hr := &helmv2.HelmRelease{}
			c.parts(hr)
			if got := fluxstatus.TriesByItself(hr); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func upgradeFailures(n int64) flux.Part {
	return func(hr *helmv2.HelmRelease) { hr.Status.UpgradeFailures = n }
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
