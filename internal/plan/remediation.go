// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	defaultRetries          = 0
	defaultFailureThreshold = 5
	defaultBackoffInitial   = time.Minute
	defaultBackoffMax       = 15 * time.Minute
	defaultBackoffAfter     = time.Hour
)

// planRemediation lays the gateway's remediation over the class's, leaf by leaf, and that over the defaults.
func planRemediation(own, base v1alpha1.Remediation) Remediation {
	ownBackoff, baseBackoff := deref(own.Backoff), deref(base.Backoff)
	return Remediation{
		Strategy:         strategyOf(own, base),
		Retries:          int(value(defaultRetries, own.Retries, base.Retries)),
		FailureThreshold: int(value(defaultFailureThreshold, own.FailureThreshold, base.FailureThreshold)),
		Backoff: Backoff{
			Initial:        duration(defaultBackoffInitial, ownBackoff.Initial, baseBackoff.Initial),
			Max:            duration(defaultBackoffMax, ownBackoff.Max, baseBackoff.Max),
			AfterThreshold: duration(defaultBackoffAfter, ownBackoff.AfterThreshold, baseBackoff.AfterThreshold),
		},
	}
}

func strategyOf(own, base v1alpha1.Remediation) v1alpha1.RemediationStrategy {
	return text(v1alpha1.StrategyRollback, own.Strategy, base.Strategy)
}

// checkRemediation refuses what one document says of remediation, given the strategy that comes out of both.
func checkRemediation(r *v1alpha1.Remediation, strategy v1alpha1.RemediationStrategy, wrong *faults) {
	if r == nil {
		return
	}
	checkOneOf("spec.remediation.strategy", r.Strategy, wrong,
		v1alpha1.StrategyRollback, v1alpha1.StrategyRetry, v1alpha1.StrategyUninstall)
	checkRange("spec.remediation.retries", r.Retries, 0, 100, wrong)
	checkRange("spec.remediation.failureThreshold", r.FailureThreshold, 1, math.MaxInt32, wrong)
	backoff := deref(r.Backoff)
	checkDuration("spec.remediation.backoff.initial", backoff.Initial, wrong)
	checkDuration("spec.remediation.backoff.max", backoff.Max, wrong)
	checkDuration("spec.remediation.backoff.afterThreshold", backoff.AfterThreshold, wrong)
	if strategy == v1alpha1.StrategyRetry {
		refuseUnderRetry("spec.remediation.retries", r.Retries != nil, wrong)
		refuseUnderRetry("spec.remediation.backoff.max", backoff.Max != nil, wrong)
		refuseUnderRetry("spec.remediation.backoff.afterThreshold", backoff.AfterThreshold != nil, wrong)
	}
}

// checkBackoff refuses a first wait longer than the longest, which could not act.
func checkBackoff(r Remediation, wrong *faults) {
	if r.Strategy != v1alpha1.StrategyRetry && r.Backoff.Initial > r.Backoff.Max {
		wrong.invalid("spec.remediation.backoff.initial", "%s is more than backoff.max, %s; set max to no less", r.Backoff.Initial, r.Backoff.Max)
	}
}

// refuseUnderRetry: Flux retries without end then, so that only backoff.initial and failureThreshold can act.
func refuseUnderRetry(field string, set bool, wrong *faults) {
	if set {
		wrong.invalid(field, "does not act with strategy Retry, where only backoff.initial and failureThreshold do; remove it")
	}
}

func duration(fallback time.Duration, candidates ...*metav1.Duration) time.Duration {
	return value(metav1.Duration{Duration: fallback}, candidates...).Duration
}
