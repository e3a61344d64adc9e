// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver tests the operator against a real API server, with real RBAC and garbage collection and Flux's CRDs, but
// nobody who acts on Flux's objects: a test sets their status itself, only to see what the operator writes then. What Flux
// does is tested in test/flux.
package apiserver

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/suite"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// patience bounds every wait; what takes longer than a moment is a failure, save on a very busy machine.
const patience = 60 * time.Second

// grace is how long a source is unused before the operator removes it here.
const grace = time.Second

var (
	env    *cluster.Cluster
	admin  client.Client // not cached
	config *rest.Config  // of the operator's ServiceAccount
	sluice *running      // the operator, shared by the tests
)

func TestMain(m *testing.M) { suite.Main(m, "apiserver", setUp, tearDown) }

func setUp(ctx context.Context, dir string) (err error) {
	if env, err = cluster.Start(ctx, cluster.Options{Dir: dir, Parts: cluster.APIServerOnly}); err != nil {
		return err
	}
	if err := prepare(ctx); err != nil {
		return err
	}
	sluice, err = start(options())
	return err
}

func tearDown() (err error) {
	if sluice != nil {
		err = sluice.stop()
	}
	if env != nil {
		err = errors.Join(err, env.Stop())
	}
	return err
}

// prepare installs CRDs and RBAC as the chart ships them, and makes both clients.
func prepare(ctx context.Context) error {
	layout, err := toolchain.Find()
	if err != nil {
		return err
	}
	if err := operator.Apply(ctx, env, filepath.Join(layout.Root(), "charts", "sluice")); err != nil {
		return err
	}
	scheme, err := controller.NewScheme()
	if err != nil {
		return err
	}
	if admin, err = client.New(env.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
		return err
	}
	kubeconfig, err := env.KubeconfigFor(ctx, operator.Namespace, operator.ServiceAccount)
	if err != nil {
		return err
	}
	config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	return err
}

func options() controller.Options {
	return controller.Options{SourceGrace: grace, DiscoveryInterval: time.Second}
}

// within is how soon the operator must act on what people do.
const within = 2 * time.Second
