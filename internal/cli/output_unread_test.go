// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/sluice-gateway/sluice/internal/render"
)

// Of a file that cannot be read, which root never meets, it counts whether its name is wanted or listed.
func TestWhatIsInTheWayOfAnOutputFolder(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "out/a.yaml", Err: syscall.EACCES}
	const foreign = "out/a.yaml: was not written by sluice render; move it, or choose another --output-dir"
	const opened = "out/a.yaml: is opened to see whether sluice render wrote it, since "
	const why = ": permission denied; move it, or choose another --output-dir"
	for what, c := range map[string]struct {
		wanted, listed bool
		unread         error
		want           string
	}{
		"of somebody else":              {false, false, nil, "<nil>"},
		"listed, of somebody else":      {false, true, nil, "<nil>"},
		"wanted":                        {true, false, nil, foreign},
		"wanted and listed":             {true, true, nil, foreign},
		"unreadable":                    {false, false, denied, "<nil>"},
		"unreadable, wanted":            {true, false, denied, opened + "its name is wanted" + why},
		"unreadable, wanted and listed": {true, true, denied, opened + "its name is wanted" + why},
		"unreadable, listed":            {false, true, denied, opened + "kustomization.yaml lists it" + why},
	} {
		err := blocks("out/a.yaml", c.wanted, c.listed, c.unread)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%s: got %s, want %s", what, got, c.want)
		}
		if err != nil && fileError(err) != c.want {
			t.Errorf("%s: printed as %s, want %s", what, fileError(err), c.want)
		}
	}
}

// Only a kustomization that an earlier run wrote tells of files of earlier runs.
func TestListedBefore(t *testing.T) {
	files, err := render.Files(nil)
	if err != nil {
		t.Fatal(err)
	}
	ours := slices.IndexFunc(files, func(f render.File) bool { return f.Name == "kustomization.yaml" })
	if ours < 0 {
		t.Fatal("no kustomization.yaml is written")
	}
	const list = "\nresources:\n- a.yaml\n- b.yaml\n"
	mark := string(files[ours].Data[:render.MarkerLength])
	for what, c := range map[string]struct {
		text string
		want []string
	}{
		"of an earlier run":      {mark + list, []string{"a.yaml", "b.yaml"}},
		"of somebody else":       {list, nil},
		"of an earlier run, cut": {mark + "\nresources: [", nil},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := listedBefore(folder); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
	if got := listedBefore(t.TempDir()); got != nil {
		t.Errorf("of none: got %q", got)
	}
}
