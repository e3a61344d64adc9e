// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

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
