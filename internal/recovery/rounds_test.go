// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

var noon = metav1.NewTime(time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC))

func at(d time.Duration) *metav1.Time {
	t := metav1.NewTime(noon.Add(d))
	return &t
}

// failed is the record of a failure at the desired state "b".
func failed(attempt, message string, time *metav1.Time) *v1alpha1.FailureStatus {
	return &v1alpha1.FailureStatus{DesiredHash: "b", Reason: "UpgradeFailed", Message: message, Attempt: attempt, Time: time}
}

// resting is a HelmRelease at the desired state "b" that Flux has finished with, and what its latest attempt came to.
func resting(attempt string, failure *fluxstatus.Failure) fluxstatus.Observation {
	return fluxstatus.Observation{Carries: true, Activity: fluxstatus.Idle, DesiredHash: "b", Attempt: attempt, Failure: failure, FluxFailures: 7}
}

func with(o fluxstatus.Observation, set func(*fluxstatus.Observation)) fluxstatus.Observation {
	set(&o)
	return o
}

func TestCount(t *testing.T) {
	timeout := &fluxstatus.Failure{Reason: "UpgradeFailed", Message: "timeout"}
	acting := func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Acting }
	before := func(failures int64, last *v1alpha1.FailureStatus) v1alpha1.APIGatewayStatus {
		return v1alpha1.APIGatewayStatus{Failures: failures, LastFailure: last}
	}
	for what, c := range map[string]struct {
		previous v1alpha1.APIGatewayStatus
		o        fluxstatus.Observation
		strategy v1alpha1.RemediationStrategy
		want     recovery.Rounds
	}{
		"nothing failed": {before(0, nil), resting("1", nil), "Rollback", recovery.Rounds{}},
		"the first failure, while Flux still rolls back": {
			before(0, nil), with(resting("1", timeout), acting), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", nil)},
		},
		"the same failure, now that Flux rests: the wait begins": {
			before(1, failed("1", "timeout", nil)), resting("1", timeout), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", &noon)},
		},
		"a revision runs on": {
			before(1, failed("1", "timeout", nil)), with(resting("1", timeout), func(o *fluxstatus.Observation) { o.Latest = &helmv2.Snapshot{Version: 7, Status: "deployed"} }), "Rollback",
			recovery.Rounds{Failures: 1, Last: &v1alpha1.FailureStatus{DesiredHash: "b", Reason: "UpgradeFailed", Message: "timeout", Attempt: "1", Revision: 7, Time: &noon}},
		},
		"the failed revision does not": {
			before(1, failed("1", "timeout", nil)), with(resting("1", timeout), func(o *fluxstatus.Observation) { o.Latest = &helmv2.Snapshot{Version: 7, Status: "failed"} }), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", &noon)},
		},
		"the clock was set back a day": {
			before(1, failed("1", "timeout", at(24*time.Hour))), resting("1", timeout), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", &noon)},
		},
		"another replica's clock is ahead": {
			before(1, failed("1", "timeout", at(time.Minute))), resting("1", timeout), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", at(time.Minute))},
		},
		"the clock was set back in mid-upgrade": {
			before(1, failed("1", "timeout", at(24*time.Hour))), with(resting("1", nil), acting), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", at(24*time.Hour))},
		},
		"the same failure, looked at again: the wait goes on": {
			before(1, failed("1", "timeout", at(-time.Minute))), resting("1", timeout), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", at(-time.Minute))},
		},
		"the same attempt says more: its rollback failed too": {
			before(1, failed("1", "timeout", nil)), resting("1", &fluxstatus.Failure{Reason: "RollbackFailed", Message: "no"}), "Rollback",
			recovery.Rounds{Failures: 1, Last: &v1alpha1.FailureStatus{DesiredHash: "b", Reason: "RollbackFailed", Message: "no", Attempt: "1", Time: &noon}},
		},
		"the next attempt runs: what is known stays": {
			before(1, failed("1", "timeout", at(-time.Minute))), with(resting("2", nil), acting), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", at(-time.Minute))},
		},
		"the next attempt failed": {
			before(1, failed("1", "timeout", at(-time.Minute))), resting("2", timeout), "Rollback",
			recovery.Rounds{Failures: 2, Last: failed("2", "timeout", &noon)},
		},
		"Flux rests, and does not say any more that it failed": {
			before(1, failed("1", "timeout", nil)), resting("1", nil), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", &noon)},
		},
		"a canceled attempt says nothing": {
			before(0, nil), resting("1", &fluxstatus.Failure{Reason: "UpgradeFailed", Message: "context canceled", Canceled: true}), "Rollback",
			recovery.Rounds{},
		},
		"an earlier failure that nobody saw counts": {
			before(0, nil), resting("2", &fluxstatus.Failure{Reason: "UpgradeFailed", Message: "timeout", Earlier: true}), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("2", "timeout", &noon)},
		},
		"an earlier failure under a request that was lost does not count again": {
			before(1, failed("1", "timeout", at(-time.Minute))), resting("2", &fluxstatus.Failure{Reason: "UpgradeFailed", Message: "timeout", Earlier: true}), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", at(-time.Minute))},
		},
		"another desired state starts at zero": {
			before(4, failed("1", "timeout", at(-time.Minute))), with(resting("1", nil), func(o *fluxstatus.Observation) { o.DesiredHash = "c" }), "Rollback",
			recovery.Rounds{},
		},
		"so it does while its chart's digest is unknown": {
			before(4, failed("1", "timeout", at(-time.Minute))), with(resting("1", nil), func(o *fluxstatus.Observation) { o.DesiredHash, o.Carries = "", false }), "Rollback",
			recovery.Rounds{},
		},
		"another desired state that fails at once is at one": {
			before(4, failed("1", "timeout", at(-time.Minute))), with(resting("2", timeout), func(o *fluxstatus.Observation) { o.DesiredHash = "c" }), "Rollback",
			recovery.Rounds{Failures: 1, Last: &v1alpha1.FailureStatus{DesiredHash: "c", Reason: "UpgradeFailed", Message: "timeout", Attempt: "2", Time: &noon}},
		},
		"the HelmRelease does not carry the desired state: its failures are not ours": {
			before(1, failed("1", "timeout", nil)), with(resting("2", timeout), func(o *fluxstatus.Observation) { o.Carries = false }), "Rollback",
			recovery.Rounds{Failures: 1, Last: failed("1", "timeout", nil)},
		},
		"a count without a failure is no record": {before(3, nil), resting("1", nil), "Rollback", recovery.Rounds{}},
		"with strategy Retry it is Flux's own count": {
			before(3, failed("1", "timeout", at(-time.Minute))), with(resting("1", timeout), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Waiting }), "Retry",
			recovery.Rounds{Failures: 7, Last: failed("1", "timeout", at(-time.Minute))},
		},
		"with strategy Retry the count stays while the next attempt runs": {
			before(3, failed("1", "timeout", at(-time.Minute))), with(resting("1", nil), acting), "Retry",
			recovery.Rounds{Failures: 3, Last: failed("1", "timeout", at(-time.Minute))},
		},
	} {
		t.Run(what, func(t *testing.T) {
			previous := *c.previous.DeepCopy()
			if got := recovery.Count(c.previous, c.o, c.strategy, noon); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %d %+v, want %d %+v", got.Failures, got.Last, c.want.Failures, c.want.Last)
			}
			if !reflect.DeepEqual(c.previous, previous) {
				t.Errorf("the previous status became %+v", c.previous)
			}
		})
	}
}

