// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts and stops a whole real cluster on the loopback interface of one Linux machine: etcd, the Kubernetes
// API server with RBAC and an audit log, controller-manager, scheduler, fake nodes by kwok, an OCI registry, git over HTTP,
// and Flux's source-, kustomize- and helm-controller.
//
// It stands between package toolchain, which builds those programs into bin/tools, and everything that needs a cluster: the
// test suites, which call Start, and the demo, whose cluster outlives the command that made it (see Serve, UpDetached and
// Attach, and command localcluster).
//
// Nobody but the process that called Start owns the cluster's processes. They end with it, however it ends: Stop ends them in
// order, and the kernel kills them when their parent dies (PR_SET_PDEATHSIG).
package cluster
