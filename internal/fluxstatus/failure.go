// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus

import (
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Failure is a failed release.
type Failure struct {
	Reason  string
	Message string
	// Canceled: the action was interrupted from outside, which says nothing about the release.
	Canceled bool
	// Earlier: Ready does not say so any more. A request for another attempt may have been lost since, so that it cannot be
	// told from the attempt's identity whether this failure is a new one.
	Earlier bool
}

// observeFailure reads the failure of the latest attempt. A condition's own observedGeneration can run ahead of the attempt
// that it reports, so that it alone proves nothing. One that lags behind is what an earlier attempt left: Ready stays as it
// was while drift is corrected or a test runs.
func (o *Observation) observeFailure(conditions []metav1.Condition) {
	switch {
	case !o.Attempted || !o.Ready.Current:
	case o.Ready.Status == metav1.ConditionFalse && IsReleaseFailure(o.Ready.Reason):
		o.RolledBack = o.Ready.Reason == helmv2.RollbackSucceededReason
		o.Failure = failure(conditions, o.Ready)
	case o.Stalled && (o.Ready.Status == metav1.ConditionUnknown || IsInterruption(o.Ready.Reason)):
		o.observeEarlierFailure(conditions)
	}
}

// observeEarlierFailure: once a failing prerequisite has replaced what Ready said of a failure, Flux does not say it again. It
// finds its retries spent and stalls with Ready=Unknown; what happened is left in the conditions that Ready summed up. So it
// is after an interruption.
func (o *Observation) observeEarlierFailure(conditions []metav1.Condition) {
	remediated := apimeta.FindStatusCondition(conditions, helmv2.RemediatedCondition)
	o.RolledBack = remediated != nil && remediated.Status == metav1.ConditionTrue &&
		remediated.Reason == helmv2.RollbackSucceededReason
	if c := cause(conditions); c != nil {
		o.Failure = failure(conditions, Statement{Reason: c.Reason, Message: c.Message})
		o.Failure.Earlier = true
	}
}

func uninstallSucceeded(conditions []metav1.Condition) bool {
	c := apimeta.FindStatusCondition(conditions, helmv2.RemediatedCondition)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == helmv2.UninstallSucceededReason
}

func failure(conditions []metav1.Condition, ready Statement) *Failure {
	f := &Failure{Reason: ready.Reason, Message: ready.Message}
	if c := cause(conditions); c != nil && remedied(ready.Reason) {
		f.Reason, f.Message = c.Reason, c.Message
	}
	f.Canceled = strings.Contains(f.Message, "context canceled")
	return f
}

// remedied: the reason tells of the remediation, not of what was wrong.
func remedied(reason string) bool {
	return reason == helmv2.RollbackSucceededReason || reason == helmv2.UninstallSucceededReason
}

// cause is why a release had to be remedied: the release itself failed, or its test.
func cause(conditions []metav1.Condition) *metav1.Condition {
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
