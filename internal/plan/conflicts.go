// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"reflect"
	"slices"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// setting is one value that a typed field of the gateway puts at one path.
type setting struct {
	// field as people write it, as spec.infrastructure.replicas.
	field string
	path  Path
	value any
}

// layer is a document of values that people wrote beside the typed fields.
type layer struct {
	// name as messages give it: spec.values, or ConfigMap/<name> values.yaml.
	name   string
	values map[string]any
}

// refuseConflicts finds where a layer sets what a typed field sets, and differently. Otherwise one of them would be ignored.
func refuseConflicts(settings []setting, layers []layer, wrong *faults) {
	for _, s := range settings {
		for _, l := range layers {
			at, by, found := difference(s.path, s.value, l.values)
			if !found {
				continue
			}
			wrong.add(v1alpha1.ReasonFieldConflict, s.field,
				"sets %s to %s, but %s sets %s to %s; remove one, or make them equal",
				s.path, short(s.value), l.name, at, short(by))
		}
	}
}

// difference is the first place where laying the layer over a value at path would change that value: at the path itself,
// above it (deployment: null takes deployment.replicaCount away) or below it. A list replaces a list whole, so that within
// one everything must be equal.
func difference(path Path, value any, layer any) (at Path, by any, found bool) {
	for i, step := range path {
		if step.IsIndex {
			return path[:i], layer, !holds(layer, path[i:], value)
		}
		node, isMap := layer.(map[string]any)
		if !isMap {
			return path[:i], layer, true
		}
		next, present := node[step.Key]
		if !present {
			return nil, nil, false
		}
		layer = next
	}
	return overlay(path, value, layer)
}

// holds says whether a tree has just this value at the path.
func holds(tree any, path Path, value any) bool {
	for _, step := range path {
		node, _ := tree.(map[string]any)
		list, _ := tree.([]any)
		switch {
		case !step.IsIndex:
			tree = node[step.Key]
		case step.Index < len(list):
			tree = list[step.Index]
		default:
			return false
		}
	}
	return reflect.DeepEqual(tree, value)
}

// overlay is the first place where laying upper over lower changes lower.
func overlay(at Path, lower, upper any) (Path, any, bool) {
	under, isMap := lower.(map[string]any)
	over, areMaps := upper.(map[string]any)
	if !isMap || !areMaps {
		return at, upper, !reflect.DeepEqual(lower, upper)
	}
	for _, key := range slices.Sorted(maps.Keys(over)) {
		present, ok := under[key]
		if !ok {
			return at.key(key), over[key], true
		}
		if where, by, found := overlay(at.key(key), present, over[key]); found {
			return where, by, true
		}
	}
	return nil, nil, false
}

// maxShown is how much of a value a message shows.
const maxShown = 60

// short is a value as JSON, cut for a message.
func short(normal any) string {
	text := []rune(string(encode(normal)))
	if len(text) > maxShown {
		return string(text[:maxShown]) + "…"
	}
	return string(text)
}
