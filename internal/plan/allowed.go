// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// allowedVersion keeps a gateway's own version within the class's allowedVersions: a tag must lie within, a range is
// intersected, and of a digest nobody can tell which version it is.
func allowedVersion(own v1alpha1.ChartVersion, class *v1alpha1.APIGatewayClass, wrong *faults) v1alpha1.ChartVersion {
	allowed := text("", class.Spec.Chart.AllowedVersions)
	if allowed == "" {
		return own
	}
	switch {
	case text("", own.Digest) != "":
		wrong.add(v1alpha1.ReasonNotAllowed, "spec.chart.digest",
			"class %s allows versions %s, and a digest does not tell its version; set tag or semver", class.Name, allowed)
	case text("", own.Tag) != "":
		checkAllowedTag(*own.Tag, allowed, class.Name, wrong)
	case text("", own.Semver) != "":
		both := allowedRange(*own.Semver, allowed, class.Name, wrong)
		return v1alpha1.ChartVersion{Semver: &both}
	}
	return own
}

func checkAllowedTag(tag, allowed, class string, wrong *faults) {
	const field = "spec.chart.tag"
	// Helm pushes 1.0.0+build as 1.0.0_build, since a tag has no +.
	// One with fewer numbers than three, as 1.2, mostly moves from version to version.
	version, err := semver.StrictNewVersion(strings.TrimPrefix(strings.ReplaceAll(tag, "_", "+"), "v"))
	if err != nil {
		wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s allows versions %s, and %q is no whole version, such as 1.2.3", class, allowed, tag)
		return
	}
	constraint, err := semver.NewConstraint(allowed)
	if err != nil || constraint.Check(version) {
		return // a range that cannot be read is a fault of the class
	}
	advice := ""
	if version.Prerelease() != "" {
		advice = "; a prerelease lies only within a range that names one, such as >=1.2.0-0"
	}
	wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s allows versions %s, and %s is not among them%s", class, allowed, tag, advice)
}

// allowedRange is the gateway's range within the class's. A prerelease lies within a range only if one of its conditions names
// one, and so together each would open the other to prereleases: either both name some, or neither.
func allowedRange(own, allowed, class string, wrong *faults) string {
	const field = "spec.chart.semver"
	wanted, err := semver.NewConstraint(own)
	if err != nil {
		return own // said elsewhere
	}
	bounds, err := semver.NewConstraint(allowed)
	if err != nil {
		return own // a fault of the class
	}
	switch ownNames, allowedNames := namesPrereleases(wanted), namesPrereleases(bounds); {
	case ownNames.some && !allowedNames.all:
		wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s allows versions %s, no prereleases; write %q without any", class, allowed, own)
		return own
	case !ownNames.all && allowedNames.some:
		wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s allows versions %s, prereleases among them, and %q names none; "+
			"name one, such as >=1.2.0-0, or set a tag", class, allowed, own)
		return own
	}
	both := intersection(own, allowed)
	switch joined, err := semver.NewConstraint(both); {
	case err != nil:
		wrong.invalid(field, "%q cannot be joined to what class %s allows, %s; write it with >= and <", own, class, allowed)
	case isEmptyRange(both, joined) && !wrong.about(field):
		wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s allows versions %s, and none of these is within %q", class, allowed, own)
	}
	return both
}

// naming says of how many of a range's alternatives something holds.
type naming struct{ some, all bool }

// namesPrereleases goes by the conditions as the library read them. A hyphen behind a + is of a build, which opens no range to
// prereleases.
func namesPrereleases(constraint *semver.Constraints) naming {
	n := naming{all: true}
	for _, alternative := range strings.Split(constraint.String(), "||") {
		if slices.ContainsFunc(strings.Fields(alternative), namesPrerelease) {
			n.some = true
		} else {
			n.all = false
		}
	}
	return n
}

func namesPrerelease(condition string) bool {
	version, _, _ := strings.Cut(condition, "+")
	return strings.Contains(version, "-")
}

// intersection is a range within which a version lies when it lies within both. A range is alternatives, joined by ||, of
// conditions that must all hold.
func intersection(a, b string) string {
	var both []string
	for _, left := range strings.Split(a, "||") {
		for _, right := range strings.Split(b, "||") {
			both = append(both, strings.TrimSpace(left)+", "+strings.TrimSpace(right))
		}
	}
	return strings.Join(both, " || ")
}
