// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGitCases runs every testdata/git/*.txt as TestCases does, in a git repository. Its files named main:path are committed
// there on the branch main; the others are what the working tree holds after that.
func TestGitCases(t *testing.T) {
	runCases(t, "testdata/git/*.txt", (*testCase).runInRepository)
}

// A hook of git is told of its repository by the environment, with paths from the root.
func TestRevisionsInAHook(t *testing.T) {
	t.Chdir(t.TempDir())
	git(t, "init", "--quiet", "--initial-branch=main")
	write(t, "gateways/all.yaml", plainClass+"---\n"+gatewayNamed("web"))
	git(t, "add", "--all")
	git(t, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=before")
	before := gitState(t)
	t.Setenv("GIT_DIR", ".git")
	t.Setenv("GIT_INDEX_FILE", ".git/index")
	if code, stdout, stderr := sluice("", "diff", "-f", "gateways", "--against", "HEAD"); code != 0 || stdout != "" || stderr != "" {
		t.Errorf("exits %d\n%s%s", code, stdout, stderr)
	}
	if after := gitState(t); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
}

func TestRevisionsWithoutGitOrOfSeveralRepositories(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"one", "two"} {
		write(t, folder+"/all.yaml", gatewayNamed(folder))
		git(t, "init", "--quiet", "--initial-branch=main", folder)
		git(t, "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message=before")
	}
	write(t, "one/class.yaml", plainClass)
	const several = "sluice: --against HEAD: the input lies in several git repositories; compare them one by one\n"
	if code, stdout, stderr := sluice("", "diff", "-f", "one", "-f", "two", "--against", "HEAD"); code != 2 || stdout != "" || stderr != several {
		t.Errorf("exits %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv("PATH", "")
	const none = "sluice: --against HEAD: cannot run git: exec: \"git\": executable file not found in $PATH\n"
	if code, stdout, stderr := sluice("", "diff", "-f", "one", "--against", "HEAD"); code != 2 || stdout != "" || stderr != none {
		t.Errorf("exits %d\n%s%s", code, stdout, stderr)
	}
}

// A clone may know a commit and lack what it holds. What git says of that differs between its versions.
func TestARevisionWhoseFilesAreNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "class.yaml", plainClass)
	git(t, "init", "--quiet", "--initial-branch=main")
	git(t, "add", "--all")
	git(t, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=before")
	tree := strings.TrimSpace(git(t, "rev-parse", "HEAD^{tree}"))
	if err := os.Remove(filepath.Join(".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := sluice("", "lint", "-f", "class.yaml", "--against", "HEAD")
	ours, gits, _ := strings.Cut(stderr, " (git: ")
	const want = "sluice: --against HEAD: the files of this revision cannot be read; fetch it once more, or name a folder that holds them"
	if code != 1 || stdout != "" || ours != want || !strings.HasPrefix(gits, "fatal: ") {
		t.Errorf("exits %d\n%s%s", code, stdout, stderr)
	}
}

// committed is how a case names a file of the branch main.
const committed = "main:"

func (c *testCase) runInRepository(t *testing.T) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	git(t, "init", "--quiet", "--initial-branch=main")
	for _, s := range c.sections {
		if path, before := strings.CutPrefix(s.name, committed); before {
			write(t, path, s.text)
		}
	}
	git(t, "add", "--all")
	git(t, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message=before")
	git(t, "rm", "-r", "--quiet", "--ignore-unmatch", ".")
	for _, s := range c.sections {
		if !strings.HasPrefix(s.name, committed) && !slices.Contains(outputs, s.name) {
			write(t, s.name, s.text)
		}
	}
	before := gitState(t)
	c.execute(t, "")
	if after := gitState(t); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "sluice-*")); err != nil || left != nil {
		t.Errorf("%q is left behind, %v", left, err)
	}
}

// gitState is what git tells of index, working tree and branches.
func gitState(t *testing.T) string {
	t.Helper()
	return git(t, "status", "--porcelain=v2", "--branch") + git(t, "ls-files", "--stage", "--debug") + git(t, "for-each-ref")
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
