// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// Two shards of Flux's controllers and of the operator carry a gateway each, and neither touches the other's: the work goes on
// in one while the other's operator is away. (The suite's own controllers of Flux serve what is of no shard.)
func TestTwoShardsCarryAGatewayEachAndOneMovesBetweenThem(t *testing.T) {
	t.Parallel()
	const served, shard = "gateway.sluice.dev/shards", firstShard
	helm, source := startShard(t, shard, cluster.HelmController), startShard(t, shard, cluster.SourceController)
	metrics := map[string]string{shard: freeAddress(t), "": freeAddress(t)}
	ofShard := startOperator(t, "sluice-shard1", served, "--watch-label-selector="+v1alpha1.LabelShard+"="+shard,
		"--enable-leader-election", "--metrics-addr="+metrics[shard])
	startOperator(t, "sluice-no-shard", served, "--watch-label-selector=!"+v1alpha1.LabelShard,
		"--enable-leader-election", "--metrics-addr="+metrics[""])
	m, begin := newTeam(t, "shards"), time.Now()
	one := func(message string) string { return gateway("one", "values: {message: "+message+"}") }
	m.commit("Add a gateway to each", files{"class.yaml": webClass("controllerName: " + served),
		"one.yaml": inShard(shard, one("first")), "two.yaml": gateway("two")})
	m.gateways.await(t, release, "one", "ready", isReady(1))
	m.gateways.await(t, release, "two", "ready", isReady(1))
	equal(m, "leases", m.leases("gateway.sluice.dev-shards"), []string{"gateway.sluice.dev-shards-42da7484", "gateway.sluice.dev-shards-73fdc1be"})
	equal(m, "gateways that each operator tells of", [2][]string{m.toldOf(metrics[shard]), m.toldOf(metrics[""])}, [2][]string{{"one"}, {"two"}})
	others := map[string]string{helmv2.HelmReleaseKind: local.Process(cluster.HelmController).LogPath(),
		sourcev1.OCIRepositoryKind: local.Process(cluster.SourceController).LogPath()}
	sourceOf := func(name string) string { return m.releases.latest()[name].Spec.ChartRef.Name }
	equal(m, "HelmReleases of the shard", m.servedBy(helm.LogPath(), helmv2.HelmReleaseKind), []string{"one"})
	equal(m, "HelmReleases of no shard", m.servedBy(others[helmv2.HelmReleaseKind], helmv2.HelmReleaseKind), []string{"two"})
	equal(m, "sources of the shard", m.servedBy(source.LogPath(), sourcev1.OCIRepositoryKind), []string{sourceOf("one")})
	equal(m, "sources of no shard", m.servedBy(others[sourcev1.OCIRepositoryKind], sourcev1.OCIRepositoryKind), []string{sourceOf("two")})

	m.looked("one") // nobody else writes it from now on
	before := m.releases.latest()["one"]
	m.kill(ofShard)
	m.commit("Change both, and claim a release across shards", files{"one.yaml": inShard(shard, one("second")),
		"two.yaml": gateway("two", "values: {message: second}"), "copy.yaml": gateway("copy", "release: {name: one}")})
	m.gateways.await(t, release, "two", "ready", isReady(2))
	m.gateways.await(t, soon, "copy", "refused", notReady("Conflict",
		`spec.release.name: release "one" in target namespace "shards" belongs to APIGateway shards/one already: make this gateway with another release name`))
	equal(m, "HelmRelease while its operator is away", m.releases.latest()["one"].ResourceVersion, before.ResourceVersion)
	m.start(ofShard)
	m.gateways.await(t, release, "one", "ready", isReady(2))

	pods := m.pods("one")
	m.commit("Move a gateway to where no shard is", files{"one.yaml": one("second"), "copy.yaml": removed})
	m.releases.await(t, soon, "one", "moved", func(hr *helmv2.HelmRelease) error {
		if hr.Labels[v1alpha1.LabelShard] != "" || hr.Status.ObservedGeneration != hr.Generation {
			return fmt.Errorf("%s", describe(hr))
		}
		return nil
	})
	m.gateways.await(t, soon, "one", "ready with what ran", isReady(2))
	equal(m, "Helm's revisions", m.helmRevisions("one"), []string{"1 superseded", "2 deployed"})
	equal(m, "pods", m.pods("one"), pods)
	for _, state := range m.releases.all("one") {
		if state.object.UID != before.UID || state.gone || state.object.Generation > 1 && !slices.Equal(state.object.Finalizers, []string{helmv2.HelmReleaseFinalizer}) {
			t.Errorf("in its move the HelmRelease was %s with finalizers %v", state.object.UID, state.object.Finalizers)
		}
	}
	equal(m, "its source, shared with the other", sourceOf("one"), sourceOf("two"))

	// In the middle of an upgrade it stays with the helm-controller that carries that out. (A commit of the label might come
	// when the upgrade is over.)
	m.push("Change it there", files{"one.yaml": gateway("one", "values: {message: third, minReadySeconds: 8}", newPods("third"))})
	m.releases.await(t, soon, "one", "being upgraded", upgrades)
	m.mark()
	m.patch(&v1alpha1.APIGateway{}, "one", `{"metadata": {"labels": {"`+v1alpha1.LabelShard+`": "`+shard+`"}}}`)
	m.gateways.await(t, soon, "one", "still upgraded", func(g *v1alpha1.APIGateway) error {
		if g.Labels[v1alpha1.LabelShard] != shard || upgrades(m.releases.latest()["one"]) != nil {
			return fmt.Errorf("%s", describe(g))
		}
		return nil
	})
	moved := m.releases.await(t, release, "one", "moved back", func(hr *helmv2.HelmRelease) error {
		if hr.Labels[v1alpha1.LabelShard] != shard {
			return fmt.Errorf("%s", describe(hr))
		}
		return nil
	}).object
	equal(m, "HelmReleases of no shard", m.servedBy(others[helmv2.HelmReleaseKind], helmv2.HelmReleaseKind), []string{"one", "two"})
	equal(m, "revision that it moved with", fmt.Sprint(moved.Status.History.Latest().Version, " ", moved.Status.History.Latest().Status), "3 deployed")
	m.gateways.await(t, release, "one", "ready", isReady(3))
	equal(m, "Helm's revisions", m.helmRevisions("one"), []string{"1 superseded", "2 superseded", "3 deployed"})
	equal(m, "what the operators wrote of the class", m.writesOfClass(begin), []string{"patch ", "update status"})
	m.commit("Remove it there", files{"one.yaml": removed})
	m.gateways.awaitGone(t, soon, "one")
	m.leftOnly("one")
}

