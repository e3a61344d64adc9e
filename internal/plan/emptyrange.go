// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"regexp"

	"github.com/Masterminds/semver/v3"
)

var versionsNamed = regexp.MustCompile(`\d+(\.\d+){0,2}`)

// isEmptyRange says whether no version is within a range. Going up from 0.0.0, each of its conditions begins to hold at a version
// that it names, or at one that comes next to such a one: the lowest version within the range is among these, if there is any. Of
// ranges that name prereleases, which lie between these, it is not said.
func isEmptyRange(text string, constraint *semver.Constraints) bool {
	if namesPrereleases(constraint).some {
		return false
	}
	for _, name := range append(versionsNamed.FindAllString(text, -1), "0.0.0") {
		v, err := semver.NewVersion(name)
		if err != nil || max(v.Major(), v.Minor(), v.Patch()) == math.MaxUint64 {
			return false // of numbers that are too large it is not said either
		}
		patch, minor, major := v.IncPatch(), v.IncMinor(), v.IncMajor()
		if constraint.Check(v) || constraint.Check(&patch) || constraint.Check(&minor) || constraint.Check(&major) {
			return false
		}
	}
	return true
}
