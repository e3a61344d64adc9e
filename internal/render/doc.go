// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package render is the generator: it stands at the end of the flow beside internal/controller, and runs the same stages
// offline. Files go into a Set, which reads them as kustomize-controller would and refuses what it cannot place; out of it
// come the OCIRepositories and HelmReleases of every gateway, for people who commit those themselves. It reads bytes, not
// disks: internal/cli holds the files and the terminal.
package render
