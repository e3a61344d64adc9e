// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package install tests that flux/install brings Sluice to a bare cluster with Flux, upgrades it and takes it away again, with
// gateways running: on a whole real cluster, with the operator's real binary beside the simulated pods of its Deployment, with
// their arguments and the rights of their ServiceAccount. The one test is a story, told in steps that build on each other.
package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/suite"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

var (
	local *cluster.Cluster
	api   client.Client // the administrator's
	root  string        // of the checkout
)

func TestMain(m *testing.M) { suite.Main(m, "install", setUp, tearDown) }

func tearDown() error {
	if local == nil {
		return nil
	}
	return local.Stop()
}

func setUp(ctx context.Context, dir string) error {
	layout, err := toolchain.Find()
	if err != nil {
		return err
	}
	root = layout.Root()
	if _, err := os.Stat(operatorBinary()); err != nil {
		return fmt.Errorf("%w: run \"make build\"", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	local, err = cluster.Start(ctx, cluster.Options{Dir: dir, Args: map[string][]string{
		cluster.HelmController: {"--requeue-dependency=2s"},
	}})
	if err != nil {
		return err
	}
	for _, add := range []func() error{
		func() error { return v1alpha1.AddToScheme(scheme.Scheme) },
		func() error { return helmv2.AddToScheme(scheme.Scheme) },
		func() error { return sourcev1.AddToScheme(scheme.Scheme) },
	} {
		if err := add(); err != nil {
			return err
		}
	}
	api, err = client.New(local.RESTConfig(), client.Options{Scheme: scheme.Scheme})
	return err
}

func operatorBinary() string { return filepath.Join(root, "bin", "sluice-controller") }
