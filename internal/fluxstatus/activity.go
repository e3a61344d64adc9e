// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus

import (
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Activity is what helm-controller is at, read from the HelmRelease's Reconciling condition.
type Activity string

// Activities.
const (
	// Unseen: it has not looked at this generation yet, and may start any moment.
	Unseen Activity = "Unseen"
	// Idle: it has finished with this generation, or is told to leave it alone.
	Idle Activity = "Idle"
	// Preparing: it looks at dependencies, source and values; a Helm action may start any moment.
	Preparing Activity = "Preparing"
	// Blocked: one of these fails, and it looks again now and then.
	Blocked Activity = "Blocked"
	// Acting: a Helm action runs.
	Acting Activity = "Acting"
	// Correcting: drift is being corrected, which makes no revision.
	Correcting Activity = "Correcting"
	// Retrying: the next attempt starts by itself, at once.
	Retrying Activity = "Retrying"
	// Waiting: an attempt is over, and the next one starts by itself after a while.
	Waiting Activity = "Waiting"
)

// What helm-controller writes into Reconciling's message (v1.6.4, reconcileRelease and AtomicRelease.Reconcile).
const (
	fulfillingPrerequisites = "Fulfilling prerequisites"
	retryingAfter           = "retrying after"
	runningAction           = "Running '"
	runningCorrection       = "Running 'correct cluster drift'"
	runningInstall          = "Running 'install'"
	runningUpgrade          = "Running 'upgrade'"
)

// reasonPendingRelease is the reason of Ready after a release was unlocked (v1.6.4, Unlock).
const reasonPendingRelease = "PendingRelease"

// Settled tells whether no Helm action runs or is about to, so that a request cancels nothing.
func (o Observation) Settled() bool {
	switch o.Activity {
	case Idle, Blocked, Retrying, Waiting:
		return !o.Deleting
	}
	return false
}

// Resting tells whether Flux has finished with the latest attempt, its remediation included, and starts no other at once.
func (o Observation) Resting() bool {
	return o.Activity == Idle || o.Activity == Waiting
}

// observeActivity judges by the Reconciling condition, once all else has been observed.
func (o *Observation) observeActivity(hr *helmv2.HelmRelease) {
	c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReconcilingCondition)
	if c == nil || c.Status != metav1.ConditionTrue {
		o.Activity = o.activityAtRest()
		return
	}
	o.Reconciling = c.Message
	o.Activity = o.activityAt(c, hr)
	pauses := o.Activity == Blocked || o.Activity == Retrying || o.Activity == Waiting
	if pauses && c.ObservedGeneration != hr.Generation && !o.Suspended {
		o.Activity = Unseen // a change ends the pause
	}
}

func (o *Observation) activityAtRest() Activity {
	if o.Observed || o.Suspended {
		return Idle
	}
	return Unseen
}

func (o *Observation) activityAt(c *metav1.Condition, hr *helmv2.HelmRelease) Activity {
	switch {
	case c.Reason == meta.ProgressingWithRetryReason && strings.HasPrefix(c.Message, retryingAfter):
		return Waiting
	case c.Reason == meta.ProgressingWithRetryReason:
		return Retrying
	case c.Message == fulfillingPrerequisites && o.prerequisiteFails():
		return Blocked
	case c.Message == fulfillingPrerequisites:
		return Preparing
	case strings.HasPrefix(c.Message, runningCorrection):
		return Correcting
	case o.releaseFails(c) && madeNoRevision(hr.Status, o.Latest, c.LastTransitionTime):
		return Waiting
	}
	return Acting
}

// prerequisiteFails: Ready=False keeps the reason of an earlier failure or interruption while prerequisites are looked at.
func (o *Observation) prerequisiteFails() bool {
	return o.Ready.Status == metav1.ConditionFalse && !IsReleaseFailure(o.Ready.Reason) && !IsInterruption(o.Ready.Reason)
}

// releaseFails: an install or upgrade ended. While it runs Ready is Unknown, and what follows it changes the message.
func (o *Observation) releaseFails(c *metav1.Condition) bool {
	release := strings.HasPrefix(c.Message, runningInstall) || strings.HasPrefix(c.Message, runningUpgrade)
	return release && o.Ready.Status == metav1.ConditionFalse &&
		(o.Ready.Reason == helmv2.InstallFailedReason || o.Ready.Reason == helmv2.UpgradeFailedReason)
}

// madeNoRevision: it ended before Helm stored a revision, as when a template does not render. Flux then leaves Reconciling as
// it was, neither remedies nor stalls, and tries again ever more seldom. Such a failure counts in failures alone. Otherwise a
// revision that is younger than the condition is there and about to be remedied, or will be with the second half of Flux's
// patch, which writes conditions first.
func madeNoRevision(status helmv2.HelmReleaseStatus, latest *helmv2.Snapshot, began metav1.Time) bool {
	return status.Failures > status.InstallFailures+status.UpgradeFailures &&
		(latest == nil || latest.LastDeployed.Time.Before(began.Time))
}

// TriesByItself tells whether Flux goes on trying after an attempt that made no revision, after waits of its own that grow:
// while it waits, and while it tries.
func TriesByItself(hr *helmv2.HelmRelease) bool {
	c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReconcilingCondition)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == meta.ProgressingReason && !hr.Spec.Suspend &&
		hr.Status.Failures > hr.Status.InstallFailures+hr.Status.UpgradeFailures
}

// IsInterruption tells whether a reason of Ready=False says that an action was interrupted, which Flux makes up for.
func IsInterruption(reason string) bool {
	return reason == meta.HealthCheckCanceledReason || reason == reasonPendingRelease
}
