// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package monitoring holds the queries of flux/monitoring, those of the alerts and of the dashboard, to the metrics that an
// operator really has: test/flux scrapes one and has them checked.
package monitoring
