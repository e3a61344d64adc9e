// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/stretchr/testify/require"
)

func TestTheVersionOfTheChart(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		class, gateway string
		want           sourcev1.OCIRepositoryRef
	}{
		"the class's tag": {
			class: "{tag: 1.2.0}",
			want:  sourcev1.OCIRepositoryRef{Tag: "1.2.0"},
		},
		"the class's range and filter": {
			class: "{tag: '', semver: 1.x, semverFilter: '^1'}",
			want:  sourcev1.OCIRepositoryRef{SemVer: "1.x", SemverFilter: "^1"},
		},
		"the class's digest": {
			class: "{tag: '', digest: '" + digest + "'}",
			want:  sourcev1.OCIRepositoryRef{Digest: digest},
		},
		"the gateway's tag instead of the class's": {
			class:   "{tag: 1.2.0}",
			gateway: "{tag: 1.3.0}",
			want:    sourcev1.OCIRepositoryRef{Tag: "1.3.0"},
		},
		"the gateway's tag instead of the class's range, whose filter goes with it": {
			class:   "{tag: '', semver: 1.x, semverFilter: '^1'}",
			gateway: "{tag: 1.3.0}",
			want:    sourcev1.OCIRepositoryRef{Tag: "1.3.0"},
		},
		"the gateway's range instead of the class's, whose filter stays": {
			class:   "{tag: '', semver: 1.x, semverFilter: '^1'}",
			gateway: "{semver: '>=1.3.0-0'}",
			want:    sourcev1.OCIRepositoryRef{SemVer: ">=1.3.0-0", SemverFilter: "^1"},
		},
		"the gateway's range instead of the class's tag": {
			class:   "{tag: 1.2.0}",
			gateway: "{semver: ^2 || ^3}",
			want:    sourcev1.OCIRepositoryRef{SemVer: "^2 || ^3"},
		},
		"the gateway's digest instead of the class's tag": {
			class:   "{tag: 1.2.0}",
			gateway: "{tag: '', digest: '" + digest + "'}",
			want:    sourcev1.OCIRepositoryRef{Digest: digest},
		},
	} {
		t.Run(name, func(t *testing.T) {
			gateway := "{}"
			if c.gateway != "" {
				gateway = "spec: {chart: " + c.gateway + "}"
			}
			p := made(t, input(t, "spec: {chart: {ref: "+c.class+"}}", gateway))
			require.Equal(t, &c.want, p.Source.Spec.Reference)
		})
	}
}

func TestAVersionThatNoRegistryHasIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ chart, refused string }{
		"tag and semver": {
			"{tag: 1.0.0, semver: 1.x}",
			"spec.chart: tag and semver are both set; set at most one of tag, semver and digest",
		},
		"semver and digest": {
			"{semver: 1.x, digest: 'sha256:" + strings.Repeat("00", 32) + "'}",
			"spec.chart: semver and digest are both set; set at most one of tag, semver and digest",
		},
		"a tag with a blank": {
			"{tag: 'v 1'}",
			`spec.chart.tag: "v 1" is not a tag: letters, digits, _, . and -, at most 128`,
		},
		"a version with build metadata, as a tag": {
			"{tag: 1.0.0+build.1}",
			`spec.chart.tag: "1.0.0+build.1": a tag has no +; Helm pushes such a version as "1.0.0_build.1"`,
		},
		"a range that is none": {
			"{semver: latest}",
			`spec.chart.semver: "latest" is not a semver range, such as ">=1.2.0 <2.0.0"`,
		},
		"a range that no version is within": {
			"{semver: '>=2.0.0 <1.0.0'}",
			`spec.chart.semver: ">=2.0.0 <1.0.0" is a range that no version is within; write one such as ">=1.2.0 <2.0.0"`,
		},
		"a digest in uppercase": {
			"{digest: 'sha256:" + strings.Repeat("0A", 32) + "'}",
			`spec.chart.digest: "sha256:` + strings.Repeat("0A", 32) + `" is not a digest; write sha256:<64 lowercase hex digits>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []string{"InvalidSpec " + c.refused}, refusal(t, input(t, "{}", "spec: {chart: "+c.chart+"}")))
		})
	}
}

func TestRangesThatNoVersionIsWithin(t *testing.T) {
	for text, empty := range map[string]bool{
		"*":                        false,
		"!=*":                      false,
		">1":                       false,
		">1.2 <1.3":                true,
		">1.2 <1.4":                false,
		">1.2.3 <1.2.4":            true,
		">1.2.3 <1.2.5":            false,
		">1.2.3 !=1.2.4 <1.2.5":    true,
		">1.2.3, !=1.2.4, <1.2.6":  false,
		">=2.0.0 <1.0.0":           true,
		">=2.0.0 <1.0.0 || 3.x":    false,
		"^1 !=1.x":                 true,
		"^1 !=1.0.x":               false,
		"~1.2 ~1.3":                true,
		"1.2 - 1.4":                false,
		"1.4 - 1.2":                true,
		"<0.0.0":                   true,
		"<=0.0.0":                  false,
		"^0.2.3 >=0.3.0":           true,
		"!=0.x !=1.x !=2.x":        false,
		">=3.0.0-0 <2.0.0":         false, // which may have prereleases
		">1.0.0-alpha <1.0.0-beta": false,
		">=3.0.0+git-abc <2.0.0":   true,
		">=1.0.0+git-abc <2.0.0":   false,
		// The largest numbers that there are.
		">18446744073709551615":     false,
		">1.18446744073709551615":   false,
		">1.2.18446744073709551615": false,
		">18446744073709551614 <1":  true,
	} {
		constraint, err := semver.NewConstraint(text)
		require.NoError(t, err, text)
		require.Equal(t, empty, isEmptyRange(text, constraint), text)
	}
}

// FuzzEmptyRange: a range that is said to be empty has none of the versions that one would try.
func FuzzEmptyRange(f *testing.F) {
	for _, seed := range []string{">1.2 <1.3", ">=2.0.0 <1.0.0", "^1 !=1.x", "~0.1 || <0.0.0", "1.4 - 1.2", "!=*", ">*", "=1 !=1.0.0", ">18446744073709551615"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		constraint, err := semver.NewConstraint(text)
		if err != nil || !isEmptyRange(text, constraint) {
			t.Skip()
		}
		for i := range uint64(6 * 6 * 6) {
			require.False(t, constraint.Check(semver.New(i/36, i/6%6, i%6, "", "")), text)
		}
	})
}
