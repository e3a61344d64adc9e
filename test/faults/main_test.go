// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package faults runs the whole flow on bad days: while people push commits every component is killed at random (etcd and the
// API server too), the operator's requests fail, are lost or come late, its watches are cut and held up, the registry is away,
// and a second operator works at the same time. What must hold in every state (test/invariants) is judged over all that etcd
// ever held; and once the bad day is over, what the last commit says must be so within a bound.
//
// A day is made from a seed. The suite has a cluster of its own, since no other test would survive.
package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/sluice-gateway/sluice/test/apiproxy"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/history"
	"github.com/sluice-gateway/sluice/test/invariants"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/suite"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// What all tests share.
var (
	local  *cluster.Cluster
	proxy  *apiproxy.Proxy // between the operators and the API server
	past   *history.Recorder
	alive  *keeper
	binary string // the operator's

	metricsAddress string // of the first operator
	chart          cluster.Chart
)

func TestMain(m *testing.M) { suite.Main(m, "faults", setUp, tearDown) }

func tearDown() (err error) {
	if alive != nil {
		err = alive.stop()
	}
	if proxy != nil {
		proxy.Close()
	}
	if local != nil {
		err = errors.Join(err, local.Stop())
	}
	return err
}

func setUp(ctx context.Context, dir string) error {
	layout, err := toolchain.Find()
	if err != nil {
		return err
	}
	binary = filepath.Join(layout.Root(), "bin", operator.ProcessName)
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("%w: run \"make build\"", err)
	}
	if metricsAddress, err = cluster.FreeAddress(); err != nil {
		return err
	}
	soon := []string{"--min-retry-delay=500ms", "--max-retry-delay=3s"} // else Flux's pauses are longer than a day here
	local, err = cluster.Start(ctx, cluster.Options{Dir: dir, Args: map[string][]string{
		cluster.HelmController:      append([]string{"--concurrent=20"}, soon...),
		cluster.SourceController:    soon,
		cluster.KustomizeController: soon,
	}})
	if err != nil {
		return err
	}
	if past, err = history.Record(ctx, local.Etcd(), scheme.Scheme, invariants.Kinds()...); err != nil {
		return err
	}
	if proxy, err = apiproxy.New(local.RESTConfig(), 1); err != nil {
		return err
	}
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() error { return pushCharts(groupContext, layout.Root()) })
	group.Go(func() error {
		return operator.Apply(groupContext, local, filepath.Join(layout.Root(), "charts", "sluice"))
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if _, err = startOperator(ctx, operator.ProcessName, "--metrics-addr="+metricsAddress); err != nil {
		return err
	}
	another, err := startOperator(ctx, second)
	if err != nil {
		return err
	}
	alive = keep(ctx)
	return another.Kill()
}

// startOperator starts an operator that gets at the API server through the proxy. Two of them do not know of each other, as
// happens where somebody turned leader election off.
func startOperator(ctx context.Context, name string, args ...string) (*cluster.Process, error) {
	direct, err := local.KubeconfigFor(ctx, operator.Namespace, operator.ServiceAccount)
	if err != nil {
		return nil, err
	}
	through := filepath.Join(local.Dir(), "kubeconfigs", name+"-through-proxy.yaml")
	if err := proxy.Kubeconfig(direct, through); err != nil {
		return nil, err
	}
	return operator.StartWith(ctx, local, name, binary, through, args...)
}

// pushCharts pushes the suite's chart in two versions, with appVersions 1.0 and 2.0.
func pushCharts(ctx context.Context, root string) (err error) {
	web := filepath.Join(root, "test", "flux", "testdata", "chart")
	if chart, err = local.PushChart(ctx, web, "1.0.0"); err != nil {
		return err
	}
	_, err = local.PushChart(ctx, web, "2.0.0", func(dir string) error {
		file := filepath.Join(dir, "Chart.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), `appVersion: "1.0"`, `appVersion: "2.0"`)), 0o644)
	})
	return err
}

// bound is how long after a bad day all may take to be as the last commit says.
const bound = 2 * time.Minute
