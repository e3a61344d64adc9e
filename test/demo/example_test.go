// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The demo's commits are edits of examples/quickstart: they must fit it as it is.
func TestCommitsFitTheExample(t *testing.T) {
	d := &demo{at: newPlaces(filepath.Join("..", "..")), chartURL: "oci://127.0.0.1:5000/charts/gateway"}
	cases := map[string]struct {
		commit commit
		want   []string
	}{
		"the install takes the class's chart from the local registry": {install, []string{
			"url: oci://127.0.0.1:5000/charts/gateway", "insecure: true", "tag: " + firstChart, "replicas: 2",
		}},
		"the upgrade changes chart and values": {upgrade, []string{"tag: " + secondChart, "replicas: 3"}},
		"the broken upgrade adds an image that never gets ready, and a short timeout": {broken, []string{
			"tag: " + secondChart, "replicas: 3", "gateway: docker.io/envoyproxy/envoy:broken", "timeout: 15s",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files, err := d.manifests(c.commit)
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, text := range files {
				all += text
			}
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in\n%s", want, all)
				}
			}
		})
	}
}

func TestExampleLeavesRenderedObjectsOut(t *testing.T) {
	e, err := readExample(newPlaces(filepath.Join("..", "..")).example())
	if err != nil {
		t.Fatal(err)
	}
	files, err := e.files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"class.yaml", "gateway.yaml", "kustomization.yaml", "namespace.yaml"}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	if !strings.HasPrefix(files["class.yaml"], "# What the platform team writes") {
		t.Errorf("the comments are lost:\n%s", files["class.yaml"])
	}
}
