// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/stretchr/testify/require"
)

func TestAGatewaysOwnVersionLiesWithinTheAllowedOnes(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, c := range map[string]struct{ allowed, chart, want, refused string }{
		"no version of its own":       {">=1.2.0 <2.0.0", "{}", "tag 1.2.0", ""},
		"a tag within":                {">=1.2.0 <2.0.0", "{tag: 1.9.0}", "tag 1.9.0", ""},
		"a tag with a v":              {">=1.2.0 <2.0.0", "{tag: v1.9.0}", "tag v1.9.0", ""},
		"a tag with a build":          {">=1.2.0 <2.0.0", "{tag: 1.9.0_build.1}", "tag 1.9.0_build.1", ""},
		"any tag, where nothing says": {"", "{tag: latest}", "tag latest", ""},
		"a tag outside": {">=1.2.0 <2.0.0", "{tag: 2.0.0}", "",
			"NotAllowed spec.chart.tag: class wso2 allows versions >=1.2.0 <2.0.0, and 2.0.0 is not among them"},
		"a prerelease": {">=1.2.0 <2.0.0", "{tag: 1.5.0-rc.1}", "",
			"NotAllowed spec.chart.tag: class wso2 allows versions >=1.2.0 <2.0.0, and 1.5.0-rc.1 is not among them; a prerelease lies only within a range that names one, such as >=1.2.0-0"},
		"a tag that is no version": {">=1.2.0 <2.0.0", "{tag: latest}", "",
			`NotAllowed spec.chart.tag: class wso2 allows versions >=1.2.0 <2.0.0, and "latest" is no whole version, such as 1.2.3`},
		"a tag that moves within": {">=1.0.0 <2.0.0", "{tag: '1.2'}", "",
			`NotAllowed spec.chart.tag: class wso2 allows versions >=1.0.0 <2.0.0, and "1.2" is no whole version, such as 1.2.3`},
		"a tag with zeros": {">=1.0.0 <2.0.0", "{tag: 01.2.3}", "",
			`NotAllowed spec.chart.tag: class wso2 allows versions >=1.0.0 <2.0.0, and "01.2.3" is no whole version, such as 1.2.3`},
		"a range that opens the allowed one to prereleases": {">=1.0.0 <2.0.0", "{semver: '>=1-0'}", "",
			`NotAllowed spec.chart.semver: class wso2 allows versions >=1.0.0 <2.0.0, no prereleases; write ">=1-0" without any`},
		"a range that the allowed one opens to prereleases": {">=1.0.0-0 <2.0.0", "{semver: 1.x}", "",
			`NotAllowed spec.chart.semver: class wso2 allows versions >=1.0.0-0 <2.0.0, prereleases among them, and "1.x" names none; name one, such as >=1.2.0-0, or set a tag`},
		"prereleases, where the allowed range names but a build": {">=1.0.0+git-abc <2.0.0", "{semver: '>=1.3.0-0'}", "",
			`NotAllowed spec.chart.semver: class wso2 allows versions >=1.0.0+git-abc <2.0.0, no prereleases; write ">=1.3.0-0" without any`},
		"a range that names but a build, where prereleases are allowed": {">=1.0.0-0 <2.0.0", "{semver: '>=1.3.0+git-abc'}", "",
			`NotAllowed spec.chart.semver: class wso2 allows versions >=1.0.0-0 <2.0.0, prereleases among them, and ">=1.3.0+git-abc" names none; name one, such as >=1.2.0-0, or set a tag`},
		"a range that names but a build":     {">=1.0.0 <2.0.0", "{semver: '>=1.3.0+git-abc'}", "semver >=1.3.0+git-abc, >=1.0.0 <2.0.0", ""},
		"builds on both sides":               {">=1.0.0+git-abc <2.0.0", "{semver: ^1.3+git-d}", "semver ^1.3+git-d, >=1.0.0+git-abc <2.0.0", ""},
		"prereleases with builds both times": {">=1.0.0-0+git-abc <2.0.0", "{semver: '>=1.3.0-0+b'}", "semver >=1.3.0-0+b, >=1.0.0-0+git-abc <2.0.0", ""},
		"prereleases on both sides":          {">=1.0.0-0 <2.0.0", "{semver: '>=1.3.0-0'}", "semver >=1.3.0-0, >=1.0.0-0 <2.0.0", ""},
		"a digest": {">=1.2.0 <2.0.0", "{digest: '" + digest + "'}", "",
			"NotAllowed spec.chart.digest: class wso2 allows versions >=1.2.0 <2.0.0, and a digest does not tell its version; set tag or semver"},
		"a range outside": {">=1.2.0 <2.0.0", "{semver: ^2.1}", "",
			`NotAllowed spec.chart.semver: class wso2 allows versions >=1.2.0 <2.0.0, and none of these is within "^2.1"`},
		"a range": {">=1.2.0 <2.0.0", "{semver: ^1.4}", "semver ^1.4, >=1.2.0 <2.0.0", ""},
		"alternatives on both sides": {"1.2.x || ^2", "{semver: '1 - 2 || >=2.5'}",
			"semver 1 - 2, 1.2.x || 1 - 2, ^2 || >=2.5, 1.2.x || >=2.5, ^2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, "spec: {chart: {allowedVersions: '"+c.allowed+"'}}", "spec: {chart: "+c.chart+"}")
			if c.refused != "" {
				require.Equal(t, []string{c.refused}, refusal(t, in))
				return
			}
			ref := made(t, in).Source.Spec.Reference
			got := "tag " + ref.Tag
			if ref.SemVer != "" {
				got = "semver " + ref.SemVer
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A gateway's range within the class's is one that the library takes, and a version lies within it just when it lies within
// both; or the two are refused.
func TestRangesWithinRanges(t *testing.T) {
	ranges := []string{"*", "1.x", "^1.2", "~1.2.3", ">=1.2.0 <2.0.0", ">=1.2.0,<2.0.0", "1.2 - 1.4", ">=1.0.0,1.2 - 1.4", "!=1.3.0", ">1 || 0.5.0", "=1.3.0",
		" 1 || 2 ", ">=1.3.0-0", ">=1-0", "^1-0", "1.x-0", "1-alpha - 2", ">1.2.0-a.1 <=1.5.0-b+c", "<1.3.0-0", "1.3.0-rc.1", "!=1.3.0-rc.1", "1.2.0-0 - 1.5.0-0", "1.x || >=2.0.0-0", "1.5.0-rc.1 || 2",
		">=1.0.0+git-abc", ">=1.0.0+git-abc <2.0.0-0", "^1.2+a-b || >=2.0.0-0+a", "1.2+a-b - 1.5.0"}
	versions := []string{"0.5.0", "1.0.0", "1.2.0", "1.2.3", "1.3.0-rc.1", "1.3.0", "1.4.9", "1.5.0-rc.1", "1.5.0", "2.0.0-rc.1", "2.0.0", "3.1.0"}
	within := func(constraint, version string) bool {
		c, err := semver.NewConstraint(constraint)
		return err == nil && c.Check(semver.MustParse(version))
	}
	accepted := 0
	for _, own := range ranges {
		for _, allowed := range ranges {
			var wrong faults
			both := allowedRange(own, allowed, "wso2", &wrong)
			if len(wrong) > 0 {
				continue
			}
			accepted++
			for _, v := range versions {
				require.False(t, within(both, v) && !within(allowed, v), "%s in %q, which is not in %q", v, both, allowed)
				if !namesPrereleases(semverRange(t, own)).some {
					require.Equal(t, within(own, v) && within(allowed, v), within(both, v), "%s in %q", v, both)
				}
			}
		}
	}
	require.Greater(t, accepted, 100)
}

// Which alternatives of a range take prereleases, the library alone decides: it says so of a prerelease that it refuses for being
// one.
func TestAlternativesThatNamePrereleases(t *testing.T) {
	const refused = `"1.5.0-rc.1" is a prerelease version and the constraint is only looking for release versions`
	for text, want := range map[string]naming{
		"*":                              {},
		"*-0":                            {some: true, all: true},
		"1.x-0":                          {some: true, all: true},
		">=1.0.0":                        {},
		">=1.0.0-0":                      {some: true, all: true},
		">=1.0.0+git-abc":                {},
		">=1+git-abc":                    {},
		"v1.2.x+git-abc":                 {},
		">=1.0.0--+git":                  {some: true, all: true},
		">=1.0.0-0+git-abc":              {some: true, all: true},
		">=1.0.0+git-abc <2.0.0":         {},
		">=1.0.0+git-abc,<2.0.0-0":       {some: true, all: true},
		"1.0.0+a-b - 2.0.0+c-d":          {},
		"1.0.0+a-b - 2.0.0-0+c":          {some: true, all: true},
		"1.0.0 - 2.0.0":                  {},
		"!=1.3.0-rc.1":                   {some: true, all: true},
		">=1.0.0+a-b || >=2.0.0-0":       {some: true},
		">=1.0.0+a-b||~2+c-d":            {},
		">=1.0.0-a+b-c || 2 - 3.0.0-0+a": {some: true, all: true},
	} {
		require.Equal(t, want, namesPrereleases(semverRange(t, text)), text)
		ofLibrary := naming{all: true}
		for _, alternative := range strings.Split(text, "||") {
			_, errs := semverRange(t, alternative).Validate(semver.MustParse("1.5.0-rc.1"))
			takes := !slices.ContainsFunc(errs, func(err error) bool { return err.Error() == refused })
			ofLibrary = naming{some: ofLibrary.some || takes, all: ofLibrary.all && takes}
		}
		require.Equal(t, ofLibrary, want, text)
	}
}

func semverRange(t *testing.T, text string) *semver.Constraints {
	t.Helper()
	constraint, err := semver.NewConstraint(text)
	require.NoError(t, err, text)
	return constraint
}

func TestARangeOfAllowedVersionsThatNobodyCanRead(t *testing.T) {
	for _, own := range []string{"tag: 1.0.0", "semver: 1.x"} {
		in := input(t, "spec: {chart: {allowedVersions: newest}}", "spec: {chart: {"+own+"}}")
		require.Equal(t, []string{`ClassNotAccepted APIGatewayClass/wso2 spec.chart.allowedVersions: "newest" is not a semver range, such as ">=1.2.0 <2.0.0"`}, refusal(t, in))
	}
}
