// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"iter"
	"maps"
)

// globalKey is the one key of values that Helm hands on to every subchart.
const globalKey = "global"

func keys[V any](m map[string]V) iter.Seq[string] {
	return maps.Keys(m)
}

// Merge lays values over the chart's defaults as Helm does: a null removes what the chart has by default, and stays where
// the chart has nothing. Subcharts that are always installed bring their defaults along. Nothing that is given is changed.
func (c *Chart) Merge(over map[string]any) map[string]any {
	merged := overlay(c.Values, over, false)
	for _, sub := range c.Subcharts {
		if sub.Conditional {
			continue
		}
		own, isMap := merged[sub.Key].(map[string]any)
		if given, alsoGiven := over[sub.Key].(map[string]any); alsoGiven {
			defaults, _ := c.Values[sub.Key].(map[string]any)
			own = withNulls(defaults, given)
		}
		if isMap || merged[sub.Key] == nil {
			merged[sub.Key] = sub.Chart.Merge(withGlobals(own, merged[globalKey]))
		}
	}
	return merged
}

// overlay is one level of Merge. What remains of the defaults holds no null.
func overlay(under, over map[string]any, below bool) map[string]any {
	merged := make(map[string]any, len(under)+len(over))
	for key, value := range under {
		if cleaned := withoutNulls(value); cleaned != nil {
			merged[key] = cleaned
		}
	}
	for key, value := range over {
		lower, had := under[key]
		lowerMap, lowerIsMap := lower.(map[string]any)
		valueMap, valueIsMap := value.(map[string]any)
		switch {
		case value == nil && had && (lower != nil || !below):
			delete(merged, key)
		case lowerIsMap && valueIsMap:
			merged[key] = overlay(lowerMap, valueMap, true)
		default:
			merged[key] = value
		}
	}
	return merged
}

// withNulls merges what goes on to a subchart, where a null removes the subchart's default too.
func withNulls(under, over map[string]any) map[string]any {
	merged := maps.Clone(over)
	for key, value := range under {
		above, given := over[key]
		aboveMap, isMap := above.(map[string]any)
		valueMap, wasMap := value.(map[string]any)
		switch {
		case !given:
			merged[key] = value
		case isMap && wasMap:
			merged[key] = withNulls(valueMap, aboveMap)
		}
	}
	return merged
}

func withoutNulls(value any) any {
	tree, isMap := value.(map[string]any)
	if !isMap {
		return value
	}
	cleaned := make(map[string]any, len(tree))
	for key, child := range tree {
		if child = withoutNulls(child); child != nil {
			cleaned[key] = child
		}
	}
	return cleaned
}

// withGlobals are a subchart's values with the parent's globals over its own.
func withGlobals(own map[string]any, globals any) map[string]any {
	given, _ := globals.(map[string]any)
	result := maps.Clone(own)
	if result == nil {
		result = map[string]any{}
	}
	mine, isMap := result[globalKey].(map[string]any)
	if isMap || result[globalKey] == nil {
		result[globalKey] = overlay(mine, given, true)
	}
	return result
}
