// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"

	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// The class and the gateway that the README shows are valid, and belong together; and so are they with what else it says of a
// class.
func TestReadmeExampleRenders(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) != 3 {
		t.Fatalf("README.md has %d blocks of YAML, want the class, the gateway, and what else a class says", len(blocks))
	}
	class, gateway, more := string(blocks[0][1]), string(blocks[1][1]), string(blocks[2][1])
	whole, err := merge2.MergeStrings(more, class, false, yaml.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	requireRenders(t, class, gateway)
	requireRenders(t, whole, gateway)
}

// The README selects by label, and so finds the gateway that the demo runs.
func TestTheReadmesSelectorFindsTheGateway(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	selectors := regexp.MustCompile(`sluice get -n (\S+) -l (\S+)`).FindAllStringSubmatch(string(readme), -1)
	if want := [][]string{{"sluice get -n apis -l team=shop", "apis", "team=shop"}}; !reflect.DeepEqual(selectors, want) {
		t.Fatalf("README.md selects by %q, want %q", selectors, want)
	}
	e, err := readExample(newPlaces(filepath.Join("..", "..")).example())
	if err != nil {
		t.Fatal(err)
	}
	if namespace := e.gateway.GetNamespace(); namespace != "apis" {
		t.Errorf("the gateway is in namespace %s, want apis", namespace)
	}
	if labels, want := e.gateway.GetLabels(), map[string]string{"team": "shop"}; !maps.Equal(labels, want) {
		t.Errorf("the gateway's labels are %v, want %v", labels, want)
	}
}

func requireRenders(t *testing.T, class, gateway string) {
	t.Helper()
	set := &render.Set{}
	set.Add("README.md", []byte(class))
	set.Add("README.md", []byte(gateway))
	set.Add("values", []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: web-values, namespace: apis}, data: {values.yaml: '{logLevel: debug}'}}"))
	result := set.Render(render.Options{Environment: plan.Environment{APIs: plan.ServedAPIs(nil)}})
	for _, problem := range result.Problems {
		t.Error(problem)
	}
	if len(result.Objects) != 2 {
		t.Errorf("it renders %d objects, want an OCIRepository and a HelmRelease", len(result.Objects))
	}
}
