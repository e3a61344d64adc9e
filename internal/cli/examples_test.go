// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

const examples = "../../examples"

// Every example holds what it renders to, and rendering is the same with that file present.
func TestExamples(t *testing.T) {
	entries, err := os.ReadDir(examples)
	if err != nil || len(entries) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			folder := filepath.Join(examples, entry.Name())
			compare(t, filepath.Join(folder, "expected.yaml"), "render", "-f", folder)
		})
	}
}

func TestOtherFormsOfTheQuickstart(t *testing.T) {
	folder := filepath.Join(examples, "quickstart")
	compare(t, "testdata/quickstart-shared.yaml", "render", "--share-sources", "-f", folder)
	compare(t, "testdata/quickstart.json", "render", "-o", "json", "-f", folder)
}

// compare runs a command line that must succeed in silence and print what the file holds.
func compare(t *testing.T, path string, args ...string) {
	t.Helper()
	code, got, stderr := sluice("", args...)
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
