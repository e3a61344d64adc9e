// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package delivery holds the tests of what brings Sluice to a cluster, as far as they need none: the kustomizations of flux/
// and the recipe of the operator's image. (charts/sluice is tested in test/chart, and all of it together in test/install.)
// It stands outside the flow: nothing imports it.
package delivery
