// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/cli"
)

var update = flag.Bool("update", false, "write the outputs of testdata and examples anew")

// outputs are the sections of a case that the command line produces.
var outputs = []string{"stdout", "stderr", "exit"}

// TestCases runs every testdata/*.txt: a sentence, the command line after "$ sluice", files as "-- name --" and their text
// (stdin is one), and the outputs, all exact.
func TestCases(t *testing.T) {
	runCases(t, "testdata/*.txt", (*testCase).run)
}

// runCases runs the case files that a pattern matches, and compares or, with -update, writes what comes out.
func runCases(t *testing.T, pattern string, run func(*testCase, *testing.T)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			c := readCase(t, path)
			want := c.text()
			run(c, t)
			if *update {
				write(t, path, c.text())
			} else if got := c.text(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

type section struct{ name, text string }

// testCase is a case file: what stands before the first section, and the sections.
type testCase struct {
	head     string
	sections []section
}

func readCase(t *testing.T, path string) *testCase {
	t.Helper()
	c := &testCase{}
	for line := range strings.Lines(read(t, path)) {
		name, isHeading := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- ")
		switch {
		case isHeading && strings.HasSuffix(line, " --\n"):
			c.sections = append(c.sections, section{name: name})
		case len(c.sections) == 0:
			c.head += line
		default:
			c.sections[len(c.sections)-1].text += line
		}
	}
	return c
}

func (c *testCase) text() string {
	text := c.head
	for _, s := range c.sections {
		text += "-- " + s.name + " --\n" + s.text
	}
	return text
}

func (c *testCase) args(t *testing.T) []string {
	t.Helper()
	_, line, found := strings.Cut(c.head, "$ sluice")
	if !found {
		t.Fatal("the case has no line that begins with: $ sluice")
	}
	return strings.Fields(line)
}

// run executes the command line in a folder that holds the case's files.
func (c *testCase) run(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	var in string
	for _, s := range c.sections {
		switch {
		case slices.Contains(outputs, s.name):
		case s.name == "stdin":
			in = s.text
		default:
			write(t, s.name, s.text)
		}
	}
	c.execute(t, in)
}

// execute runs the command line in the present folder, and replaces the case's outputs.
func (c *testCase) execute(t *testing.T, in string) {
	t.Helper()
	code, stdout, stderr := sluice(in, c.args(t)...)
	c.sections = slices.DeleteFunc(c.sections, func(s section) bool { return slices.Contains(outputs, s.name) })
	c.sections = append(c.sections, section{"stdout", stdout}, section{"stderr", stderr}, section{"exit", fmt.Sprintln(code)})
}

// sluice runs a command line.
func sluice(in string, args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	streams := cli.Streams{In: strings.NewReader(in), Out: &out, Err: &errs}
	code = cli.Run(append([]string{"sluice"}, args...), streams, "v1.2.3")
	return code, out.String(), errs.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
