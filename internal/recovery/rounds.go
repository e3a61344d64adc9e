// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package recovery is the fifth stage of the flow: it counts the failed rounds of one desired state, says when the next one
// starts, and what to ask of Flux now. It is pure: the schedule follows from the gateway's status, so that it survives a
// restart and is the same for every worker.
package recovery

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// Rounds are the failed attempts at one desired state.
type Rounds struct {
	// Failures counts rounds; with strategy Retry it is Flux's own count.
	Failures int64
	// Last failure; nil when there was none.
	Last *v1alpha1.FailureStatus
}

// Count brings the rounds of a previous status up to date. Another desired state starts at zero. Each attempt counts once,
// however often it is looked at; a canceled one says nothing about the release and does not count.
func Count(previous v1alpha1.APIGatewayStatus, o fluxstatus.Observation, strategy v1alpha1.RemediationStrategy, now metav1.Time) Rounds {
	rounds := Rounds{Failures: previous.Failures, Last: previous.LastFailure}
	if rounds.Last != nil && o.DesiredHash != "" && rounds.Last.DesiredHash != o.DesiredHash {
		rounds = Rounds{}
	}
	if !o.Carries || o.Failure == nil || o.Failure.Canceled {
		return rounds
	}
	if rounds.Last == nil || rounds.Last.Attempt != o.Attempt {
		rounds = Rounds{Failures: rounds.Failures + 1, Last: newFailure(o, now)}
	} else {
		rounds.Last = updated(rounds.Last, o)
	}
	if strategy == v1alpha1.StrategyRetry {
		rounds.Failures = o.FluxFailures
	}
	return rounds
}

func newFailure(o fluxstatus.Observation, now metav1.Time) *v1alpha1.FailureStatus {
	return &v1alpha1.FailureStatus{
		DesiredHash: o.DesiredHash,
		Reason:      o.Failure.Reason,
		Message:     o.Failure.Message,
		Attempt:     o.Attempt,
		Time:        &now,
	}
}

// updated takes over what the same attempt says now: a failed upgrade is first UpgradeFailed, then perhaps RollbackFailed.
func updated(last *v1alpha1.FailureStatus, o fluxstatus.Observation) *v1alpha1.FailureStatus {
	failure := last.DeepCopy()
	failure.Reason, failure.Message = o.Failure.Reason, o.Failure.Message
	return failure
}

// NextRetry is when the next round starts; nil when Flux retries by itself or nothing failed.
func NextRetry(rounds Rounds, remediation plan.Remediation) *metav1.Time {
	if rounds.Failures == 0 || rounds.Last == nil || rounds.Last.Time == nil || remediation.Strategy == v1alpha1.StrategyRetry {
		return nil
	}
	return &metav1.Time{Time: rounds.Last.Time.Add(wait(rounds.Failures, remediation))}
}

// wait doubles from initial up to max, and is afterThreshold once the threshold is reached.
func wait(failures int64, remediation plan.Remediation) time.Duration {
	backoff := remediation.Backoff
	if failures >= int64(remediation.FailureThreshold) {
		return backoff.AfterThreshold
	}
	d := backoff.Initial
	for i := int64(1); i < failures && d < backoff.Max; i++ {
		d *= 2
	}
	return min(d, backoff.Max)
}
