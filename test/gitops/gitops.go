// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package gitops has Flux apply a git repository of a local cluster, as a team's is: what is pushed is what the cluster has.
package gitops

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/test/cluster"
)

// Files are a commit's changes: contents by path. The content Removed removes the file.
type Files map[string]string

// Removed is no content.
const Removed = "\x00removed"

// Options of a repository.
type Options struct {
	// Interval at which Flux looks for pushes. 0: it is told of each, as by a webhook.
	Interval time.Duration
	// Path of the folder that Flux applies. Empty: all.
	Path string
	// Wait is more of the Kustomization's spec. Empty: a timeout of 30 s.
	Wait string
}

// Repository is a git repository with the GitRepository and the Kustomization, both of its name and in Flux's namespace, by
// which Flux applies it.
type Repository struct {
	local    *cluster.Cluster
	api      client.Client
	name     string
	url      string
	tree     *cluster.Worktree
	options  Options
	followed bool
}

// New makes an empty repository and clones it to dir. Flux comes to know it with the first push.
func New(ctx context.Context, local *cluster.Cluster, name, dir string, options Options) (*Repository, error) {
	url, err := local.Git().CreateRepository(ctx, name)
	if err != nil {
		return nil, err
	}
	tree, err := local.Git().Clone(ctx, name, dir)
	if err != nil {
		return nil, err
	}
	if options.Path == "" {
		options.Path = "./"
	}
	if options.Wait == "" {
		options.Wait = "  timeout: 30s\n"
	}
	scheme := runtime.NewScheme()
	if err := sourcev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	api, err := client.New(local.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &Repository{local: local, api: api, name: name, url: url, tree: tree, options: options}, nil
}

// Dir is the folder of the clone.
func (r *Repository) Dir() string { return r.tree.Dir() }

// Push commits and pushes the changes, tells Flux, and returns the revision as Flux writes it.
func (r *Repository) Push(ctx context.Context, message string, changes Files) (string, error) {
	for path, text := range changes {
		if err := r.change(path, text); err != nil {
			return "", err
		}
	}
	hash, err := r.tree.Commit(ctx, message)
	if err != nil {
		return "", err
	}
	if err := r.tree.Push(ctx); err != nil {
		return "", err
	}
	return "main@sha1:" + hash, r.tellFlux(ctx)
}

func (r *Repository) change(path, text string) error {
	if text == Removed {
		return r.tree.Remove(path)
	}
	return r.tree.Write(path, text)
}

// tellFlux has the repository looked at now. The first time it is made known to Flux.
func (r *Repository) tellFlux(ctx context.Context) error {
	if !r.followed {
		r.followed = true
		return r.local.Apply(ctx, r.manifests())
	}
	if r.options.Interval > 0 {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	source := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.FluxNamespace, Name: r.name}}
	return r.api.Patch(ctx, source, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func (r *Repository) manifests() string {
	interval := r.options.Interval
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
  path: %[6]s
  prune: true
  interval: 1h
  retryInterval: 2s
%[4]s`, r.name, r.url, interval, r.options.Wait, cluster.FluxNamespace, r.options.Path)
}
