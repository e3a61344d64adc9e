// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo shows Sluice at work on a local cluster: a commit becomes a running gateway, an upgrade changes chart and
// values in one Helm revision, a broken upgrade is rolled back and says so, and the revert makes the gateway Ready again.
//
// It stands on package cluster, which runs everything, and package operator, which installs Sluice as it ships. What it does
// is a table, in chapters.go: each step has a name, a deadline and a function. Nothing waits blindly; a step ends when the
// objects say so. The cluster runs on after a demo that succeeded, for people to look around in, and is stopped after any
// other.
//
// Its folder, bin/demo, holds cluster (see package cluster; logs are in cluster/logs) and team, the clone of the
// repository in which the demo commits.
package demo