func TestNextRetryWaits(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	minutes := func(list ...int) (out []time.Duration) {
		for _, n := range list {
			out = append(out, time.Duration(n)*time.Minute)
		}
		return out
	}
	for what, c := range map[string]struct {
		threshold int
		backoff   plan.Backoff
		want      []time.Duration
	}{
		"the defaults: five waits that grow, then an hour each": {
			5, plan.Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}, minutes(1, 2, 4, 8, 15, 60, 60, 60),
		},
		"a threshold of one": {
			1, plan.Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}, minutes(1, 60, 60),
		},
		"a high threshold stays at max": {
			9, plan.Backoff{Initial: 3 * time.Minute, Max: 10 * time.Minute, AfterThreshold: time.Hour}, minutes(3, 6, 10, 10, 10, 10, 10, 10, 10, 60),
		},
		"initial above max is max": {
			5, plan.Backoff{Initial: time.Hour, Max: time.Minute, AfterThreshold: 2 * time.Minute}, minutes(1, 1, 1, 1, 1, 2),
		},
		"durations that would overflow": {
			5, plan.Backoff{Initial: longest/2 + 1, Max: longest, AfterThreshold: longest}, []time.Duration{longest/2 + 1, longest, longest},
		},
		"a threshold that is never reached": {
			math.MaxInt32, plan.Backoff{Initial: 0, Max: time.Minute, AfterThreshold: time.Hour}, minutes(0, 0, 0),
		},
	} {
		t.Run(what, func(t *testing.T) {
			remediation := plan.Remediation{Strategy: "Rollback", FailureThreshold: c.threshold, Backoff: c.backoff}
			for i, want := range c.want {
				rounds := recovery.Rounds{Failures: int64(i + 1), Last: failed("1", "timeout", &noon)}
				if got := recovery.NextRetry(rounds, remediation); got == nil || got.Sub(noon.Time) != want {
					t.Errorf("after failure %d: %v, want %v later than %v", i+1, got, want, noon)
				}
			}
		})
	}
}

func TestNextRetryIsNone(t *testing.T) {
	remediation := plan.Remediation{Strategy: "Rollback", FailureThreshold: 5, Backoff: plan.Backoff{Initial: time.Minute, Max: time.Hour}}
	for what, c := range map[string]struct {
		rounds   recovery.Rounds
		strategy v1alpha1.RemediationStrategy
	}{
		"nothing failed":                         {recovery.Rounds{}, "Rollback"},
		"Flux has not finished with the failure": {recovery.Rounds{Failures: 1, Last: failed("1", "timeout", nil)}, "Rollback"},
		"Flux retries by itself":                 {recovery.Rounds{Failures: 1, Last: failed("1", "timeout", &noon)}, "Retry"},
	} {
		t.Run(what, func(t *testing.T) {
			remediation.Strategy = c.strategy
			if got := recovery.NextRetry(c.rounds, remediation); got != nil {
				t.Errorf("got %v, want none", got)
			}
		})
	}
}
