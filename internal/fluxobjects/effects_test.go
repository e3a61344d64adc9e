// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/plan"
)

var update = flag.Bool("update", false, "write testdata anew")

// permissive lets gateways do all that a policy can forbid.
const permissive = "spec: {release: {serviceAccountName: flux}, policy: {allowedTargetNamespaces: ['*'], allowRemoteClusters: true, allowAdoption: true, allowPatches: true}}"

// mayChooseAccounts goes with all but patches.
const mayChooseAccounts = "spec: {release: {serviceAccountName: flux}, policy: {allowServiceAccountOverride: true}}"

// TestEveryFieldActs walks the API, so that a field added to it fails until it has a row, and compares what each field does
// to the objects (or, where they stay the same, to the plan) with testdata/effects.txt. A gateway's is shown under a class
// that allows everything, and refused under one that allows nothing or maps nothing.
func TestEveryFieldActs(t *testing.T) {
	var text strings.Builder
	for _, leaf := range rows(t, reflect.TypeFor[v1alpha1.APIGatewaySpec](), honouredOfGateway) {
		e, acts := honouredOfGateway[leaf]
		if !acts {
			writeMappable(t, &text, strings.TrimPrefix(leaf, "spec."))
			continue
		}
		writeGatewayField(t, &text, leaf, e)
	}
	for _, given := range []string{"metadata.name", "metadata.namespace", "release.name", "release.targetNamespace"} {
		writeMappable(t, &text, given)
	}
	for _, leaf := range rows(t, reflect.TypeFor[v1alpha1.APIGatewayClassSpec](), honouredOfClass) {
		e, acts := honouredOfClass[leaf]
		require.True(t, acts, "a class's %s does not act", leaf)
		heading(&text, "class", leaf, e.set)
		with := input(t, e.class, e.gateway)
		fill(t, e.set, &with.Classes[0])
		compare(t, &text, input(t, e.class, e.gateway), with)
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/effects.txt", []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/effects.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}

// rows are a type's leaves, and those rows of its table that are no part of the spec.
func rows(t *testing.T, typ reflect.Type, table map[string]effect) []string {
	t.Helper()
	all := leaves(typ, "spec")
	for _, field := range slices.Sorted(maps.Keys(table)) {
		if strings.HasPrefix(field, "metadata.") {
			all = append(all, field)
			continue
		}
		require.Contains(t, all, field, "a row without a field")
	}
	return all
}

func heading(text *strings.Builder, kind, field, set string) {
	fmt.Fprintf(text, "%s %s\n  given %s\n", kind, field, set)
}

func writeGatewayField(t *testing.T, text *strings.Builder, leaf string, e effect) {
	t.Helper()
	heading(text, "gateway", leaf, e.set)
	allows := permissive
	if leaf == "spec.release.serviceAccountName" {
		allows = mayChooseAccounts
	}
	before := input(t, allows, e.gateway)
	fill(t, e.class, &before.Classes[0])
	after := input(t, allows, e.gateway)
	fill(t, e.class, &after.Classes[0])
	fill(t, e.set, after.Gateway)
	compare(t, text, before, after)
	forbidden := input(t, e.class, "{}")
	fill(t, e.set, forbidden.Gateway)
	if _, refusals := describe(t, forbidden); refusals != "" {
		fmt.Fprintf(text, "  otherwise: %s\n", refusals)
	}
}

// writeMappable shows a field mapped to x.y, and not mapped.
func writeMappable(t *testing.T, text *strings.Builder, field string) {
	t.Helper()
	set, ok := mappableExamples[field]
	require.True(t, ok, "%s neither acts nor is mapped", field)
	heading(text, "mapped", field, set)
	mapped := "{field: " + field + ", paths: [x.y]}"
	if section, _, found := strings.Cut(field, "Ref."); found && !strings.HasSuffix(field, ".name") {
		mapped += ", {field: " + section + "Ref.name, paths: [besides]}"
	}
	class := "spec: {valueMappings: [" + mapped + "], policy: {allowedTargetNamespaces: ['*']}}"
	compare(t, text, input(t, "spec: {policy: {allowedTargetNamespaces: ['*']}}", "{}"), input(t, class, set))
	if _, refusals := describe(t, input(t, "spec: {policy: {allowedTargetNamespaces: ['*']}}", set)); refusals != "" {
		fmt.Fprintf(text, "  otherwise: %s\n", refusals)
	}
}

// compare writes what differs between two inputs.
func compare(t *testing.T, text *strings.Builder, before, after plan.Input) {
	t.Helper()
	was, refusedBefore := describe(t, before)
	is, refusedAfter := describe(t, after)
	if refusedBefore != "" { // then what it does is compared with what a plain gateway gets
		fmt.Fprintf(text, "  without: %s\n", refusedBefore)
		was, _ = describe(t, input(t, "{}", "{}"))
	}
	if refusedAfter != "" {
		fmt.Fprintf(text, "  refused: %s\n", refusedAfter)
		return
	}
	differences := 0
	for _, where := range slices.Sorted(maps.Keys(merged(was, is))) {
		if was[where] != is[where] {
			differences++
			fmt.Fprintf(text, "  %s: %s -> %s\n", where, shown(was[where]), shown(is[where]))
		}
	}
	require.True(t, differences > 0 || refusedBefore != "", "it does nothing: %s", text.String()[max(0, text.Len()-300):])
}

func shown(v string) string {
	if v == "" {
		return "none"
	}
	return v
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return all
}

// describe is every scalar of the input's objects, and of those parts of the plan that are not in the objects, by its place;
// or why there is no plan.
func describe(t *testing.T, in plan.Input) (map[string]string, string) {
	t.Helper()
	p, err := plan.Make(in)
	var refused *plan.Error
	switch {
	case errors.As(err, &refused):
		var words []string
		for _, f := range refused.Faults {
			words = append(words, f.Reason+" "+f.String())
		}
		return nil, strings.Join(words, "; ")
	case err != nil:
		return nil, err.Error()
	}
	objects := fluxobjects.Make(p, fluxobjects.SharedSources)
	places := map[string]string{}
	flatten(t, "OCIRepository", objects.Source, places)
	flatten(t, "HelmRelease", objects.Release, places)
	flatten(t, "plan.remediation", p.Remediation, places)
	flatten(t, "plan.deletionPolicy", p.DeletionPolicy, places)
	flatten(t, "plan.adopt", p.Adopt, places)
	if p.Release.Cluster != nil {
		flatten(t, "plan.cluster.name", p.Release.Cluster.Name, places)
	}
	return places, ""
}

func flatten(t *testing.T, name string, v any, places map[string]string) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(data, &tree))
	walk(name, tree, places)
}

