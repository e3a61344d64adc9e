// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"strings"
)

// commit is the whole example with some edits of its gateway.
type commit struct {
	message string
	edits   []edit
}

// push commits the example, so edited, to the team's repository, and shows what the commit changed.
func (d *demo) push(c commit) action {
	return func(ctx context.Context) (string, error) {
		files, err := d.manifests(c)
		if err != nil {
			return "", err
		}
		if d.revision, err = d.helmRevision(ctx); err != nil {
			return "", err
		}
		if err := d.commitAndPush(ctx, c.message, files); err != nil {
			return "", err
		}
		changes, err := d.lastChanges(ctx)
		return fmt.Sprintf("%s %s%s", d.commit[:7], c.message, changes), err
	}
}

// manifests are the example's, with the local registry in place of the class's.
func (d *demo) manifests(c commit) (map[string]string, error) {
	e, err := readExample(d.at.example())
	if err != nil {
		return nil, err
	}
	if err := apply(e.class, edit{"spec.chart.url", d.chartURL}, edit{"spec.chart.insecure", "true"}); err != nil {
		return nil, err
	}
	if err := apply(e.gateway, c.edits...); err != nil {
		return nil, err
	}
	return e.files()
}

func (d *demo) commitAndPush(ctx context.Context, message string, files map[string]string) error {
	for name, text := range files {
		if err := d.worktree.Write(path.Join(folder, name), text); err != nil {
			return err
		}
	}
	hash, err := d.worktree.Commit(ctx, message)
	if err != nil {
		return err
	}
	d.commit = hash
	return d.worktree.Push(ctx)
}

// gitRevision is the last commit, as Flux says it.
func (d *demo) gitRevision() string { return "main@sha1:" + d.commit }

// lastChanges are the lines that the last commit changed, or the files that it added, each after a line end.
func (d *demo) lastChanges(ctx context.Context) (string, error) {
	git := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "show", "--format=", "--no-color", "--no-ext-diff", "--unified=0")
	git.Dir = d.worktree.Dir()
	out, err := git.Output()
	if err != nil {
		return "", fmt.Errorf("git show in %s: %w", git.Dir, err)
	}
	var changes strings.Builder
	added := false
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "new file"):
			added = true
		case strings.HasPrefix(line, "+++ "):
			if added {
				changes.WriteString("\n+ " + strings.TrimSpace(strings.TrimPrefix(line, "+++ b/")))
			}
		case strings.HasPrefix(line, "--- "):
		case !added && (line[0] == '+' || line[0] == '-'):
			changes.WriteString("\n" + strings.TrimRight(line, "\n"))
		case strings.HasPrefix(line, "diff "):
			added = false
		}
	}
	return changes.String(), nil
}
