// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package migrate stands before the flow, for those who come from elsewhere: it turns the resources of two operators that
// drive Helm themselves (WSO2's API Platform gateway operator, and HyperShell, which runs NVIDIA's OpenShell) into
// APIGateways whose Helm releases have the names and values of those that run, so that Flux takes them over. Every field is
// moved, or named in a warning with the reason. It is pure, and judges what it made by the plan that the operator will make
// of it.
//
// The old formats are those of their public sources as of autumn 2026.
package migrate
