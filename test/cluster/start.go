// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

// Start starts a cluster and returns once everything in it is ready, which takes some six to ten seconds. When it fails
// nothing of it is left running, and the error names the component, says what went wrong and shows the end of its log. The
// programs must have been built (`go run ./test/cmd/toolchain`). ctx bounds the start alone, not the cluster's life.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	layout, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	if err := layout.Require(programs()...); err != nil {
		return nil, err
	}
	release, err := takeDir(options.Dir)
	if err != nil {
		return nil, err
	}
	s := newStarter(layout, options, release)
	if err := s.runOrStop(ctx); err != nil {
		return nil, fmt.Errorf("start the cluster in %s: %w", options.Dir, err)
	}
	return s.cluster, nil
}

// starter is what Start works with.
type starter struct {
	options  Options
	layout   toolchain.Layout
	children *children
	cluster  *Cluster
	users    map[string]identity
	certs    certificates

	apiServerURL string
}

func newStarter(layout toolchain.Layout, options Options, release func() error) *starter {
	s := &starter{layout: layout, options: options, children: newChildren(options.Dir), users: newIdentities()}
	s.cluster = &Cluster{layout: layout, dir: options.Dir, owner: s.children}
	s.cluster.stop = once(func() error {
		return errors.Join(s.children.stop(), s.cluster.git.close(), removeState(options.Dir), release())
	})
	return s
}

// runOrStop stops what has been started when the rest fails, also by a panic.
func (s *starter) runOrStop(ctx context.Context) (err error) {
	complete := false
	defer func() {
		if !complete {
			err = errors.Join(err, s.cluster.Stop())
		}
	}()
	err = s.run(ctx)
	complete = err == nil
	return err
}

func (s *starter) run(ctx context.Context) error {
	if err := s.writeFiles(); err != nil {
		return err
	}
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() error { return s.kubernetes(groupContext) })
	if s.options.Parts == Full {
		group.Go(func() error { return s.startComponent(groupContext, s.registry) })
		group.Go(s.startGit)
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.writeState()
}

func (s *starter) writeFiles() error {
	for _, folder := range []string{"logs", "data", "home", "tmp", "kubeconfigs"} {
		if err := os.MkdirAll(s.path(folder), 0o755); err != nil {
			return err
		}
	}
	certs, err := makeCertificates(s.path("certs"))
	if err != nil {
		return err
	}
	s.certs = certs
	if err := writeTokens(s.path("certs", "tokens.csv"), s.users); err != nil {
		return err
	}
	return writeAuditPolicy(s.path("certs", "audit-policy.yaml"))
}

func (s *starter) path(parts ...string) string {
	return filepath.Join(append([]string{s.options.Dir}, parts...)...)
}

// specMaker makes the spec of a component; each call chooses new ports.
type specMaker func() (ProcessSpec, error)

// startComponent starts one of the cluster's own processes. Between our choosing a port and its listening on it another may
// have taken it: then it is tried once more, with other ports.
func (s *starter) startComponent(ctx context.Context, makeSpec specMaker) error {
	begin := time.Now()
	spec, err := s.startOnce(ctx, makeSpec)
	if portTaken(err) {
		spec, err = s.startOnce(ctx, makeSpec)
	}
	if err != nil {
		return err
	}
	s.options.Progress(fmt.Sprintf("%s is ready (%.1fs)", spec.Name, time.Since(begin).Seconds()))
	return nil
}

func (s *starter) startOnce(ctx context.Context, makeSpec specMaker) (ProcessSpec, error) {
	spec, err := makeSpec()
	if err != nil {
		return spec, err
	}
	spec.Args = append(spec.Args, s.options.Args[spec.Name]...)
	return spec, s.children.start(ctx, spec)
}

// writeKubeconfigs writes one for the administrator and one for each component.
func (s *starter) writeKubeconfigs() error {
	for name, who := range s.users {
		file := kubeconfigFile(s.options.Dir, name)
		if err := writeKubeconfig(file, s.apiServerURL, s.certs.authority, name, who.token); err != nil {
			return err
		}
	}
	return s.cluster.connect()
}
