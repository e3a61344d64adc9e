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
// above it (deployment: null takes deployment.replicaCount away, and a list replaces a list whole) or below it.
func difference(path Path, value any, layer any) (at Path, by any, found bool) {
	for i, step := range path {
		node, isMap := layer.(map[string]any)
		list, isList := layer.([]any)
		switch {
		case isMap && !step.IsIndex:
			next, present := node[step.Key]
			if !present {
				return nil, nil, false
			}
			layer = next
		case isList && step.IsIndex && step.Index < len(list):
			layer = list[step.Index]
		default:
			return path[:i], layer, true
		}
	}
	return overlay(path, value, layer)
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
