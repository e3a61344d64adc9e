// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// example is a folder of examples/, and what a team that commits it gets.
type example struct {
	folder string
	// namespace of the team, which the folder brings.
	namespace string
	// objects that render prints.
	objects int
	// shows is what the example is for.
	shows func(*team)
}

var examples = []example{
	{folder: "quickstart", namespace: "apis", objects: 2, shows: func(m *team) { runsTheImage(m); m.typesTheDocuments() }},
	{folder: "shared-source", namespace: "orders", objects: 3, shows: sharesOneSource},
	{folder: "postgres", namespace: "portal", objects: 2, shows: storesInPostgres},
	{folder: "wso2", namespace: "storefront", objects: 2, shows: runsTheCatalogueGateway},
	{folder: "openshell", namespace: "agents", objects: 2, shows: runsWithAllThatIsBesideIt},
	{folder: "drift-and-patches", namespace: "checkout", objects: 2, shows: patchesAndLeavesReplicasAlone},
	{folder: "depends-on", namespace: "catalog", objects: 3, shows: waitsForTheOther},
	{folder: "orphan", namespace: "legacy", objects: 2, shows: outlivesItsGateway},
}

// examplesApart are the examples with a test of their own.
var examplesApart = []string{
	"private-registry", // TestAPrivateRegistryWhoseChartsAreSigned
	"overlays",         // TestOverlaysOfOneBase
	"remote-cluster",   // TestTheExampleOfARemoteCluster
	"migrate",          // TestAReleaseOfAnotherOperatorIsTakenOver
}

func TestExamplesRunAndAreWhatRenderPrints(t *testing.T) {
	t.Parallel()
	for _, e := range examples {
		t.Run(e.folder, func(t *testing.T) {
			t.Parallel()
			m := newTeamWithoutNamespace(t, e.namespace, waits("2m"))
			m.runExample(e.folder, withLocalRegistry(t, e.folder), e.objects)
			e.shows(m)
		})
	}
}

func TestEveryExampleIsRun(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		isRun := slices.Contains(examplesApart, entry.Name()) ||
			slices.ContainsFunc(examples, func(e example) bool { return e.folder == entry.Name() })
		if entry.IsDir() && !isRun {
			t.Errorf("no test runs examples/%s", entry.Name())
		}
	}
}

// runExample commits an example's files and compares what comes of them with what render prints.
func (m *team) runExample(folder string, manifests files, count int) {
	m.Helper()
	m.awaitReady(m.push("Add examples/"+folder, manifests))
	objects := printed(m.T, m.git.Dir(), append(exampleFlags(m.T, folder), "--share-sources")...)
	m.applied(objects, count)
	m.allReady(objects)
}

// allReady: the gateways whose HelmReleases were printed are Ready at their first revision, now.
func (m *team) allReady(objects []unstructured.Unstructured) {
	m.Helper()
	for _, o := range objects {
		if o.GetKind() != helmv2.HelmReleaseKind {
			continue
		}
		g := &v1alpha1.APIGateway{}
		if err := api.Get(m.Context(), client.ObjectKeyFromObject(&o), g); err != nil {
			m.Fatal(err)
		}
		if err := isReady(1)(g); err != nil {
			m.Error(err)
		}
	}
}

// exampleFlags tell render, of an example whose class asks, what a cluster like this one serves.
func exampleFlags(t *testing.T, folder string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", folder, "flags.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if flags, found := strings.CutPrefix(line, "expected.yaml "); found {
			return strings.Fields(flags)
		}
	}
	t.Fatalf("examples/%s/flags.txt has no line for expected.yaml", folder)
	return nil
}

// readExample reads all files of an example but its expected*.yaml, which nobody commits beside the gateway.
func readExample(t *testing.T, folder string) files {
	t.Helper()
	found := files{}
	tree := os.DirFS(filepath.Join(root, "examples", folder))
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "expected") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// withLocalRegistry is readExample with the cluster's registry in the place of the example's.
func withLocalRegistry(t *testing.T, folder string) files {
	t.Helper()
	if err := pushExampleCharts(); err != nil {
		t.Fatal(err)
	}
	manifests := readExample(t, folder)
	manifests.useRegistry(t, local.Registry())
	return manifests
}

var exampleRegistry = regexp.MustCompile(`(?m)^    url: oci://registry\.example\.com/(.+)$`)

// useRegistry puts a registry, which speaks plain HTTP, in the place of the example's.
func (f files) useRegistry(t *testing.T, address string) {
	t.Helper()
	classes := 0
	for path, text := range f {
		if exampleRegistry.MatchString(text) {
			f[path] = exampleRegistry.ReplaceAllString(text, "    url: oci://"+address+"/$1\n    insecure: true")
			classes++
		}
	}
	if classes != 1 {
		t.Fatalf("%d files have a line like %s", classes, exampleRegistry)
	}
}

// pushExampleCharts pushes what the examples' classes and gateways name, once: a version pushed again would be another chart.
var pushExampleCharts = sync.OnceValue(func() error {
	gateway := filepath.Join(root, "charts", "gateway")
	apiPlatform := filepath.Join(root, "test", "flux", "testdata", "api-platform-gateway")
	openshell := filepath.Join(root, "test", "flux", "testdata", "openshell")
	for _, c := range []struct{ folder, version string }{
		{gateway, "1.0.0"}, {gateway, "1.1.0"}, {apiPlatform, "1.2.0"}, {openshell, "0.0.101"},
	} {
		if _, err := local.PushChart(context.Background(), c.folder, c.version); err != nil {
			return err
		}
	}
	return nil
})
