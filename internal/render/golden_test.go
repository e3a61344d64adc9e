// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/render"
)

var update = flag.Bool("update", false, "write testdata/*.out.yaml anew")

const classes = "testdata/classes.yaml"

// TestGolden renders every testdata/*.in.yaml, together with the classes, into its out.yaml.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, in := range inputs {
		name := strings.TrimSuffix(filepath.Base(in), ".in.yaml")
		t.Run(name, func(t *testing.T) {
			got := toYAML(t, readFiles(t, classes, in).Render(render.Options{Naming: fluxobjects.OwnSources}))
			out := filepath.Join("testdata", name+".out.yaml")
			if *update {
				if err := os.WriteFile(out, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What is printed is only of other kinds than what is read, and the order of the files changes nothing.
func TestOutputBesideTheInput(t *testing.T) {
	files, err := filepath.Glob("testdata/shared.*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	options := render.Options{Naming: fluxobjects.OwnSources}
	want := toYAML(t, readFiles(t, classes, files[0]).Render(options))
	got := toYAML(t, readFiles(t, files[1], files[0], classes).Render(options))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Two namings of one input differ in the names of the sources alone, and gateways that share one print it once.
func TestSharedSources(t *testing.T) {
	set := readFiles(t, classes, "testdata/shared.in.yaml")
	own := set.Render(render.Options{Naming: fluxobjects.OwnSources})
	shared := set.Render(render.Options{Naming: fluxobjects.SharedSources})
	want := []string{
		"OCIRepository apis/full-", "OCIRepository apis/plain-", "OCIRepository shop/plain-",
		"HelmRelease apis/a", "HelmRelease apis/b", "HelmRelease apis/c", "HelmRelease shop/a",
	}
	if got := names(shared.Objects); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if len(own.Objects) != 8 {
		t.Errorf("with a source of its own each: %q", names(own.Objects))
	}
}

func readFiles(t *testing.T, files ...string) *render.Set {
	t.Helper()
	set := &render.Set{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set.Add(file, data)
	}
	return set
}

func toYAML(t *testing.T, result render.Result) string {
	t.Helper()
	for _, problem := range append(result.Problems, result.Notes...) {
		t.Fatal(problem)
	}
	var out bytes.Buffer
	if err := render.WriteYAML(&out, result.Objects); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// names are kinds and names, those of sources without their hash.
func names(objects []render.Object) []string {
	var all []string
	for _, o := range objects {
		name := o.String()
		if o.Kind == sourcev1.OCIRepositoryKind {
			name = name[:len(name)-8]
		}
		all = append(all, name)
	}
	return all
}
