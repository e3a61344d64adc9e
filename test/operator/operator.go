// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package operator installs Sluice on a local cluster, the same for the demo and for the suites: the CRDs and RBAC of
// charts/sluice as they ship, and the real binary as a process beside the cluster, acting as the ServiceAccount of the chart
// and with no other rights. The pods of the chart's Deployment are simulated like all pods there.
package operator

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

const (
	// Namespace that the operator is installed in.
	Namespace = "sluice-system"
	// ServiceAccount that the operator acts as.
	ServiceAccount = "sluice"
	// User is the operator's name in the API server's audit log.
	User = "system:serviceaccount:" + Namespace + ":" + ServiceAccount
	// ProcessName is the operator's name among the cluster's processes.
	ProcessName = "sluice-controller"
)

// Install applies the CRDs and the chart, and starts the operator with additional arguments. It returns once the operator is
// ready.
func Install(ctx context.Context, c *cluster.Cluster, args ...string) (*cluster.Process, error) {
	layout, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	if err := Apply(ctx, c, filepath.Join(layout.Root(), "charts", "sluice")); err != nil {
		return nil, err
	}
	return Start(ctx, c, filepath.Join(layout.Root(), "bin", ProcessName), args...)
}

// Apply applies the CRDs and the rendered chart.
func Apply(ctx context.Context, c *cluster.Cluster, chart string) error {
	crds := filepath.Join(chart, "crds")
	if _, err := c.Kubectl(ctx, "apply", "--server-side", "-f", crds); err != nil {
		return err
	}
	if _, err := c.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s", "-f", crds); err != nil {
		return err
	}
	if err := c.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+Namespace+"\n"); err != nil {
		return err
	}
	manifests, err := c.Helm(ctx, "template", "sluice", chart, "--namespace", Namespace)
	if err != nil {
		return err
	}
	return c.Apply(ctx, manifests)
}

// Start starts the operator's binary as the chart's ServiceAccount.
func Start(ctx context.Context, c *cluster.Cluster, binary string, args ...string) (*cluster.Process, error) {
	kubeconfig, err := c.KubeconfigFor(ctx, Namespace, ServiceAccount)
	if err != nil {
		return nil, err
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return c.StartProcess(ctx, cluster.ProcessSpec{
		Name:     ProcessName,
		Path:     binary,
		Args:     append([]string{"--health-addr=" + health, "--metrics-addr=0"}, args...),
		Env:      []string{"KUBECONFIG=" + kubeconfig},
		ReadyURL: "http://" + health + "/readyz",
		Grace:    10 * time.Second,
	})
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("a free port for the operator's health checks: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
