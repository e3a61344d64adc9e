// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// version says where the chart that is checked is not one that the class would take.
func (k classCheck) version() {
	ref := k.class.Spec.Chart.Ref
	if wanted, taken := takes(ref.ChartVersion, k.chart.Version); !taken {
		field := "spec.chart.ref.tag"
		if ref.Semver != nil && *ref.Semver != "" {
			field = "spec.chart.ref.semver"
		}
		k.wrongVersion(field, wanted)
	}
	if allowed := k.class.Spec.Chart.AllowedVersions; allowed != nil && !withinRange(*allowed, k.chart.Version) {
		k.wrongVersion("spec.chart.allowedVersions", *allowed)
	}
}

func (k classCheck) wrongVersion(field, wanted string) {
	k.add(Warning, RuleChartVersion, className(k.class.Name), field,
		fmt.Sprintf("is %q, and the chart that was checked, %s, is not that version; check the one that gateways get", wanted, k.chart))
}

// takes says whether a chart of that version is what a tag or range asks for, and what is asked for. Of a digest nobody
// can tell.
func takes(wanted v1alpha1.ChartVersion, version string) (text string, taken bool) {
	switch {
	case wanted.Semver != nil && *wanted.Semver != "":
		return *wanted.Semver, withinRange(*wanted.Semver, version)
	case wanted.Tag != nil && *wanted.Tag != "":
		// Helm pushes 1.0.0+1 as 1.0.0_1, since a tag has no plus sign.
		return *wanted.Tag, *wanted.Tag == strings.ReplaceAll(version, "+", "_")
	}
	return "", true
}

// withinRange takes what it cannot read for right; it is refused elsewhere.
func withinRange(constraint, version string) bool {
	wanted, err := semver.NewConstraint(constraint)
	if err != nil {
		return true
	}
	v, err := semver.NewVersion(version)
	return err != nil || wanted.Check(v)
}
