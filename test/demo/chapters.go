// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"time"

	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// The versions at which the gateway's chart is pushed.
const (
	firstChart  = "1.0.0"
	secondChart = "1.1.0"
)

// failsAfter is the release timeout of the broken upgrade, short so that it fails soon.
const failsAfter = 15 * time.Second

// The team's commits. Each gives the edits of the example's gateway in full, so that a revert is the edits of before.
var (
	install = commit{"Add class and gateway", nil} // the class's chart is the first
	upgrade = commit{"Chart " + secondChart + " and three replicas", []edit{
		{"spec.chart.tag", secondChart},
		{"spec.infrastructure.replicas", "3"},
	}}
	broken = commit{"Try another image", append([]edit{
		{"spec.infrastructure.images.gateway", "docker.io/envoyproxy/envoy:" + cluster.BrokenTag},
		{"spec.release.timeout", failsAfter.String()},
	}, upgrade.edits...)}
	revert = commit{`Revert "` + broken.message + `"`, upgrade.edits}
)

// chapters are the demo. Deadlines are generous: they are to end a demo that hangs, not to measure it.
func (d *demo) chapters() []chapter {
	const soon, later = time.Minute, 3 * time.Minute
	return []chapter{
		{"A cluster on this machine, with Flux and Sluice", []step{
			{"cluster started", later, supervisor, d.startCluster},
			{"charts pushed", soon, cluster.Registry, d.pushCharts},
			{"Sluice installed", soon, operator.ProcessName, d.installOperator},
			{"Flux follows a repository", soon, cluster.KustomizeController, d.followRepository},
		}},
		{"A commit becomes a running gateway", []step{
			{"commit", soon, supervisor, d.push(install)},
			{"Kustomization applied", soon, cluster.KustomizeController, d.until(d.kustomizationApplied)},
			{"OCIRepository pulled", soon, cluster.SourceController, d.until(d.sourcePulled(firstChart))},
			{"pods running", later, cluster.ControllerManager, d.until(d.podsRunning)},
			{"HelmRelease installed", later, cluster.HelmController, d.until(d.releaseDeployed(firstChart))},
			{"APIGateway Ready", soon, operator.ProcessName, d.noteReady(d.until(d.gatewayReady))},
			{"Kustomization Ready", soon, cluster.KustomizeController, d.until(d.kustomizationReady)},
		}},
		{"An upgrade of chart and values, in one commit", []step{
			{"commit", soon, supervisor, d.push(upgrade)},
			{"Kustomization applied", soon, cluster.KustomizeController, d.until(d.kustomizationApplied)},
			{"OCIRepository pulled", soon, cluster.SourceController, d.until(d.sourcePulled(secondChart))},
			{"HelmRelease upgraded", later, cluster.HelmController, d.until(d.releaseDeployed(secondChart))},
			{"APIGateway Ready", soon, operator.ProcessName, d.until(d.gatewayReady)},
			{"one Helm revision", soon, cluster.HelmController, d.oneRevision},
			{"pods running", soon, cluster.ControllerManager, d.until(d.podsRunning)},
		}},
		{"A broken upgrade", []step{
			{"commit", soon, supervisor, d.push(broken)},
			{"Kustomization applied", soon, cluster.KustomizeController, d.until(d.kustomizationApplied)},
			{"new pods never ready", soon, cluster.ControllerManager, d.until(d.podsStuck)},
			{"HelmRelease failed", later, cluster.HelmController, d.until(d.upgradeFailed)},
			{"HelmRelease rolled back", later, cluster.HelmController, d.until(d.rolledBack)},
			{"APIGateway says so", soon, operator.ProcessName, d.until(d.gatewayRolledBack)},
			{"pods running", later, cluster.ControllerManager, d.until(d.podsRunning)},
		}},
		{"The revert", []step{
			{"commit", soon, supervisor, d.push(revert)},
			{"Kustomization applied", soon, cluster.KustomizeController, d.until(d.kustomizationApplied)},
			{"APIGateway Ready", later, operator.ProcessName, d.until(d.gatewayReady)},
			{"Kustomization Ready", soon, cluster.KustomizeController, d.until(d.kustomizationReady)},
		}},
		{"What there is now", []step{
			d.command(soon, (*cluster.Cluster).Kubectl, "kubectl", "get", "apigateway", "-A"),
			d.command(soon, (*cluster.Cluster).Flux, "flux", "get", "helmreleases", "-A"),
			d.command(soon, (*cluster.Cluster).Flux, "flux", "get", "sources", "oci", "-A"),
		}},
	}
}
