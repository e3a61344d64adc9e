// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// install says the remediation of a failed first install: it is uninstalled, so that a corrected spec starts clean even
// when it changes an immutable field; with Retry it stays for inspection.
func install(p *plan.Plan) *helmv2.Install {
	in := &helmv2.Install{
		CRDs:            p.Release.CRDs,
		CreateNamespace: p.Release.CreateNamespace,
	}
	if p.Remediation.Strategy == v1alpha1.StrategyRetry {
		in.Strategy = &helmv2.InstallStrategy{Name: string(helmv2.ActionStrategyRetryOnFailure), RetryInterval: retryInterval(p)}
		return in
	}
	in.Strategy = &helmv2.InstallStrategy{Name: string(helmv2.ActionStrategyRemediateOnFailure)}
	in.Remediation = &helmv2.InstallRemediation{Retries: p.Remediation.Retries, RemediateLastFailure: ptr(true)}
	return in
}

// upgrade says the remediation of a failed upgrade. The chart's name may change in place: otherwise a chart of another
// name would uninstall everything first.
func upgrade(p *plan.Plan) *helmv2.Upgrade {
	up := &helmv2.Upgrade{
		CRDs:                    p.Release.CRDs,
		ChartNameChangeStrategy: helmv2.ChartNameChangeStrategyInPlaceUpdate,
	}
	if p.Remediation.Strategy == v1alpha1.StrategyRetry {
		up.Strategy = &helmv2.UpgradeStrategy{Name: string(helmv2.ActionStrategyRetryOnFailure), RetryInterval: retryInterval(p)}
		return up
	}
	strategy := helmv2.RollbackRemediationStrategy
	if p.Remediation.Strategy == v1alpha1.StrategyUninstall {
		strategy = helmv2.UninstallRemediationStrategy
	}
	up.Strategy = &helmv2.UpgradeStrategy{Name: string(helmv2.ActionStrategyRemediateOnFailure)}
	up.Remediation = &helmv2.UpgradeRemediation{
		Retries:              p.Remediation.Retries,
		RemediateLastFailure: ptr(true),
		Strategy:             &strategy,
	}
	return up
}

func retryInterval(p *plan.Plan) *metav1.Duration {
	return &metav1.Duration{Duration: p.Remediation.Backoff.Initial}
}

func ptr[T any](v T) *T { return &v }
