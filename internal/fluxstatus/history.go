// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus

import (
	"regexp"
	"sort"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
)

// Helm's words for the state of a revision.
const (
	// StatusDeployed is the revision that runs.
	StatusDeployed = "deployed"
	// StatusSuperseded is a revision that ran before another one.
	StatusSuperseded = "superseded"
	// statusUninstalled is a revision that was taken away while its record was kept.
	statusUninstalled = "uninstalled"
	// statusUninstalling is what Flux's history keeps of a revision that was taken away together with its record: the last
	// state that Helm stored.
	statusUninstalling = "uninstalling"
)

// observeHistory sorts the snapshots, since Flux does not keep them sorted.
func (o *Observation) observeHistory(history helmv2.Snapshots) {
	for _, s := range history {
		if s != nil {
			o.History = append(o.History, s)
		}
	}
	sort.SliceStable(o.History, func(i, j int) bool { return o.History[i].Version > o.History[j].Version })
	if len(o.History) > 0 {
		o.Latest = o.History[0]
	}
}

// fluxDigestSuffix is what helm-controller appends to a chart's version: 12 hex digits of its digest.
var fluxDigestSuffix = regexp.MustCompile(`\+[0-9a-f]{12}$`)

// AuthorVersion is a chart version as its author wrote it, without the digest that helm-controller appends.
func AuthorVersion(version string) string {
	return fluxDigestSuffix.ReplaceAllString(version, "")
}

// FromRollback tells whether the latest snapshot came from a rollback.
func (o Observation) FromRollback() bool {
	return o.Latest != nil && o.Latest.Action == helmv2.ReleaseActionRollback
}

// Deployed tells whether the latest snapshot is the one that runs.
func (o Observation) Deployed() bool {
	return o.Latest != nil && o.Latest.Status == StatusDeployed
}

// DigestIgnored tells whether the running release was made from another chart than the wanted one, though Flux speaks of
// success (its gate DisableChartDigestTracking). A rollback's snapshot has no digest.
func (o Observation) DigestIgnored() bool {
	return o.Latest != nil && o.Latest.OCIDigest != "" && o.Source.Digest != "" && digestOf(o.Latest.OCIDigest) != o.Source.Digest
}

// StatusOf is Helm's word for the state of a revision. That Flux took it away is known from the remediation alone, since the
// record of the release went with it.
func (o Observation) StatusOf(s *helmv2.Snapshot) string {
	if s.Status == statusUninstalling && o.UninstallSucceeded {
		return statusUninstalled
	}
	return s.Status
}

// Uninstalled tells whether the release was taken away, as a failed first install is.
func (o Observation) Uninstalled() bool {
	return o.Latest != nil && (o.Latest.Status == statusUninstalled || o.Latest.Status == statusUninstalling)
}

// OnceSucceeded tells whether Flux's history shows that a release which once succeeded is still there.
func (o Observation) OnceSucceeded() bool {
	if o.Uninstalled() {
		return false
	}
	for _, s := range o.History {
		if s.Status == StatusDeployed || s.Status == StatusSuperseded {
			return true
		}
	}
	return false
}
