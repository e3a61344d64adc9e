// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// holdsBack tells whether the HelmRelease keeps its whole present spec for now. Chart and values switch together, in one
// write, and only to a source that has its artifact: a chart that does not exist never touches what runs, and Flux goes on
// repairing drift until the switch. A release that moves to another shard is not in the middle of an action then.
func holdsBack(s *state) bool {
	return s.handsOver > 0 || !sameChart(s.release, s.desired.Release) && !usable(s.wanted) && somethingToProtect(s.release, s.present)
}

func sameChart(live, desired *helmv2.HelmRelease) bool {
	source := chartSource(live)
	return source.Name != "" && source == chartSource(desired)
}

func usable(source *sourcev1.OCIRepository) bool {
	if source == nil || source.DeletionTimestamp != nil {
		return false
	}
	return fluxstatus.Observe(fluxstatus.Input{Source: source}).Source.Usable
}

// somethingToProtect is false while the first install waits for a chart that never came, so that a corrected version goes
// through at once.
func somethingToProtect(live *helmv2.HelmRelease, present *sourcev1.OCIRepository) bool {
	return len(live.Status.History) > 0 || present != nil && present.Status.Artifact != nil
}
