// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"os"
)

// registry is the spec of the OCI registry. Its content lies on disk and is there again after a stop and a start.
func (s *starter) registry() (ProcessSpec, error) {
	addresses, err := freeAddresses(1)
	if err != nil {
		return ProcessSpec{}, err
	}
	s.cluster.registry = addresses[0]
	config := s.path("data", "registry.yaml")
	if err := writeRegistryConfig(config, addresses[0], s.path("data", "registry"), nil); err != nil {
		return ProcessSpec{}, err
	}
	return ProcessSpec{
		Name: Registry, Path: s.layout.Bin(Registry), Args: []string{"serve", config},
		ReadyURL: "http://" + addresses[0] + "/v2/",
	}, nil
}

// writeRegistryConfig writes a registry's configuration; with auth nil it asks nobody for a password.
func writeRegistryConfig(file, address, root string, auth map[string]any) error {
	config := map[string]any{
		"version": "0.1",
		"log":     map[string]any{"level": "warn", "accesslog": map[string]any{"disabled": false}},
		"http":    map[string]any{"addr": address},
		"storage": map[string]any{
			"filesystem": map[string]any{"rootdirectory": root},
			"delete":     map[string]any{"enabled": true},
		},
	}
	if auth != nil {
		config["auth"] = auth
	}
	text, err := json.Marshal(config) // JSON is YAML
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
