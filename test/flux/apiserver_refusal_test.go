// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/test/docs"
)

// What the API server itself refuses never becomes an object: the Kustomization says why, and nothing of the commit applies.
func TestWhatTheAPIServerRefusesIsSaidByTheKustomization(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "invalid")
	applied := m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	pods := m.pods("web")

	for _, row := range []struct{ file, gateway, message string }{
		{"both.yaml", gateway("both", "chart: {tag: 1.0.0, semver: 1.x}"), "set at most one of tag, semver and digest"},
		{"long.yaml", gateway(strings.Repeat("x", 54)), "a gateway name has at most 53 characters"},
		{"web.yaml", gateway("web", "release: {name: other}"), "a release cannot be moved"},
	} {
		changes := files{"web.yaml": gateway("web", "values: {message: never applied}")}
		changes[row.file] = row.gateway
		revision := m.push("Add "+row.file, changes)
		m.kustomizations.await(t, release, m.name, "failed for "+row.file, both(
			complains("ReconciliationFailed", row.message), attempted(revision)))
		m.tellsOfTheKustomization("web", applied, revision, row.message)
		back := files{"web.yaml": gateway("web")}
		if row.file != "web.yaml" {
			back[row.file] = removed
		}
		applied = m.commit("Take it back", back)
	}
	for _, s := range m.gateways.all("") {
		if s.object.Name != "web" || s.object.Generation != 1 && s.object.DeletionTimestamp == nil {
			t.Errorf("applied: %s", describe(s.object))
		}
	}
	equal(m, "pods", m.pods("web"), pods)
}

// tellsOfTheKustomization: it is Unknown for a moment at each of its retries.
func (m *team) tellsOfTheKustomization(name, applied, revision, message string) {
	m.Helper()
	begins := m.notApplied(applied, revision) + "ReconciliationFailed: "
	m.eventually(soon, "the story of what is stuck in git", func(context.Context) error {
		v := m.told(name).Verdict
		if len(v.Causes) != 1 || !strings.HasPrefix(docs.Settled(v.Causes[0]), begins) || !strings.Contains(v.Causes[0], message) {
			return fmt.Errorf("the causes are %q", v.Causes)
		}
		equal(m, "healthy", v.Healthy, false)
		equal(m, "advice", v.Advice, m.correctAndReconcile())
		return nil
	})
}