func walk(name string, tree any, places map[string]string) {
	switch node := tree.(type) {
	case map[string]any:
		for key, child := range node {
			walk(name+"."+key, child, places)
		}
		if len(node) > 0 {
			return
		}
	case []any:
		for i, child := range node {
			walk(fmt.Sprintf("%s[%d]", name, i), child, places)
		}
		if len(node) > 0 {
			return
		}
	}
	data, _ := json.Marshal(tree)
	places[name] = string(data)
}

// input is a gateway and its class, each given as YAML laid over a plain one, beside another class.
func input(t *testing.T, class, gateway string) plan.Input {
	t.Helper()
	in := plan.Input{
		Gateway: &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "team"}},
		Classes: make([]v1alpha1.APIGatewayClass, 2),
		Config: &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "orders-values", Namespace: "team"},
			Data:       map[string]string{v1alpha1.ConfigKey: "config: 1"},
		},
		Environment: plan.Environment{APIs: plan.ServedAPIs([]string{"served/v1"})},
	}
	fill(t, `
metadata: {name: wso2, annotations: {gateway.sluice.dev/is-default-class: "true"}}
spec: {chart: {url: oci://registry.example.com/charts/gateway, ref: {tag: 1.2.0}}}
`, &in.Classes[0])
	fill(t, `{metadata: {name: plain}, spec: {chart: {url: oci://registry.example.com/charts/plain, ref: {tag: 3.0.0}}}}`, &in.Classes[1])
	fill(t, class, &in.Classes[0])
	fill(t, gateway, in.Gateway)
	return in
}

func fill(t *testing.T, text string, into any) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), into))
}
