// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package operator installs Sluice on a local cluster, the same for the demo and for the suites: the CRDs and RBAC of
// charts/sluice as they ship, and the real binary as a process beside the cluster, acting as the ServiceAccount of the chart
// and with no other rights. The pods of the chart's Deployment are simulated like all pods there.
package operator

import (
	"context"
	"fmt"
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

// Apply applies the CRDs and the rendered chart; helm's flags, such as --set-json, say with which values.
func Apply(ctx context.Context, c *cluster.Cluster, chart string, flags ...string) error {
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
	manifests, err := c.Helm(ctx, append([]string{"template", "sluice", chart, "--namespace", Namespace}, flags...)...)
	if err != nil {
		return err
	}
	return c.Apply(ctx, manifests)
}

// Start starts the operator's binary as the chart's ServiceAccount.
func Start(ctx context.Context, c *cluster.Cluster, binary string, args ...string) (*cluster.Process, error) {
	return StartAs(ctx, c, ProcessName, binary, args...)
}

// StartAs starts one more operator, as a process of that name: another replica, or one with a --controller-name of its own.
func StartAs(ctx context.Context, c *cluster.Cluster, name, binary string, args ...string) (*cluster.Process, error) {
	kubeconfig, err := c.KubeconfigFor(ctx, Namespace, ServiceAccount)
	if err != nil {
		return nil, err
	}
	return StartWith(ctx, c, name, binary, kubeconfig, args...)
}

// StartWith starts an operator with a kubeconfig, as one that leads through a proxy.
func StartWith(ctx context.Context, c *cluster.Cluster, name, binary, kubeconfig string, args ...string) (*cluster.Process, error) {
	health, err := cluster.FreeAddress()
	if err != nil {
		return nil, fmt.Errorf("the operator's health checks: %w", err)
	}
	return c.StartProcess(ctx, cluster.ProcessSpec{
		Name:     name,
		Path:     binary,
		Args:     append([]string{"--health-addr=" + health, "--metrics-addr=0"}, args...),
		Env:      []string{"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + Namespace},
		ReadyURL: "http://" + health + "/readyz",
		Grace:    10 * time.Second,
	})
}
