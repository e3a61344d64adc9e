// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Worktree is a clone of a repository, in which a team works.
type Worktree struct {
	dir string
}

// Clone clones a repository of the server into dir, which must be empty or missing.
func (g *GitServer) Clone(ctx context.Context, repository, dir string) (*Worktree, error) {
	if _, err := runGit(ctx, "", "clone", "--quiet", g.RepositoryURL(repository), dir); err != nil {
		return nil, err
	}
	return &Worktree{dir: dir}, nil
}

// Dir is the worktree's folder.
func (w *Worktree) Dir() string { return w.dir }

// Write writes a file, and the folders above it. The path is relative to the worktree.
func (w *Worktree) Write(path, content string) error {
	file := filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(content), 0o644)
}

// Remove removes a file or a folder; that it is missing is an error.
func (w *Worktree) Remove(path string) error {
	file := filepath.Join(w.dir, path)
	if _, err := os.Stat(file); err != nil {
		return err
	}
	return os.RemoveAll(file)
}

// Commit commits all that differs from the last commit and returns the new commit's full hash. That nothing differs is an
// error.
func (w *Worktree) Commit(ctx context.Context, message string) (string, error) {
	if _, err := runGit(ctx, w.dir, "add", "--all"); err != nil {
		return "", err
	}
	if _, err := runGit(ctx, w.dir, "commit", "--quiet", "--message", message); err != nil {
		return "", err
	}
	hash, err := runGit(ctx, w.dir, "rev-parse", "HEAD")
	return strings.TrimSpace(hash), err
}

// Push pushes the commits to the server's branch main.
func (w *Worktree) Push(ctx context.Context) error {
	_, err := runGit(ctx, w.dir, "push", "--quiet", "origin", "HEAD:refs/heads/main")
	return err
}
