// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// specs are what the function is told of an example beside its files, as its flags.txt tells render.
var specs = map[string]string{
	"openshell":                    "{apiVersions: [v1]}",
	"wso2":                         "{apiVersions: [v1]}",
	"overlays/overlays/staging":    "{files: [class.yaml]}",
	"overlays/overlays/production": "{files: [class.yaml]}",
}

// In an overlay of each example the function puts the Flux objects in the place of the gateways that the example's
// expected.yaml holds.
func TestAsATransformerItMakesWhatEachExampleExpects(t *testing.T) {
	root, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	folders := exampleFolders(t, root)
	if len(folders) < 12 {
		t.Fatalf("only %d examples: %q", len(folders), folders)
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(root, folder, "expected.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			spec := specs[folder]
			if spec == "" {
				spec = "{}"
			}
			inFolder(t, map[string]string{
				"overlay/kustomization.yaml": "resources: [../" + filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder) + "]\ntransformers: [render.yaml]\n",
				"overlay/render.yaml":        render(spec),
			})
			copyExample(t, root, folder)
			text, err := build("overlay")
			if err != nil {
				t.Fatal(err)
			}
			flux, _ := ofFlux(text)
			if got := strings.Join(flux, "---\n"); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// exampleFolders have both a kustomization and what is expected of it.
func exampleFolders(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "expected.yaml" {
			return err
		}
		folder := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(root, folder, "kustomization.yaml")); err == nil {
			found = append(found, folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// copyExample copies an example, with the base of an overlay beside it, and the class of an overlay into the one that runs the
// function.
func copyExample(t *testing.T, root, folder string) {
	t.Helper()
	top, _, isOverlay := strings.Cut(folder, "/")
	if !isOverlay {
		if err := os.CopyFS(filepath.Join(".", folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.CopyFS(".", os.DirFS(filepath.Join(root, top))); err != nil {
		t.Fatal(err)
	}
	class, err := os.ReadFile(filepath.Join("platform", "class.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("overlay", "class.yaml"), class, 0o644); err != nil {
		t.Fatal(err)
	}
}
