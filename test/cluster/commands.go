// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The commands that people use, as they are named in bin/tools.
const (
	kubectl = "kubectl"
	flux    = "flux"
	helm    = "helm"
)

// Kubectl runs kubectl as the administrator and returns its standard output and error, also beside an error; the error says
// the command and the output.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.command(ctx, kubectl, args).output()
}

// Flux runs the flux command, as Kubectl does.
func (c *Cluster) Flux(ctx context.Context, args ...string) (string, error) {
	return c.command(ctx, flux, args).output()
}

// Helm runs the helm command, as Kubectl does. Its caches and registry logins lie in the cluster's folder.
func (c *Cluster) Helm(ctx context.Context, args ...string) (string, error) {
	return c.command(ctx, helm, args).output()
}

// Apply applies manifests, YAML documents, by server-side apply: so nulls inside HelmReleases' values stay.
func (c *Cluster) Apply(ctx context.Context, manifests string) error {
	command := c.command(ctx, kubectl, []string{"apply", "--server-side", "--force-conflicts", "-f", "-"})
	command.Stdin = strings.NewReader(manifests)
	if _, err := command.output(); err != nil {
		return fmt.Errorf("%w\nof\n%s", err, manifests)
	}
	return nil
}

// command is one of bin/tools, run against the cluster.
func (c *Cluster) command(ctx context.Context, tool string, args []string) command {
	made := newCommand(ctx, c.layout.Bin(tool), args...)
	home := filepath.Join(c.dir, "home", tool)
	made.Env = append(environment(c.dir), "KUBECONFIG="+c.Kubeconfig(),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	return made
}

// command is a program that ends by itself soon, unlike a ProcessSpec's.
type command struct{ *exec.Cmd }

func newCommand(ctx context.Context, path string, args ...string) command {
	made := exec.CommandContext(ctx, path, args...)
	made.WaitDelay = 5 * time.Second
	return command{made}
}

// output runs the command and returns its standard output and error together.
func (c command) output() (string, error) {
	out, err := c.CombinedOutput()
	if err != nil {
		line := strings.Join(append([]string{filepath.Base(c.Path)}, c.Args[1:]...), " ")
		return string(out), fmt.Errorf("%s: %w\n%s", line, err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
