// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart holds the tests of charts/gateway, of the class that installs it, flux/classes/sluice.yaml, and of charts/sluice.
// They run the real helm CLI and look at what comes out: Envoy's bootstrap through Envoy's own protobuf types, the pods
// through the API server's own pod security policy. It stands outside the flow: nothing imports it.
package chart
