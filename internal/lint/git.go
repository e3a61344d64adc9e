// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// forGit says what rendered objects lack without the operator.
func (l *linter) forGit() {
	if !l.ForGit {
		return
	}
	used := map[string]bool{}
	for p := range l.Set.Plans(l.Options) {
		used[p.Plan.ClassName] = true
		l.gatewayForGit(p.Gateway, p.Plan.Remediation.Strategy)
	}
	for i := range l.all {
		if used[l.all[i].Name] {
			l.classForGit(&l.all[i])
		}
	}
}

func (l *linter) gatewayForGit(g *v1alpha1.APIGateway, strategy v1alpha1.RemediationStrategy) {
	own := deref(g.Spec.Remediation)
	if own.Strategy != nil {
		l.rests(gatewayName(g), *own.Strategy)
	}
	l.remediation(gatewayName(g), own, strategy)
	if g.Orphans() {
		l.add(Warning, RuleOperatorOnly, gatewayName(g), "spec.deletionPolicy",
			"Orphan acts through the operator alone: when the HelmRelease is removed from git, Flux uninstalls the release; suspend it before")
	}
}

func (l *linter) classForGit(class *v1alpha1.APIGatewayClass) {
	own := deref(class.Spec.Remediation)
	strategy := v1alpha1.StrategyRollback
	if own.Strategy != nil && *own.Strategy != "" {
		strategy = *own.Strategy
	}
	l.rests(className(class.Name), strategy)
	l.remediation(className(class.Name), own, strategy)
	l.add(Warning, RuleOperatorOnly, className(class.Name), "spec.chart",
		"chart and values switch together through the operator alone: when both change, the HelmRelease is SourceNotReady until the new "+
			"chart is there, and one that is not there keeps it so")
}

// rests is said where the strategy is written, or else at the class, which could say it for all.
func (l *linter) rests(object string, strategy v1alpha1.RemediationStrategy) {
	if strategy == v1alpha1.StrategyRetry || strategy == "" {
		return
	}
	l.add(Warning, RuleRestsAfterFailure, object, "spec.remediation.strategy", fmt.Sprintf(
		"with %s the HelmRelease rests after its last retry until something changes, since nobody starts another attempt; Retry suits "+
			"rendered objects better", strategy))
}

func (l *linter) remediation(object string, own v1alpha1.Remediation, strategy v1alpha1.RemediationStrategy) {
	const message = "acts through the operator alone"
	if own.FailureThreshold != nil {
		l.add(Warning, RuleOperatorOnly, object, "spec.remediation.failureThreshold", message)
	}
	if own.Backoff != nil && strategy != v1alpha1.StrategyRetry {
		l.add(Warning, RuleOperatorOnly, object, "spec.remediation.backoff", message)
	}
}
