// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/test/gitops"
)

// files are a commit's changes: contents by path. The content removed removes the file.
type files gitops.Files

const removed = gitops.Removed

// option of a team's repository.
type option func(*gitops.Options)

// everySecond has Flux find the pushes by itself.
func everySecond(o *gitops.Options) { o.Interval = time.Second }

// waits makes the Kustomization Ready only when all that it applies is.
func waits(timeout string) option {
	return func(o *gitops.Options) { o.Wait = fmt.Sprintf("  wait: true\n  timeout: %s\n", timeout) }
}

// under has Flux apply one folder of the repository, instead of all.
func under(path string) option { return func(o *gitops.Options) { o.Path = path } }

func newRepository(t *testing.T, name string, options ...option) *gitops.Repository {
	t.Helper()
	var chosen gitops.Options
	for _, choose := range options {
		choose(&chosen)
	}
	r, err := gitops.New(t.Context(), local, name, t.TempDir(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
