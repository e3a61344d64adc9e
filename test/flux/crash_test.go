// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// This test runs alone: it kills what the others need.
func TestHelmControllerKilledInMidUpgradeEndsReady(t *testing.T) {
	m := newTeam(t, "crash")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: one}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))

	m.commit("A slow upgrade", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: two, minReadySeconds: 8}", newPods("two"))})
	m.eventually(soon, "a release that is pending", func(context.Context) error {
		if now := m.helmRevisions("web"); !slices.Contains(now, "2 pending-upgrade") {
			return fmt.Errorf("Helm has %v", now)
		}
		return nil
	})
	if err := local.Process(cluster.HelmController).Kill(); err != nil {
		t.Fatal(err)
	}
	equal(m, "what is left of the upgrade", m.helmRevisions("web"), []string{"1 deployed", "2 pending-upgrade"})
	if err := local.Process(cluster.HelmController).Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	g := m.gateways.await(t, 2*release, "web", "ready", func(g *v1alpha1.APIGateway) error { return isReady(revisionOf(g))(g) }).object
	equal(m, "chart", g.Status.Release.ChartVersion, "2.0.0")
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "2.0", "message": "two"})
	equal(m, "failures", g.Status.Failures, 0)
	m.neverReadyForTheOld("web", g)
}
