// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
)

// notMappable says why a field cannot be mapped, and what may have been meant.
func notMappable(name string) string {
	if _, ok := mappable(strings.TrimPrefix(name, "spec.")); ok {
		return fmt.Sprintf("%q is written without spec.", name)
	}
	if name == "infrastructure.images" || strings.HasPrefix(name, "infrastructure.images.") {
		return "images are mapped by spec.imageMappings"
	}
	var leaves, all []string
	for _, field := range mappableFields {
		all = append(all, field.name)
		if strings.HasPrefix(field.name, name+".") {
			leaves = append(leaves, field.name)
		}
		if strings.HasPrefix(name, field.name+".") && !field.scalar {
			return fmt.Sprintf("%q lies within %s, which is mapped as a whole", name, field.name)
		}
	}
	if len(leaves) > 0 {
		return fmt.Sprintf("%q is not one value; map its leaves: %s", name, listed(leaves))
	}
	if near := nearest(name, all); near != "" {
		return fmt.Sprintf("%q is no field that can be mapped; did you mean %s?", name, near)
	}
	return fmt.Sprintf("%q is no field that can be mapped; these can: %s", name, listed(all))
}

// maxTypos is how far a name may be from the one that was meant.
const maxTypos = 4

// nearest is the candidate with the fewest edits from name, or empty where all are far.
func nearest(name string, candidates []string) string {
	best, fewest := "", maxTypos+1
	for _, candidate := range candidates {
		if n := edits(strings.ToLower(name), strings.ToLower(candidate)); n < fewest {
			best, fewest = candidate, n
		}
	}
	return best
}

// edits is the Levenshtein distance of two strings of bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
