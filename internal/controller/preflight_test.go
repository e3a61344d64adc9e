// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
)

// served is a cluster's /openapi/v3: by path, the kinds and their fields.
type served map[string]map[schema.GroupVersionKind][]string

func (s served) Paths() (map[string]openapi.GroupVersion, error) {
	paths := map[string]openapi.GroupVersion{}
	for path, kinds := range s {
		paths[path] = document{path, kinds}
	}
	return paths, nil
}

type document struct {
	path  string
	kinds map[schema.GroupVersionKind][]string
}

func (d document) ServerRelativeURL() string { return "/openapi/v3/" + d.path }

func (d document) Schema(string) ([]byte, error) {
	schemas := map[string]any{}
	for kind, fields := range d.kinds {
		root := map[string]any{"x-kubernetes-group-version-kind": []any{
			map[string]string{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
		}}
		for _, field := range fields {
			at := root
			for _, name := range strings.Split(field, ".") {
				properties, ok := at["properties"].(map[string]any)
				if !ok {
					properties = map[string]any{}
					at["properties"] = properties
				}
				child, ok := properties[name].(map[string]any)
				if !ok {
					child = map[string]any{}
					properties[name] = child
				}
				at = child
			}
		}
		schemas[kind.Kind] = root
	}
	return json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
}

func everythingServed() served {
	s := served{}
	for _, n := range everythingNeeded() {
		path := "apis/" + n.kind.Group + "/" + n.kind.Version
		if s[path] == nil {
			s[path] = map[schema.GroupVersionKind][]string{}
		}
		s[path][n.kind] = n.fields
	}
	return s
}

func TestPreflight(t *testing.T) {
	const helm, source, own = "apis/helm.toolkit.fluxcd.io/v2", "apis/source.toolkit.fluxcd.io/v1", "apis/gateway.sluice.dev/v1alpha1"
	for what, c := range map[string]struct {
		change func(served)
		want   []string
	}{
		"everything is there": {func(served) {}, nil},
		"Flux is older": {func(s served) {
			for kind, fields := range s[helm] {
				s[helm][kind] = fields[:len(fields)-1]
			}
		}, []string{"HelmRelease (helm.toolkit.fluxcd.io/v2) has no field spec.upgrade.chartNameChangeStrategy: install Flux 2.9 or newer"}},
		"no Flux": {func(s served) { delete(s, helm); delete(s, source) }, []string{
			"HelmRelease (helm.toolkit.fluxcd.io/v2) is not served by this cluster: install Flux 2.9 or newer",
			"OCIRepository (source.toolkit.fluxcd.io/v1) is not served by this cluster: install Flux 2.9 or newer",
		}},
		"no CRDs of our own": {func(s served) { delete(s, own) }, []string{
			"APIGateway (gateway.sluice.dev/v1alpha1) is not served by this cluster: apply the CRDs of this version of Sluice",
			"APIGatewayClass (gateway.sluice.dev/v1alpha1) is not served by this cluster: apply the CRDs of this version of Sluice",
		}},
		"the group without the kind": {func(s served) { s[source] = nil }, []string{
			"OCIRepository (source.toolkit.fluxcd.io/v1) is not served by this cluster: install Flux 2.9 or newer",
		}},
	} {
		s := everythingServed()
		c.change(s)
		err := Preflight(s)
		if got, want := text(err), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, want)
		}
	}
}

type unreachable struct{ openapi.Client }

func (unreachable) Paths() (map[string]openapi.GroupVersion, error) {
	return nil, errors.New("connection refused")
}

func TestPreflightWithoutACluster(t *testing.T) {
	want := "cannot read what the cluster serves (/openapi/v3): connection refused"
	if got := text(Preflight(unreachable{})); got != want {
		t.Errorf("got %s", got)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
