// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const examples = "../../examples"

// Every example holds what it renders to, and rendering is the same with those files present.
func TestExamples(t *testing.T) {
	for _, name := range exampleNames(t) {
		if name == "migrate" { // TestTheMigrationGuide
			continue
		}
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(examples, name)
			environments, err := filepath.Glob(filepath.Join(folder, "overlays", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, environment := range environments {
				compareOverlay(t, folder, environment)
			}
			for golden, flags := range goldensOf(t, folder) {
				if len(environments) == 0 {
					compare(t, filepath.Join(folder, golden), append([]string{"render", "-f", folder}, flags...)...)
				}
			}
		})
	}
}

// The guide's command prints what the folder holds, and says what the guide explains.
func TestTheMigrationGuide(t *testing.T) {
	folder := filepath.Join(examples, "migrate")
	golden := filepath.Join(folder, "expected.yaml")
	code, got, stderr := sluice("", "migrate", "-f", filepath.Join(folder, "old.yaml"), "-f", filepath.Join(examples, "wso2", "class.yaml"),
		"--operator-values", filepath.Join(folder, "operator-values.yaml"))
	if code != 0 {
		t.Fatalf("exit %d, stderr %s", code, stderr)
	}
	if *update {
		write(t, golden, got)
	}
	if want := read(t, golden); got != want {
		t.Errorf("%s is not what is printed now (-update writes it):\n%s", golden, got)
	}
	about := "warning: " + filepath.Join(folder, "old.yaml")
	want := about + ":9: APIGateway partners/partner: spec.apiSelector: is not moved: Sluice runs gateways and puts no APIs on them; " +
		"while the old operator is gone, nobody brings its RestApis to the gateway\n" +
		about + ":12: APIGateway partners/partner: spec.infrastructure.replicas: is not moved: it sets gateway.gatewayRuntime.deployment.replicaCount to 1, " +
		"but what the old operator installed sets gateway.gatewayRuntime.deployment.replicaCount to 3\n" +
		about + ":18: APIGateway partners/partner: spec.controlPlane.tls.enabled: is not moved: class wso2 does not map this field\n"
	if stderr != want {
		t.Errorf("stderr is\n%s\nwant\n%s", stderr, want)
	}
}

// goldensOf are the goldens of an example with the flags that each is rendered with. Where the class asks what the cluster
// serves, flags.txt has a line for each golden: its name, and the flags.
func goldensOf(t *testing.T, folder string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "flags.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string][]string{"expected.yaml": nil}
	}
	if err != nil {
		t.Fatal(err)
	}
	goldens := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			goldens[words[0]] = words[1:]
		}
	}
	if _, ok := goldens["expected.yaml"]; !ok {
		t.Fatalf("%s/flags.txt has no line for expected.yaml", folder)
	}
	return goldens
}

// compareOverlay renders what kustomize builds of an overlay, with the class, which is no part of it. Its files alone are
// patches, not gateways.
func compareOverlay(t *testing.T, folder, environment string) {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), environment)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	class := filepath.Join(folder, "platform", "class.yaml")
	comparePiped(t, filepath.Join(environment, "expected.yaml"), string(text), "render", "-f", class, "-f", "-")
}

// The table of examples/README.md has a row for each example, and no other.
func TestExamplesAreListed(t *testing.T) {
	var listed []string
	for line := range strings.Lines(read(t, filepath.Join(examples, "README.md"))) {
		if row, isRow := strings.CutPrefix(line, "| ["); isRow {
			name, _, _ := strings.Cut(row, "](")
			listed = append(listed, name)
		}
	}
	slices.Sort(listed)
	if names := exampleNames(t); !slices.Equal(listed, names) {
		t.Errorf("examples/README.md lists %q; there are %q", listed, names)
	}
}

// exampleNames are the folders of examples/, sorted.
func exampleNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	if len(names) == 0 {
		t.Fatal("there are no examples")
	}
	return names
}

func TestOtherFormsOfTheQuickstart(t *testing.T) {
	folder := filepath.Join(examples, "quickstart")
	compare(t, "testdata/quickstart-shared.yaml", "render", "--share-sources", "-f", folder)
	compare(t, "testdata/quickstart.json", "render", "-o", "json", "-f", folder)
}

// compare runs a command line that must succeed in silence and print what the file holds.
func compare(t *testing.T, path string, args ...string) {
	t.Helper()
	comparePiped(t, path, "", args...)
}

// comparePiped is compare with a standard input.
func comparePiped(t *testing.T, path, in string, args ...string) {
	t.Helper()
	code, got, stderr := sluice(in, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, stderr %s", code, stderr)
	}
	if *update {
		write(t, path, got)
		return
	}
	if want := read(t, path); got != want {
		t.Errorf("%s is not what is printed now (-update writes it):\n%s", path, got)
	}
}

func TestALinkToADirectoryIsReadAsTheDirectory(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join(examples, "quickstart"))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, link + "/"} {
		compare(t, filepath.Join(folder, "expected.yaml"), "render", "-f", path)
	}
}
