// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package flux tests the whole flow on a whole real cluster: people push commits, Flux applies them, the operator (the real
// binary, with the rights that it ships with) translates and reports, Flux installs, and each test judges every state that
// the API server ever showed, not only the last one.
//
// Each test is a team with a namespace and a git repository of its own. Tests run side by side, save those that measure time
// or stop a controller: these run alone, before the others. All share one cluster.
package flux

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/suite"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// What all tests share.
var (
	local  *cluster.Cluster
	api    client.WithWatch // the administrator's
	root   string           // of the checkout
	sluice string           // the path of the command line
	webV1  cluster.Chart    // testdata/chart at 1.0.0, with appVersion 1.0
	webV2  cluster.Chart    // the same at 2.0.0, with appVersion 2.0
)

func TestMain(m *testing.M) {
	// Tests mostly wait for Flux, so that more of them fit on the machine than it has processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	flag.Parse()
	suite.Main(m, "flux", setUp, tearDown)
}

func tearDown() error {
	if local == nil {
		return nil
	}
	return local.Stop()
}

// setUp starts the cluster with the operator and makes what all tests share.
func setUp(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	layout, err := toolchain.Find()
	if err != nil {
		return err
	}
	root, sluice = layout.Root(), filepath.Join(layout.Root(), "bin", "sluice")
	for _, binary := range []string{sluice, operatorBinary()} {
		if _, err := os.Stat(binary); err != nil {
			return fmt.Errorf("%w: run \"make build\"", err)
		}
	}
	local, err = cluster.Start(ctx, cluster.Options{Dir: dir, Args: map[string][]string{
		// A release that waits holds its worker, and tests make many wait. A chart that is slow to come must not hold up another
		// test's, which measures time.
		cluster.HelmController:      {"--concurrent=30", "--requeue-dependency=2s", "--watch-label-selector=!" + v1alpha1.LabelShard},
		cluster.SourceController:    {"--concurrent=10", "--watch-label-selector=" + v1alpha1.LabelShard + " notin (" + withOwnSources + "," + firstShard + ")"},
		cluster.KustomizeController: {"--concurrent=30", "--requeue-dependency=2s"},
	}})
	if err != nil {
		return err
	}
	if api, err = newClient(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pushCharts(ctx) })
	group.Go(func() error {
		_, err := operator.Install(ctx, local)
		return err
	})
	return group.Wait()
}

func operatorBinary() string { return filepath.Join(root, "bin", operator.ProcessName) }

func newClient() (client.WithWatch, error) {
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, helmv2.AddToScheme, sourcev1.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(local.RESTConfig(), client.Options{Scheme: scheme.Scheme})
}

func pushCharts(ctx context.Context) (err error) {
	if webV1, err = local.PushChart(ctx, webDir(), "1.0.0"); err != nil {
		return err
	}
	webV2, err = local.PushChart(ctx, webDir(), "2.0.0", withAppVersion("2.0"))
	return err
}

// webDir is the folder of the chart that most tests deploy.
func webDir() string { return filepath.Join(root, "test", "flux", "testdata", "chart") }

func withAppVersion(version string) func(dir string) error {
	return func(dir string) error {
		return replaceInFile(filepath.Join(dir, "Chart.yaml"), `appVersion: "1.0"`, fmt.Sprintf("appVersion: %q", version))
	}
}

func replaceInFile(file, old, new string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), old) {
		return fmt.Errorf("%s holds no %q", file, old)
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, new)), 0o644)
}
