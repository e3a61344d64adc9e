// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

func TestTheRegistryIsDownBeforeAndAfterASuccess(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "registry")
	registry, err := local.StartPrivateRegistry(t.Context(), "registry-down")
	if err != nil {
		t.Fatal(err)
	}
	process := local.Process("registry-down")
	chart := m.pushWebTo(registry, "1.0.0")
	m.pushWebTo(registry, "2.0.0")
	m.logIn(registry)
	class := strings.Replace(strings.Replace(webClass("release: {interval: 3s}"), "$CHART", chart.URL, 1),
		"insecure: true", "insecure: true, secretRef: {name: registry-login}, interval: 2s", 1)

	m.kill(process)
	m.commit("Add a gateway while the registry is down", files{"class.yaml": class, "web.yaml": gateway("web", "values: {message: one}")})
	const refused = "connection refused"
	g := m.gateways.await(t, release, "web", "failed", both(
		notReady("OCIArtifactPullFailed", refused), inPhase(v1alpha1.PhaseFailed),
		says(v1alpha1.ConditionSourceReady, metav1.ConditionFalse, "OCIArtifactPullFailed", refused))).object
	equal(m, "failures", g.Status.Failures, 0)
	m.treeIs("registry-before", "web")
	m.start(process)
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.went("web", "Pending Unknown Pending", "Failed False OCIArtifactPullFailed", "(Pending|Progressing) Unknown (Pending|Progressing)",
		"Progressing Unknown Progressing", "Ready True Ready")

	// What runs is what is wanted, whether or not the registry is there; drift is repaired meanwhile.
	m.kill(process)
	m.mark()
	m.gateways.await(t, release, "web", "ready without a registry", both(isReady(1),
		says(v1alpha1.ConditionSourceReady, metav1.ConditionFalse, "OCIArtifactPullFailed", refused)))
	m.treeIs("registry-after", "web")
	m.deletedDeploymentComesBack("web")
	m.went("web", "Ready True Ready")
	m.commit("A new chart while the registry is down", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: two}")})
	m.gateways.await(t, release, "web", "degraded", both(notReady("OCIArtifactPullFailed", refused), inPhase(v1alpha1.PhaseDegraded)))
	m.treeIs("registry-change", "web")
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "one"})
	m.start(process)
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.went("web", "Progressing Unknown Pending", "Degraded False OCIArtifactPullFailed", "Progressing Unknown Pending",
		"Progressing Unknown Progressing", "Ready True Ready")
	m.neverWithoutSource("web")
	m.neverMixed("web")
}

// pushWebTo pushes testdata/chart, whose appVersion is the version's first two numbers.
func (m *team) pushWebTo(registry *cluster.PrivateRegistry, version string) cluster.Chart {
	m.Helper()
	chart, err := registry.PushChart(m.Context(), webDir(), version, withAppVersion(version[:3]))
	if err != nil {
		m.Fatal(err)
	}
	return chart
}

func TestSourceControllerIsDown(t *testing.T) {
	t.Parallel()
	sources := startShard(t, withOwnSources, cluster.SourceController)
	startShard(t, withOwnSources, cluster.HelmController, "--http-retry=1")
	m := newTeam(t, "nosource")
	web := func(lines ...string) files {
		return files{"web.yaml": inShard(withOwnSources, gateway("web", lines...))}
	}
	m.commit("Add a class", files{"class.yaml": webClass()})
	m.commit("Add a gateway", web("values: {message: one}"))
	m.gateways.await(t, release, "web", "ready", isReady(1))

	m.kill(sources)
	m.commit("A new chart, and nobody to pull it", web("chart: {tag: 2.0.0}", "values: {message: two}"))
	m.gateways.await(t, soon, "web", "waiting for the chart", says(v1alpha1.ConditionReady, metav1.ConditionUnknown, "Pending",
		"the HelmRelease switches to the desired state once OCIRepository nosource/nosource-", "has its artifact"))
	equal(m, "chart that runs", m.gateways.latest()["web"].Status.Release.ChartVersion, "1.0.0")
	m.treeIs("chart-not-pulled", "web")
	m.start(sources)
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.went("web", "Progressing Unknown Pending", "Progressing Unknown Progressing", "Ready True Ready")
	m.neverWithoutSource("web")
	m.neverMixed("web")

	// The chart that runs lies with source-controller too: without it not even values change.
	m.kill(sources)
	m.commit("Other values", web("chart: {tag: 2.0.0}", "values: {message: three}"))
	g := m.gateways.await(t, release, "web", "failed", both(notReady("ArtifactFailed"), inPhase(v1alpha1.PhaseDegraded))).object
	equal(m, "failures", g.Status.Failures, 0)
	m.treeIs("chart-not-served", "web")
	m.start(sources)
	m.gateways.await(t, release, "web", "ready", isReady(3))
	m.went("web", "Progressing Unknown Progressing", "Degraded False ArtifactFailed", "Progressing Unknown Progressing", "Ready True Ready")
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "2.0", "message": "three"})
}

func TestHelmControllerKilledInMidInstallEndsReady(t *testing.T) {
	t.Parallel()
	helm := startShard(t, "killed", cluster.HelmController)
	m := newTeam(t, "killed")
	m.commit("Add a gateway that is slow", files{"class.yaml": webClass(),
		"web.yaml": inShard("killed", gateway("web", "values: {message: one, minReadySeconds: 8}"))})
	m.awaitRevision("web", "1 pending-install")
	m.kill(helm)
	equal(m, "what is left of the install", m.helmRevisions("web"), []string{"1 pending-install"})
	m.start(helm)

	g := m.gateways.await(t, release, "web", "ready", ready).object
	equal(m, "failures", g.Status.Failures, 0)
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "one"})
	equal(m, "ready pods", len(m.pods("web")), 1)
	m.went("web", "Pending Unknown Pending", "Progressing Unknown (Progressing|PendingRelease)", "Progressing Unknown (Progressing|PendingRelease)",
		"Progressing Unknown (Progressing|PendingRelease)", "Ready True Ready")
}

// Flux uninstalls only what it has on record, and an install is put on record when it is over.
func TestAGatewayDeletedInAnInterruptedFirstInstallLeavesNothing(t *testing.T) {
	t.Parallel()
	helm := startShard(t, "midinstall", cluster.HelmController)
	m := newTeam(t, "midinstall")
	m.commit("Add a gateway that is slow", files{"class.yaml": webClass(),
		"web.yaml": inShard("midinstall", gateway("web", "values: {minReadySeconds: 8}"))})
	m.awaitRevision("web", "1 pending-install")
	m.kill(helm)
	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.await(t, soon, "web", "waiting", both(notReady("Deleting",
		"HelmRelease midinstall/web is being installed for the first time, and is deleted once that is over: Flux uninstalls only what it has on record"),
		inPhase(v1alpha1.PhaseDeleting)))
	m.start(helm)
	m.gateways.awaitGone(t, release, "web")
	equal(m, "Helm's revisions", len(m.helmRevisions("web")), 0)
	equal(m, "Deployments", len(m.deployments.latest()), 0)
}

// awaitRevision waits until Helm's storage has that revision in that state.
func (m *team) awaitRevision(name, revision string) {
	m.Helper()
	m.eventually(soon, "revision "+revision, func(context.Context) error {
		if now := m.helmRevisions(name); !slices.Contains(now, revision) {
			return fmt.Errorf("Helm has %v", now)
		}
		return nil
	})
}
