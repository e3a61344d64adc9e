// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package version holds the version of both commands.
package version

// Version is set by the linker: -X github.com/sluice-gateway/sluice/internal/version.Version=v1.2.3.
var Version = "dev"
