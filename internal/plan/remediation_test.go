// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRemediation(t *testing.T) {
	backoff := Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}
	for name, c := range map[string]struct {
		class, gateway string
		want           Remediation
	}{
		"the defaults":          {"{}", "{}", Remediation{Strategy: "Rollback", FailureThreshold: 5, Backoff: backoff}},
		"the class's":           {"{strategy: Uninstall, retries: 3}", "{}", Remediation{Strategy: "Uninstall", Retries: 3, FailureThreshold: 5, Backoff: backoff}},
		"the gateway's over it": {"{strategy: Uninstall, retries: 3}", "{strategy: Rollback}", Remediation{Strategy: "Rollback", Retries: 3, FailureThreshold: 5, Backoff: backoff}},
		"the gateway's, also 0": {"{retries: 3}", "{retries: 0}", Remediation{Strategy: "Rollback", FailureThreshold: 5, Backoff: backoff}},
		"the rounds": {"{failureThreshold: 3, backoff: {max: 4m, afterThreshold: 2h}}", "{failureThreshold: 7, backoff: {initial: 2s}}", Remediation{
			Strategy: "Rollback", FailureThreshold: 7,
			Backoff: Backoff{Initial: 2 * time.Second, Max: 4 * time.Minute, AfterThreshold: 2 * time.Hour},
		}},
		"Retry":                      {"{}", "{strategy: Retry}", Remediation{Strategy: "Retry", FailureThreshold: 5, Backoff: backoff}},
		"Retry with its interval":    {"{}", "{strategy: Retry, backoff: {initial: 2m}}", Remediation{Strategy: "Retry", FailureThreshold: 5, Backoff: Backoff{Initial: 2 * time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}}},
		"the class's Retry":          {"{strategy: Retry, backoff: {initial: 2m}}", "{}", Remediation{Strategy: "Retry", FailureThreshold: 5, Backoff: Backoff{Initial: 2 * time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}}},
		"the interval of that Retry": {"{strategy: Retry, backoff: {initial: 2m}}", "{backoff: {initial: 3m}}", Remediation{Strategy: "Retry", FailureThreshold: 5, Backoff: Backoff{Initial: 3 * time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := made(t, input(t, "spec: {remediation: "+c.class+"}", "spec: {remediation: "+c.gateway+"}"))
			require.Equal(t, c.want, p.Remediation)
		})
	}
}

func TestRemediationThatCannotActIsRefused(t *testing.T) {
	const underRetry = ": does not act with strategy Retry, where only backoff.initial and failureThreshold do; remove it"
	for name, c := range map[string]struct {
		class, gateway string
		want           []string
	}{
		"under Retry": {
			"{}", "{strategy: Retry, retries: 1, backoff: {max: 1m, afterThreshold: 1m}}",
			[]string{
				"InvalidSpec spec.remediation.retries" + underRetry,
				"InvalidSpec spec.remediation.backoff.max" + underRetry,
				"InvalidSpec spec.remediation.backoff.afterThreshold" + underRetry,
			},
		},
		"under the class's Retry, also as 0": {
			"{strategy: Retry}", "{retries: 0}",
			[]string{"InvalidSpec spec.remediation.retries" + underRetry},
		},
		"a first wait that is longer than the class's longest": {
			"{backoff: {max: 5m}}", "{backoff: {initial: 6m}}",
			[]string{"InvalidSpec spec.remediation.backoff.initial: 6m0s is more than backoff.max, 5m0s; set max to no less"},
		},
		"numbers and durations out of range": {
			"{}", "{strategy: Retry, retries: -1, failureThreshold: 0, backoff: {initial: 0s}}",
			[]string{
				"InvalidSpec spec.remediation.retries: -1 is not within 0 to 100",
				"InvalidSpec spec.remediation.failureThreshold: 0 is not within 1 to 2147483647",
				"InvalidSpec spec.remediation.backoff.initial: 0s is not greater than 0",
				"InvalidSpec spec.remediation.retries" + underRetry,
			},
		},
		"a strategy that is none": {
			"{}", "{strategy: retry}",
			[]string{`InvalidSpec spec.remediation.strategy: "retry" is not one of "Rollback", "Retry", "Uninstall"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, refusal(t, input(t, "spec: {remediation: "+c.class+"}", "spec: {remediation: "+c.gateway+"}")))
		})
	}
}

func TestASingleRevisionIsKeptWhereNothingIsRolledBack(t *testing.T) {
	const class = "spec: {release: {maxHistory: 1}, remediation: {strategy: Retry}}"
	require.Equal(t, 1, made(t, input(t, class, "{}")).Release.MaxHistory)
	require.Equal(t,
		[]string{"InvalidSpec spec.release.maxHistory: 1 leaves Helm no revision to roll back to; with remediation.strategy Rollback keep at least 2, or 0 for all"},
		refusal(t, input(t, class, "spec: {remediation: {strategy: Rollback}}")))
	require.Equal(t, 2, made(t, input(t, class, "spec: {release: {maxHistory: 2}, remediation: {strategy: Rollback}}")).Release.MaxHistory)
}
