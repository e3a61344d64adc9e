// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// folderState is each file's text and time, and each other entry's kind.
func folderState(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]string{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		text := info.Mode().Type().String()
		if info.Mode().IsRegular() {
			text = read(t, filepath.Join(folder, entry.Name()))
		}
		state[entry.Name()] = text + info.ModTime().Format(time.RFC3339Nano)
	}
	return state
}

// age puts the times of a folder's files into the past, so that any write shows.
func age(t *testing.T, folder string) {
	t.Helper()
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name := range folderState(t, folder) {
		if err := os.Chtimes(filepath.Join(folder, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
}

func namesIn(state map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(state)), " ")
}

func TestOutputDirHoldsWhatIsPrinted(t *testing.T) {
	inFolder(t, map[string]string{"in/class.yaml": plainClass, "in/a.yaml": gatewayNamed("a"), "in/b.yaml": gatewayNamed("b")}, nil)
	if out := printed(t, "", "render", "-f", "in", "--output-dir", "out/flux"); out != "" {
		t.Errorf("printed %s", out)
	}
	want := "apis_helmrelease_a.yaml apis_helmrelease_b.yaml apis_ocirepository_a-a4b35efb.yaml apis_ocirepository_b-a4b35efb.yaml kustomization.yaml"
	if got := namesIn(folderState(t, "out/flux")); got != want {
		t.Errorf("got %s", got)
	}
	if got, want := built(t, "out/flux"), printed(t, "", "render", "-f", "in"); got != want {
		t.Errorf("kustomize builds\n%s\nprinted are\n%s", got, want)
	}
	list := "# Written by sluice render --output-dir, which will overwrite or remove it.\n" +
		"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n" +
		"- apis_ocirepository_a-a4b35efb.yaml\n- apis_ocirepository_b-a4b35efb.yaml\n- apis_helmrelease_a.yaml\n- apis_helmrelease_b.yaml\n"
	if got := read(t, "out/flux/kustomization.yaml"); got != list {
		t.Errorf("got\n%s\nwant\n%s", got, list)
	}
}

func TestOutputDirChangesOnlyWhatChanged(t *testing.T) {
	inFolder(t, map[string]string{
		"in/class.yaml": plainClass, "in/a.yaml": gatewayNamed("a"), "in/b.yaml": gatewayNamed("b"),
		"out/notes.md": "# By hand\n", "out/other.yaml": "kind: Other\n", "out/.sluice-render-apis_helmrelease_a.yaml": "# Writt",
	}, map[string]string{"out/link.yaml": "../in/a.yaml"})
	render := []string{"render", "-f", "in", "--output-dir", "out"}
	printed(t, "", render...)
	if err := os.Chtimes("out/link.yaml", time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	age(t, "out")
	before := folderState(t, "out")
	printed(t, "", render...)
	if after := folderState(t, "out"); !maps.Equal(after, before) {
		t.Errorf("a second run made of\n%q\n%q", before, after)
	}

	// One gateway goes, and one changes.
	if err := os.Remove("in/b.yaml"); err != nil {
		t.Fatal(err)
	}
	write(t, "in/a.yaml", gatewayNamed("a")+"spec: {suspend: true}\n")
	printed(t, "", render...)
	after := folderState(t, "out")
	want := "apis_helmrelease_a.yaml apis_ocirepository_a-a4b35efb.yaml kustomization.yaml link.yaml notes.md other.yaml"
	if got := namesIn(after); got != want {
		t.Errorf("got %s", got)
	}
	for _, same := range []string{"apis_ocirepository_a-a4b35efb.yaml", "notes.md", "other.yaml"} {
		if after[same] != before[same] {
			t.Errorf("%s was written", same)
		}
	}
	for _, changed := range []string{"apis_helmrelease_a.yaml", "kustomization.yaml"} {
		if after[changed] == before[changed] {
			t.Errorf("%s was not written", changed)
		}
	}
}

// Nothing is written where anything is in the way, or at fault.
func TestOutputDirRefusesBeforeItWrites(t *testing.T) {
	inFolder(t, map[string]string{
		"in/class.yaml": plainClass, "in/a.yaml": gatewayNamed("a"),
		"out/apis_helmrelease_a.yaml": "kind: HelmRelease\n", "out/kustomization.yml": "resources: []\n",
	}, map[string]string{"out/apis_ocirepository_a-a4b35efb.yaml": "../in/a.yaml"})
	before := folderState(t, "out")
	code, stdout, stderr := sluice("", "render", "-f", "in", "--output-dir", "out")
	const why = ": was not written by sluice render; move it, or choose another --output-dir\n"
	want := "out/apis_helmrelease_a.yaml" + why + "out/apis_ocirepository_a-a4b35efb.yaml" + why + "out/kustomization.yml" + why
	if code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\n%s", code, stdout, stderr, want)
	}
	if after := folderState(t, "out"); !maps.Equal(after, before) {
		t.Errorf("made of\n%q\n%q", before, after)
	}
	for _, args := range [][]string{{"-f", "in/class.yaml"}, {"-f", "in", "-o", "json"}} {
		if code, _, _ := sluice("", append([]string{"render", "--output-dir", "new"}, args...)...); code != 1 {
			t.Errorf("%v: exit %d", args, code)
		}
		if _, err := os.Stat("new"); err == nil {
			t.Errorf("%v: there is a folder now", args)
		}
	}
}

// What is written is never what is read, however the folders are named.
func TestOutputDirIsApartFromWhatIsRead(t *testing.T) {
	inFolder(t, map[string]string{"shop/class.yaml": plainClass, "shop/web/a.yaml": gatewayNamed("a"), "other/b.yaml": gatewayNamed("b")}, nil)
	if err := os.Symlink("shop", "linked"); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const apart = " reads; name a folder apart from it\n"
	for _, c := range []struct{ read, output, want string }{
		{"shop", "shop", "--output-dir shop: is the folder that -f shop" + apart},
		{"shop/", "./shop/", "--output-dir ./shop/: is the folder that -f shop" + apart},
		{"shop", "linked", "--output-dir linked: is the folder that -f shop" + apart},
		{".", "out", "--output-dir out: lies in the folder that -f ." + apart},
		{"shop", "linked/new/flux", "--output-dir linked/new/flux: lies in the folder that -f shop" + apart},
		{"*", filepath.Join(here, "shop", "flux"), "--output-dir " + filepath.Join(here, "shop", "flux") + ": lies in the folder that -f linked" + apart},
		{"shop", ".", "--output-dir .: holds the folder that -f shop" + apart},
	} {
		code, stdout, stderr := sluice("", "render", "-f", c.read, "--output-dir", c.output)
		if code != 1 || stdout != "" || stderr != "sluice: "+c.want {
			t.Errorf("-f %s --output-dir %s: exit %d, printed %q, got\n%swant\nsluice: %s", c.read, c.output, code, stdout, stderr, c.want)
		}
	}
	if got := namesIn(folderState(t, "shop")); got != "class.yaml web" {
		t.Errorf("shop holds %s", got)
	}
	for _, args := range [][]string{
		{"-f", "shop", "--output-dir", "shops"},
		{"-f", "shop/class.yaml", "-f", "shop/web/a.yaml", "--output-dir", "shop/flux"},
	} {
		printed(t, "", append([]string{"render"}, args...)...)
	}
}
