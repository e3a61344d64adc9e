// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package toolchain builds every program that Sluice's tests and demo run: etcd, the parts of Kubernetes, kwok, an OCI
// registry, Flux's controllers and the kubectl, flux and helm commands, and the tools that check the code itself.
//
// It stands before package test/cluster, which starts what this package built. All sources come through the Go module proxy
// at versions pinned, with their sums, in test/tools; nothing is downloaded as a binary and no container engine is needed.
// Programs lie in bin/tools, beside the files of the same modules that a cluster needs (Flux's CRDs, kwok's stages).
//
// The package imports the standard library alone, so that `go run ./test/cmd/toolchain` starts at once in a fresh clone.
package toolchain
