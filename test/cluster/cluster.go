// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

// Cluster is a cluster that runs. All its methods may be called at the same time.
type Cluster struct {
	layout     toolchain.Layout
	dir        string
	etcd       string // empty on an attached cluster
	registry   string
	git        *GitServer
	restConfig *rest.Config
	owner      owner
	stop       func() error // ends what is ours; nil on an attached cluster
}

// Dir is the cluster's folder, absolute.
func (c *Cluster) Dir() string { return c.dir }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return kubeconfigFile(c.dir, admin) }

// RESTConfig returns a configuration of the administrator, the caller's own to change. Its client-side limits (500 requests a
// second, bursts of 1000) do not stand in a test's way.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.restConfig) }

// Etcd is the client URL of etcd, which holds every state of every object and outlives the API server. It speaks plain HTTP to
// everyone. Empty on an attached cluster.
func (c *Cluster) Etcd() string { return c.etcd }

// Registry is the OCI registry's host:port. It speaks plain HTTP and asks for no password. Empty unless the cluster is Full.
func (c *Cluster) Registry() string { return c.registry }

// Git is the git server; nil unless the cluster is Full.
func (c *Cluster) Git() *GitServer { return c.git }

// Process returns a handle on a process of the cluster, by a name in Options.Args or that of StartProcess.
func (c *Cluster) Process(name string) *Process { return &Process{name: name, owner: c.owner} }

// StartProcess runs a program as a process of the cluster and waits until it is ready. It ends with the cluster. One that does
// not get ready is ended and forgotten; the error shows the end of its log.
func (c *Cluster) StartProcess(ctx context.Context, spec ProcessSpec) (*Process, error) {
	if err := c.owner.start(ctx, spec); err != nil {
		return nil, err
	}
	return c.Process(spec.Name), nil
}

// Stop ends every process of the cluster, the last started first, and returns when they are gone. That a process had ended by
// itself is an error, with the end of its log. A second call does nothing and returns the same. An attached cluster is not
// ours to stop: see Down.
func (c *Cluster) Stop() error {
	if c.stop == nil {
		return errors.New("an attached cluster is stopped by its supervisor: use Down")
	}
	return c.stop()
}

// connect reads the administrator's kubeconfig.
func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", c.Kubeconfig(), err)
	}
	config.QPS, config.Burst = 500, 1000
	c.restConfig = config
	return nil
}

func (c *Cluster) authorityFile() string { return filepath.Join(c.dir, "certs", "ca.crt") }

func kubeconfigFile(dir, who string) string { return filepath.Join(dir, "kubeconfigs", who+".yaml") }

// once makes a function that runs f at its first call and returns the same error at every call.
func once(f func() error) func() error { return sync.OnceValue(f) }
