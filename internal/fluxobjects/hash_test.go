// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

const digest = "sha256:7fff28b7a7a2"

// settings do not move DesiredHash: neither is a reason for another attempt.
var settings = []string{".Suspend", ".Interval", ".ChartRef"}

// contents move ContentHash: they decide what ends up in the cluster.
var contents = []string{
	".ReleaseName", ".TargetNamespace", ".StorageNamespace", ".KubeConfig", ".Values", ".ValuesFrom",
	".CommonMetadata", ".PostRenderers", ".PostRenderStrategy",
}

func TestHashesOfEveryField(t *testing.T) {
	spec := *filled[helmv2.HelmReleaseSpec]()
	desired, content := fluxobjects.DesiredHash(spec, digest), fluxobjects.ContentHash(spec, digest)
	changed(t, func(leaf string, other *helmv2.HelmReleaseSpec) {
		if fluxobjects.SpecEqual(spec, *other) {
			t.Errorf("%s does not count for SpecEqual", leaf)
		}
		if moved := fluxobjects.DesiredHash(*other, digest) != desired; moved == under(leaf, settings) {
			t.Errorf("%s moves DesiredHash: %v", leaf, moved)
		}
		if moved := fluxobjects.ContentHash(*other, digest) != content; moved != under(leaf, contents) {
			t.Errorf("%s moves ContentHash: %v", leaf, moved)
		}
	})
}

// under tells whether the leaf is one of the fields or lies below one.
func under(leaf string, fields []string) bool {
	for _, field := range fields {
		if rest, ok := strings.CutPrefix(leaf, field); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

func TestHashesOfDigests(t *testing.T) {
	spec := fluxobjects.Make(fullPlan(), fluxobjects.SharedSources).Release.Spec
	for what, hash := range map[string]func(helmv2.HelmReleaseSpec, string) string{
		"DesiredHash": fluxobjects.DesiredHash,
		"ContentHash": fluxobjects.ContentHash,
	} {
		if got := hash(spec, ""); got != "" {
			t.Errorf("%s without a digest = %q, want nothing", what, got)
		}
		if got := hash(spec, digest); len(got) != 64 || got == hash(spec, "sha256:0123456789ab") {
			t.Errorf("%s = %q, want 64 hex digits that another digest moves", what, got)
		}
	}
}

func TestValuesAreComparedByMeaning(t *testing.T) {
	for what, c := range map[string]struct {
		a, b  string
		equal bool
	}{
		"key order and spacing do not count":     {`{"a":1,"b":{"c":2,"d":3}}`, "{\"b\": {\"d\":3, \"c\":2},\n\"a\":1}", true},
		"1.0 is 1, as the API server stores it":  {`{"a":1.0}`, `{"a":1}`, true},
		"1e3 is 1000":                            {`{"a":1e3}`, `{"a":1000}`, true},
		"large integers are exact within int64":  {`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		"null is not absence":                    {`{"a":null}`, `{}`, false},
		"text is not a number":                   {`{"a":"1"}`, `{"a":1}`, false},
		"the order of a list counts":             {`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		"an escaped character is the character":  {`{"a":"\u003c"}`, `{"a":"<"}`, true},
		"an empty map is not the same as none":   {`{}`, ``, false},
		"what is not JSON equals nothing stored": {`{"a"`, `{"a":1}`, false},
	} {
		t.Run(what, func(t *testing.T) {
			a, b := withValues(c.a), withValues(c.b)
			if got := fluxobjects.SpecEqual(a, b); got != c.equal {
				t.Errorf("SpecEqual = %v, want %v", got, c.equal)
			}
			if got := fluxobjects.DesiredHash(a, digest) == fluxobjects.DesiredHash(b, digest); got != c.equal {
				t.Errorf("the same DesiredHash: %v, want %v", got, c.equal)
			}
			if got := fluxobjects.ContentHash(a, digest) == fluxobjects.ContentHash(b, digest); got != c.equal {
				t.Errorf("the same ContentHash: %v, want %v", got, c.equal)
			}
		})
	}
}

func TestHashingChangesNothing(t *testing.T) {
	spec := withValues(`{"b":1, "a":1.0}`)
	fluxobjects.DesiredHash(spec, digest)
	fluxobjects.ContentHash(spec, digest)
	fluxobjects.SpecEqual(spec, withValues(`{}`))
	if got := string(spec.Values.Raw); got != `{"b":1, "a":1.0}` || spec.ReleaseName != "orders" {
		t.Errorf("the spec became %s, %s", spec.ReleaseName, got)
	}
}

func withValues(values string) helmv2.HelmReleaseSpec {
	spec := helmv2.HelmReleaseSpec{ReleaseName: "orders"}
	if values != "" {
		spec.Values = &apiextensionsv1.JSON{Raw: []byte(values)}
	}
	return spec
}
