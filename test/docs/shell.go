// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Shell is a bash in which people type the documents' commands: in the root of a checkout of their own, with bin and bin/tools
// in the PATH.
type Shell struct {
	// Dir is the checkout, and Home the home folder.
	Dir, Home string
	env       []string
}

// NewShell copies what git knows of a checkout, and what is new in it, into dir, and commits it there. bin has the built
// sluice, and bin/tools is the checkout's. The environment is added to the present one.
func NewShell(ctx context.Context, root, sluice, dir string, env ...string) (*Shell, error) {
	s := &Shell{Dir: filepath.Join(dir, "sluice"), Home: filepath.Join(dir, "home")}
	if err := copyCheckout(ctx, root, s.Dir); err != nil {
		return nil, err
	}
	bin, tools := filepath.Join(s.Dir, "bin"), filepath.Join(s.Dir, "bin", "tools")
	own := filepath.Join(s.Home, "bin")
	for _, folder := range []string{bin, own} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
	}
	err := errors.Join(os.Symlink(sluice, filepath.Join(bin, "sluice")), os.Symlink(filepath.Join(root, "bin", "tools"), tools))
	if err != nil {
		return nil, err
	}
	s.env = append(os.Environ(), "HOME="+s.Home, "PATH="+strings.Join([]string{own, bin, tools, os.Getenv("PATH")}, string(filepath.ListSeparator)))
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE"} { // which are found by HOME otherwise
		out, err := exec.CommandContext(ctx, "go", "env", name).Output()
		if err != nil {
			return nil, err
		}
		s.env = append(s.env, name+"="+strings.TrimSpace(string(out)))
	}
	s.env = append(s.env, env...)
	_, err = s.Run(ctx, "git init -q && git add -A && git -c user.name=test -c user.email=test@example.com commit -qm Everything")
	return s, err
}

// copyCheckout copies the files that a commit of everything would hold.
func copyCheckout(ctx context.Context, root, to string) error {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return err
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, fs.ErrNotExist) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, path), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Run runs a command and returns its standard output and error together, also beside an error.
func (s *Shell) Run(ctx context.Context, text string) (string, error) {
	command := exec.CommandContext(ctx, "bash", "-c", "set -euo pipefail\n"+text)
	command.Dir, command.Env, command.WaitDelay = s.Dir, s.env, 5*time.Second
	out, err := command.CombinedOutput()
	return string(out), err
}

// volatile is what differs from run to run.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<time>"},
	{regexp.MustCompile(`\b(for|in) (\d+m\d+s|\d+[ms])\b`), "$1 <age>"},
	{regexp.MustCompile(` {2,}(\d+m\d+s|\d+[ms]) {2,}`), "  <age>  "},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
	{regexp.MustCompile(`\+[0-9a-f]{12}\b`), "+<digest>"},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}\b`), "sha256:<digest>"},
	{regexp.MustCompile(`-[0-9a-f]{8}\b`), "-<hash>"},
	{regexp.MustCompile(`-[0-9a-z]{9,10}-[0-9a-z]{5}\b`), "-<pod>"},
}

// Settled is an output without what is another each time.
func Settled(out string) string {
	for _, v := range volatile {
		out = v.pattern.ReplaceAllString(out, v.instead)
	}
	return out
}

// Shows says whether a document's output is what was printed: what is volatile aside, and of a line that ends in an ellipsis its
// beginning. The last line may be an ellipsis, for all that follows.
func Shows(shown, printed string) bool {
	want := strings.SplitAfter(Settled(shown), "\n")
	got := strings.SplitAfter(Settled(printed), "\n")
	for i, line := range want {
		beginning, shortened := strings.CutSuffix(line, "…\n")
		switch {
		case line == "…\n":
			return i == len(want)-2
		case i >= len(got), shortened && !strings.HasPrefix(got[i], beginning), !shortened && got[i] != line:
			return false
		}
	}
	return len(want) == len(got)
}
