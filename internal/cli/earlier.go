// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/render"
)

// earlier is the input as it was.
type earlier struct {
	set *render.Set
	// folder that a revision was written into, and revision; empty where a folder was named.
	folder, revision string
}

// named is a text with the names of files as people know them: revision:path.
func (e *earlier) named(text string) string {
	if e.folder == "" {
		return text
	}
	root := filepath.Join(e.folder, "tree")
	return strings.NewReplacer(root+string(filepath.Separator), e.revision+":", root, e.revision+":.").Replace(text)
}

func (e *earlier) close() {
	if e.folder != "" {
		_ = os.RemoveAll(e.folder) // what is left is for the system to clean
	}
}

// readEarlier reads what --against names: a folder in place of what -f or -k names, or the same paths at a git revision.
// What was not there then is nothing.
func readEarlier(ctx context.Context, streams Streams, against string, in inputs) (*earlier, error) {
	info, err := os.Stat(against)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--against %s: is a file; name a folder, or a git revision", against)
	}
	if err == nil {
		return readEarlierFolder(streams, against, in)
	}
	e := &earlier{set: &render.Set{}, revision: against}
	if err := e.readRevision(ctx, streams, in); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func readEarlierFolder(streams Streams, folder string, in inputs) (*earlier, error) {
	var was inputs
	switch {
	case len(in.folders) == 0:
		was.paths = []string{folder}
	case len(in.paths) == 0:
		was.folders = []string{folder}
	default:
		return nil, fmt.Errorf("--against %s: cannot stand for both -f and -k; name a git revision", folder)
	}
	set, err := readSet(streams, was)
	if err != nil {
		return nil, err
	}
	return &earlier{set: set}, nil
}

func (e *earlier) readRevision(ctx context.Context, streams Streams, in inputs) (err error) {
	if e.folder, err = os.MkdirTemp("", "sluice-"); err != nil {
		return err
	}
	// kustomize says paths without links, and so does named.
	if e.folder, err = filepath.EvalSymlinks(e.folder); err != nil {
		return err
	}
	repositories := map[string]string{}
	var was inputs
	for _, path := range in.paths {
		if path == stdin {
			return fmt.Errorf("--against %s: stdin has no revisions; name files with -f", e.revision)
		}
		found, err := e.at(ctx, repositories, path)
		if err != nil {
			return err
		}
		was.paths = append(was.paths, found...)
	}
	for _, folder := range in.folders {
		found, err := e.at(ctx, repositories, folder)
		if err != nil {
			return err
		}
		was.folders = append(was.folders, found...)
	}
	if len(was.paths)+len(was.folders) == 0 {
		return nil
	}
	var said bytes.Buffer
	e.set, err = readSet(Streams{In: streams.In, Out: streams.Out, Err: &said}, was)
	fmt.Fprint(streams.Err, e.named(said.String()))
	return err
}

// at is where a path is at the revision, which is written out once a repository; none where it was not there.
func (e *earlier) at(ctx context.Context, repositories map[string]string, path string) ([]string, error) {
	root, below, err := e.repositoryOf(ctx, path)
	if err != nil {
		return nil, err
	}
	if repositories[root] == "" && len(repositories) > 0 {
		return nil, fmt.Errorf("--against %s: the input lies in several git repositories; compare them one by one", e.revision)
	}
	if repositories[root] == "" {
		if err := e.writeOut(ctx, root); err != nil {
			return nil, err
		}
		repositories[root] = filepath.Join(e.folder, "tree")
	}
	then := filepath.Join(repositories[root], below)
	if _, err := os.Stat(then); err == nil {
		return []string{then}, nil
	}
	found, err := filepath.Glob(then)
	if err != nil {
		return nil, nil // no glob and not there
	}
	return found, nil
}

// repositoryOf is the repository's folder, and the path below it.
func (e *earlier) repositoryOf(ctx context.Context, path string) (root, below string, err error) {
	folder := filepath.Clean(path)
	for info, err := os.Stat(folder); folder != "." && folder != string(filepath.Separator) && (err != nil || !info.IsDir()); {
		below = filepath.Join(filepath.Base(folder), below)
		folder = filepath.Dir(folder)
		info, err = os.Stat(folder)
	}
	out, err := e.git(ctx, folder, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return "", "", e.unread(err, "is no folder, and "+path+" is in no git repository that can be read; name a folder, or a revision of the repository that holds the input")
	}
	root, prefix, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	return root, filepath.Join(filepath.FromSlash(prefix), below), nil
}

// writeOut writes the whole tree of the revision, since kustomizations refer to other folders, and touches nothing of the
// repository: the index is one of its own.
func (e *earlier) writeOut(ctx context.Context, root string) error {
	commit, err := e.git(ctx, root, "rev-parse", "--verify", "--end-of-options", e.revision+"^{commit}")
	if err != nil {
		// To the same question in other words git answers with the name.
		if _, named := e.git(ctx, root, "rev-list", "--max-count=1", "--end-of-options", e.revision, "--"); named != nil {
			err = named
		}
		return e.unread(err, "is neither a folder nor a revision of the git repository of the input; write a branch, a tag or a commit that "+
			"this clone has (git fetch brings others), or a folder")
	}
	const gone = "the files of this revision cannot be read; fetch it once more, or name a folder that holds them"
	if _, err := e.git(ctx, root, "read-tree", strings.TrimSpace(commit)); err != nil {
		return e.unread(err, gone)
	}
	if _, err := e.git(ctx, root, "checkout-index", "--all", "--prefix="+filepath.Join(e.folder, "tree")+string(filepath.Separator)); err != nil {
		return e.unread(err, gone)
	}
	return nil
}

// gitError is what git says where it fails.
type gitError struct{ said string }

func (e gitError) Error() string { return e.said }

// unread says why there is nothing to compare with: in our words, and in git's, if it said anything.
func (e *earlier) unread(err error, why string) error {
	if said, ok := errors.AsType[gitError](err); ok {
		return fmt.Errorf("--against %s: %s (git: %w)", e.revision, why, said)
	}
	return fmt.Errorf("--against %s: cannot run git: %w", e.revision, err)
}

// git runs git with an index of its own, and without hooks and filters that might do more than write files.
func (e *earlier) git(ctx context.Context, folder string, args ...string) (string, error) {
	quiet := []string{
		"-C", folder, "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
		"-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false",
	}
	cmd := exec.CommandContext(ctx, "git", append(quiet, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), tellsRepository), "GIT_INDEX_FILE="+filepath.Join(e.folder, "index"))
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", gitError{strings.TrimSpace(string(failed.Stderr))}
	}
	return string(out), err
}

// tellsRepository says whether a variable of the environment names a repository, as git's hooks get it. The input's own is
// asked instead.
func tellsRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
}
