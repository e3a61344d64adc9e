// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"os"
	"path/filepath"
)

// PrivateRegistry is an OCI registry beside the cluster's own, which lets in one user alone, by plain HTTP.
type PrivateRegistry struct {
	Address  string // host:port
	User     string
	Password string
	cluster  *Cluster
}

// The one user, as htpasswd -B writes it. The hash is the cheapest there is, since each request computes it.
const (
	privateUser     = "robot"
	privatePassword = "let-me-in"
	privateHtpasswd = privateUser + ":$2y$04$sluiceSluiceSluice123uh10EB4X9/oIEofh8mR8njn4LsdbbyEW\n"
)

// StartPrivateRegistry starts a private registry as a process of the cluster by that name.
func (c *Cluster) StartPrivateRegistry(ctx context.Context, name string) (*PrivateRegistry, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(c.dir, "data", name)
	users, config := data+".htpasswd", data+".yaml"
	if err := os.WriteFile(users, []byte(privateHtpasswd), 0o600); err != nil {
		return nil, err
	}
	auth := map[string]any{"htpasswd": map[string]any{"realm": name, "path": users}}
	if err := writeRegistryConfig(config, address, data, auth); err != nil {
		return nil, err
	}
	// /v2/ would answer that one has to log in.
	spec := ProcessSpec{Name: name, Path: c.layout.Bin(Registry), Args: []string{"serve", config}, ReadyURL: "http://" + address + "/"}
	if _, err := c.StartProcess(ctx, spec); err != nil {
		return nil, err
	}
	return &PrivateRegistry{Address: address, User: privateUser, Password: privatePassword, cluster: c}, nil
}

// PushChart is Cluster.PushChart to this registry.
func (r *PrivateRegistry) PushChart(ctx context.Context, chartDir, version string, edits ...func(dir string) error) (Chart, error) {
	to := destination{registry: r.Address, login: []string{"--username", r.User, "--password", r.Password}}
	return r.cluster.pushChart(ctx, to, chartDir, version, edits)
}
