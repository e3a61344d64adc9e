// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Each environment has a Kustomization of its own, as each would have in a cluster of its own.
func TestOverlaysOfOneBase(t *testing.T) {
	t.Parallel()
	platform := newTeam(t, "shop-platform", under("./platform"))
	manifests := withLocalRegistry(t, "overlays")
	platform.commit("Add examples/overlays", manifests)

	staging, production := newEnvironment(t, "staging"), newEnvironment(t, "production")
	atStaging := staging.push("Add examples/overlays", manifests)
	atProduction := production.push("Add examples/overlays", manifests)
	staging.awaitReady(atStaging)
	production.awaitReady(atProduction)
	for name, m := range map[string]*team{"staging": staging, "production": production} {
		objects := m.printedOverlay(name)
		m.applied(objects, 2)
		m.allReady(objects)
	}
	equal(staging, "what staging runs", staging.whatRuns(), running{"1.1.0", 1, []any{"shop.staging.example.com"}})
	equal(production, "what production runs", production.whatRuns(), running{"1.0.0", 4, []any{"shop.example.com"}})
}

func newEnvironment(t *testing.T, name string) *team {
	t.Helper()
	return newTeamWithoutNamespace(t, "shop-"+name, under("./overlays/"+name), waits("2m"))
}

// printedOverlay is what `sluice render` prints of what kustomize builds of an overlay, and of the class.
func (m *team) printedOverlay(name string) []unstructured.Unstructured {
	m.Helper()
	tree := m.git.Dir()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(tree, "overlays", name))
	if err != nil {
		m.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		m.Fatal(err)
	}
	file := filepath.Join(m.TempDir(), "built.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		m.Fatal(err)
	}
	return printed(m.T, file, "--filename", filepath.Join(tree, "platform", "class.yaml"), "--share-sources")
}

// running is what an environment runs, as far as environments differ.
type running struct {
	Chart     string
	Pods      int
	Hostnames []any
}

func (m *team) whatRuns() running {
	m.Helper()
	var values struct{ Hostnames []any }
	if err := yaml.Unmarshal(m.releases.latest()["web"].Spec.Values.Raw, &values); err != nil {
		m.Fatal(err)
	}
	return running{
		Chart:     m.gateways.latest()["web"].Status.Release.ChartVersion,
		Pods:      len(m.readyPods(podsOf("web"))),
		Hostnames: values.Hostnames,
	}
}
