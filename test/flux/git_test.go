// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/test/cluster"
)

// files are a commit's changes: contents by path. The content removed removes the file.
type files map[string]string

const removed = "\x00removed"

// repository is a git repository with the GitRepository and the Kustomization, both of its name and in Flux's namespace, by
// which Flux applies it.
type repository struct {
	name     string
	url      string
	tree     *cluster.Worktree
	interval time.Duration // at which Flux looks; 0: it is told of each push, as by a webhook
	wait     string        // more of the Kustomization's spec
	followed bool
}

// option of a team's repository.
type option func(*repository)

// everySecond has Flux find the pushes by itself.
func everySecond(r *repository) { r.interval = time.Second }

// waits makes the Kustomization Ready only when all that it applies is.
func waits(timeout string) option {
	return func(r *repository) { r.wait = fmt.Sprintf("  wait: true\n  timeout: %s\n", timeout) }
}

func newRepository(t *testing.T, name string, options ...option) *repository {
	t.Helper()
	url, err := local.Git().CreateRepository(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := local.Git().Clone(t.Context(), name, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{name: name, url: url, tree: tree, wait: "  timeout: 30s\n"}
	for _, choose := range options {
		choose(r)
	}
	return r
}

// push commits and pushes the changes, tells Flux, and returns the revision as Flux writes it.
func (r *repository) push(t *testing.T, message string, changes files) string {
	t.Helper()
	for path, text := range maps.All(changes) {
		if err := r.change(path, text); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := r.tree.Commit(t.Context(), message)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.tree.Push(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.tellFlux(t.Context()); err != nil {
		t.Fatal(err)
	}
	return "main@sha1:" + hash
}

func (r *repository) change(path, text string) error {
	if text == removed {
		return r.tree.Remove(path)
	}
	return r.tree.Write(path, text)
}

// tellFlux has the repository looked at now. The first time it is made known to Flux.
func (r *repository) tellFlux(ctx context.Context) error {
	if !r.followed {
		r.followed = true
		return local.Apply(ctx, r.manifests())
	}
	if r.interval > 0 {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	source := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.FluxNamespace, Name: r.name}}
	return api.Patch(ctx, source, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func (r *repository) manifests() string {
	interval := r.interval
	if interval == 0 {
		interval = time.Hour
	}
	return fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %[1]s, namespace: %[5]s}
spec:
  url: %[2]s
  ref: {branch: main}
  interval: %[3]s
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: %[5]s}
spec:
  sourceRef: {kind: GitRepository, name: %[1]s}
  path: ./
  prune: true
  interval: 1h
  retryInterval: 2s
%[4]s`, r.name, r.url, interval, r.wait, cluster.FluxNamespace)
}
