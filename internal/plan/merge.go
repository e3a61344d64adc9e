// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "maps"

// merge lays upper over lower: maps merge, everything else replaces, and a null replaces and stays, since Helm deletes the
// chart's default by it. Neither is changed, but the result shares what it did not have to copy.
func merge(lower, upper map[string]any) map[string]any {
	if len(lower) == 0 {
		return upper
	}
	merged := maps.Clone(lower)
	for key, over := range upper {
		overMap, ok := over.(map[string]any)
		if under, both := merged[key].(map[string]any); ok && both {
			merged[key] = merge(under, overMap)
			continue
		}
		merged[key] = over
	}
	return merged
}

// clone copies values in normal form all the way down.
func clone(normal any) any {
	switch v := normal.(type) {
	case map[string]any:
		node := make(map[string]any, len(v))
		for key, under := range v {
			node[key] = clone(under)
		}
		return node
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = clone(element)
		}
		return list
	default:
		return v
	}
}
