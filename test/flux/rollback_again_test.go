// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"testing"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// ready passes a gateway that is Ready at whatever revision.
func ready(g *v1alpha1.APIGateway) error { return isReady(revisionOf(g))(g) }

func TestARollbackOfARollbackAndThenTheRevert(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "again")
	good := gateway("web", "values: {message: good}")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": good})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	pods := m.pods("web")
	settings := map[string]string{"chart": "1.0", "message": "good"}

	for _, row := range []struct{ chart, message, failed, runs string }{
		{"2.0.0", "first", "chart version 2.0.0 (revision 2) failed", "chart version 1.0.0 (revision 3) runs instead"},
		{"1.0.0", "second", "chart version 1.0.0 (revision 4) failed", "chart version 1.0.0 (revision 5) runs instead"},
	} {
		m.commit("Break it: "+row.message, files{"web.yaml": gateway("web", "chart: {tag: "+row.chart+"}", brokenImage, shortTimeout,
			"values: {message: "+row.message+"}")})
		g := m.gateways.await(t, release, "web", "rolled back", both(
			notReady("RolledBack", row.failed, row.runs), inPhase(v1alpha1.PhaseDegraded), failedTimes(1))).object
		equal(m, "settings", m.configs.latest()["web-settings"].Data, settings)
		equal(m, "pods", m.pods("web"), pods)
		m.neverTrue("web", g.Generation)
		m.went("web", "(Pending|Progressing) Unknown Pending", "Progressing Unknown Progressing", "Degraded False UpgradeFailed", "Degraded False RolledBack")
	}
	m.treeIs("rollback-again", "web")

	m.commit("Revert", files{"web.yaml": good})
	g := m.gateways.await(t, release, "web", "ready", ready).object
	equal(m, "chart", g.Status.Release.ChartVersion, "1.0.0")
	equal(m, "settings after the revert", m.configs.latest()["web-settings"].Data, settings)
	equal(m, "pods after the revert", m.pods("web"), pods)
	m.went("web", "Progressing Unknown (Pending|Progressing)", "Progressing Unknown Progressing", "Ready True Ready")

	m.commit("Go on", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: next}")})
	m.gateways.await(t, release, "web", "ready", isReady(g.Status.Release.Revision+1))
	equal(m, "settings at the end", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "2.0", "message": "next"})
}

const patchable = "policy: {allowPatches: true}"

// patchedImage is a change of patches alone.
func patchedImage(image string) []string {
	return []string{"patches:", "- {target: {kind: Deployment}, patch: '- {op: replace, path: /spec/template/spec/containers/0/image, value: \"" + image + "\"}'}"}
}

// Flux takes a failed change of patches, once it is rolled back, for done: Ready=True, though the patch is not applied.
func TestAChangeOfPatchesAloneThatFailsIsNeverReady(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "patches")
	m.create(deployer)
	with := func(image string) string {
		return gateway("web", append(patchedImage(image), quickRounds, shortTimeout)...)
	}
	told := func(image string) string { return gateway("told", append(patchedImage(image), shortTimeout)...) }
	m.commit("Add gateways", files{
		"class.yaml": webClass(patchable, "release: {serviceAccountName: deployer}"),
		"web.yaml":   with("registry.example.com/patched:1.0"),
		"told.yaml":  told("registry.example.com/patched:1.0"),
	})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.gateways.await(t, release, "told", "ready", isReady(1))
	equal(m, "images", m.runs("web"), []string{"registry.example.com/patched:1.0"})
	pods := m.pods("web")

	m.commit("Patch them to what does not start", files{
		"web.yaml": with("registry.example.com/patched:broken"), "told.yaml": told("registry.example.com/patched:broken")})
	m.gateways.await(t, release, "told", "rolled back", both(notReady("RolledBack"), failedTimes(1)))
	m.treeIs("patches", "told")
	for failures := int64(1); failures <= 3; failures++ {
		m.gateways.await(t, release, "web", show(failures)+" failures, rolled back", both(
			notReady("RolledBack", "failed and was rolled back"), inPhase(v1alpha1.PhaseDegraded), failedTimes(failures)))
	}
	m.neverTrue("web", m.gateways.latest()["web"].Generation)
	equal(m, "pods after rollbacks", m.pods("web"), pods)
	for _, s := range m.gateways.sinceMark("web") {
		if s.object.Status.Failures > 0 && condition(s.object, v1alpha1.ConditionReady).Status != "False" {
			t.Errorf("not False between two rounds: %s", describe(s.object))
		}
	}

	m.commit("Patch it to what starts", files{"web.yaml": with("registry.example.com/patched:2.0")})
	g := m.gateways.await(t, release, "web", "ready", ready).object
	equal(m, "failures", g.Status.Failures, 0)
	equal(m, "images at the end", m.runs("web"), []string{"registry.example.com/patched:2.0"})
	m.neverReadyForTheOld("web", g)
}

// Patches, values and the chart of a Ready gateway change in every combination.
func TestNoChangeShowsAStaleTrue(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "stale")
	m.create(deployer)
	var now [3]int // patches, values, chart
	manifest := func() string {
		patch := "- {target: {kind: ConfigMap}, patch: '- {op: add, path: /data/patched, value: \"" + show(now[0]) + "\"}'}"
		return gateway("web", "chart: {tag: "+show(now[2]%2+1)+".0.0}", "infrastructure: {replicas: 0}", "values: {message: '"+show(now[1])+"'}", "patches:", patch)
	}
	m.commit("Add a gateway", files{"class.yaml": webClass(patchable, "release: {serviceAccountName: deployer}"), "web.yaml": manifest()})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	for change := 1; change < 8; change++ {
		for part := range now {
			now[part] += change >> part & 1
		}
		m.commit("Change "+show(now), files{"web.yaml": manifest()})
		g := m.gateways.await(t, release, "web", "ready for "+show(now), isReady(int64(change+1))).object
		m.neverReadyForTheOld("web", g)
		m.went("web", "Progressing Unknown (Pending|Progressing)", "Progressing Unknown Progressing", "Ready True Ready")
		equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{
			"chart": show(now[2]%2+1) + ".0", "message": show(now[1]), "patched": show(now[0]),
		})
	}
}
