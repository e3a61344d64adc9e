// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects

import (
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// An attempt goes on while a HelmRelease is suspended, and what Flux says of it is about the generation at which it began.
// Generations count every change of a spec, so that who suspends knows which one comes next, and can note that nothing else
// has changed.

// MarkSuspension notes in next, which is about to be written over live, the generations whose specs differ in suspend alone.
// Where people have resumed what Sluice suspended, and changed nothing else, an earlier note is continued.
func MarkSuspension(live, next *helmv2.HelmRelease) {
	resumed := next.Spec
	resumed.Suspend = false
	if live.Spec.Suspend || !next.Spec.Suspend || !SpecEqual(live.Spec, resumed) {
		return
	}
	from := live.Generation
	if first, last, ok := suspensionMark(live); ok && last == live.Generation-1 {
		from = first
	}
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[v1alpha1.AnnotationSuspendedAt] = SuspensionMark(next.Spec, from, live.Generation+1)
}

// UnchangedSince is the first generation that had the present spec, suspend aside, as far as that is noted.
func UnchangedSince(hr *helmv2.HelmRelease) int64 {
	if first, last, ok := suspensionMark(hr); ok && last == hr.Generation {
		return first
	}
	return hr.Generation
}

// SuspensionMark is the note: the generations, and a hash of their spec, as 4-7:1a2b3c4d5e6f7081.
func SuspensionMark(spec helmv2.HelmReleaseSpec, first, last int64) string {
	return fmt.Sprintf("%d-%d:%s", first, last, suspendAside(spec))
}

// suspensionMark reads the note, if it is about the present spec.
func suspensionMark(hr *helmv2.HelmRelease) (first, last int64, ok bool) {
	mark := hr.Annotations[v1alpha1.AnnotationSuspendedAt]
	if n, err := fmt.Sscanf(mark, "%d-%d:", &first, &last); n != 2 || err != nil {
		return 0, 0, false
	}
	return first, last, mark == SuspensionMark(hr.Spec, first, last)
}

func suspendAside(spec helmv2.HelmReleaseSpec) string {
	spec.Suspend = false
	return fullHash([]string{canonical(spec)})[:16]
}
