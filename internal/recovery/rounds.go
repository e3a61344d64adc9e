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
	rounds := known(previous, o)
	if !o.Carries {
		return rounds
	}
	if o.Failure != nil && !o.Failure.Canceled {
		rounds = rounds.with(o)
		if strategy == v1alpha1.StrategyRetry {
			rounds.Failures = o.FluxFailures
		}
	}
	return rounds.timed(o, now)
}

// known are the rounds on record that were at the present desired state.
func known(previous v1alpha1.APIGatewayStatus, o fluxstatus.Observation) Rounds {
	last := previous.LastFailure
	if last == nil || last.DesiredHash != o.DesiredHash {
		return Rounds{}
	}
	return Rounds{Failures: previous.Failures, Last: last}
}

// with adds the failure observed, or takes over what the same attempt says now: a failed upgrade is first UpgradeFailed,
// then perhaps RollbackFailed.
func (r Rounds) with(o fluxstatus.Observation) Rounds {
	if r.Last == nil || r.Last.Attempt != o.Attempt && !o.Failure.Earlier {
		return Rounds{Failures: r.Failures + 1, Last: newFailure(o)}
	}
	last := r.Last.DeepCopy()
	last.Reason, last.Message, last.Revision = o.Failure.Reason, o.Failure.Message, runsOn(o)
	return Rounds{Failures: r.Failures, Last: last}
}

func newFailure(o fluxstatus.Observation) *v1alpha1.FailureStatus {
	return &v1alpha1.FailureStatus{
		DesiredHash: o.DesiredHash,
		Reason:      o.Failure.Reason,
		Message:     o.Failure.Message,
		Attempt:     o.Attempt,
		Revision:    runsOn(o),
	}
}

// runsOn is the revision that a failed attempt left running; 0 when none does.
func runsOn(o fluxstatus.Observation) int64 {
	if !o.Deployed() {
		return 0
	}
	return int64(o.Latest.Version)
}

// skew is how much the clocks of two replicas may differ.
const skew = time.Minute

// timed notes when Flux had finished with the failed attempt. The wait for the next one counts from there: a rollback that
// takes longer than the wait would otherwise leave none. A time yet to come is of a clock that has been set back since: the
// wait starts anew, else there would be no attempt until that time.
func (r Rounds) timed(o fluxstatus.Observation, now metav1.Time) Rounds {
	if r.Last == nil || !o.Resting() || r.Last.Time != nil && r.Last.Time.Sub(now.Time) <= skew {
		return r
	}
	last := r.Last.DeepCopy()
	last.Time = &now
	return Rounds{Failures: r.Failures, Last: last}
}

// NextRetry is when the next round starts; nil when Flux retries by itself, has not finished with the last one, or nothing
// failed.
func NextRetry(rounds Rounds, remediation plan.Remediation) *metav1.Time {
	if rounds.Failures == 0 || rounds.Last == nil || rounds.Last.Time == nil || remediation.Strategy == v1alpha1.StrategyRetry {
		return nil
	}
	return &metav1.Time{Time: rounds.Last.Time.Add(wait(rounds.Failures, remediation))}
}

// wait doubles from initial up to max, and is afterThreshold for every round after the threshold's own: with a threshold
// of 5 five waits grow, and the sixth is the long one.
func wait(failures int64, remediation plan.Remediation) time.Duration {
	backoff := remediation.Backoff
	if failures > int64(remediation.FailureThreshold) {
		return backoff.AfterThreshold
	}
	d := min(backoff.Initial, backoff.Max)
	for i := int64(1); i < failures && d > 0 && d < backoff.Max; i++ {
		d = doubled(d, backoff.Max)
	}
	return d
}

// doubled is never more than limit, and cannot overflow.
func doubled(d, limit time.Duration) time.Duration {
	if d > limit/2 {
		return limit
	}
	return 2 * d
}
