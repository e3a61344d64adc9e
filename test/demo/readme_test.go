// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sluice-gateway/sluice/internal/render"
)

// The class and the gateway that the README shows are valid, and belong together.
func TestReadmeExampleRenders(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) != 2 {
		t.Fatalf("README.md has %d blocks of YAML, want the class and the gateway", len(blocks))
	}
	set := &render.Set{}
	for _, block := range blocks {
		set.Add("README.md", block[1])
	}
	set.Add("values", []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: web-values, namespace: apis}, data: {values.yaml: '{logLevel: debug}'}}"))
	result := set.Render(render.Options{})
	for _, problem := range result.Problems {
		t.Error(problem)
	}
	if len(result.Objects) != 2 {
		t.Errorf("it renders %d objects, want an OCIRepository and a HelmRelease", len(result.Objects))
	}
}