// upgrades passes a HelmRelease that is being upgraded.
func upgrades(hr *helmv2.HelmRelease) error {
	c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReconcilingCondition)
	if c == nil || c.ObservedGeneration != hr.Generation || !strings.HasPrefix(c.Message, "Running 'upgrade'") {
		return fmt.Errorf("%s", describe(hr))
	}
	return nil
}

// writesOfClass are the successful writes of all operators to the team's class, of whatever verb and subresource, sorted.
func (m *team) writesOfClass(since time.Time) []string {
	m.Helper()
	var all []string
	for _, e := range m.requests(since, func(e cluster.AuditEvent) bool {
		return e.IsWrite() && e.Code < 300 && e.Resource == "apigatewayclasses" && e.Name == m.name
	}) {
		all = append(all, e.Verb+" "+e.Subresource)
	}
	slices.Sort(all)
	return all
}

// leases whose names begin so.
func (m *team) leases(prefix string) []string {
	m.Helper()
	list := &coordinationv1.LeaseList{}
	if err := api.List(m.Context(), list, client.InNamespace(operator.Namespace)); err != nil {
		m.Fatal(err)
	}
	var names []string
	for _, lease := range list.Items {
		if strings.HasPrefix(lease.Name, prefix) {
			names = append(names, lease.Name)
		}
	}
	slices.Sort(names)
	return names
}

// toldOf are the team's gateways of which metrics tell.
func (m *team) toldOf(address string) []string {
	m.Helper()
	names := map[string]bool{}
	for _, s := range scrape(m.T, address)["sluice_apigateway_info"] {
		if s.Labels["namespace"] == m.name {
			names[s.Labels["name"]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// servedBy are the team's objects of a kind of which the log of a controller of Flux tells.
func (m *team) servedBy(log, kind string) []string {
	m.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		m.Fatal(err)
	}
	names := map[string]bool{}
	for line := range bytes.Lines(text) {
		var said map[string]json.RawMessage
		var about struct{ Name, Namespace string }
		if json.Unmarshal(line, &said) == nil && json.Unmarshal(said[kind], &about) == nil && about.Namespace == m.name {
			names[about.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
