// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "strings"

// An optional field is a pointer. An empty string counts as absent, since templates write one where they have no value;
// 0 and false are values.

// text is the first candidate that is set, else the fallback.
func text[T ~string](fallback T, candidates ...*T) T {
	for _, candidate := range candidates {
		if candidate != nil && *candidate != "" {
			return *candidate
		}
	}
	return fallback
}

// value is the first candidate that is there, else the fallback.
func value[T any](fallback T, candidates ...*T) T {
	for _, candidate := range candidates {
		if candidate != nil {
			return *candidate
		}
	}
	return fallback
}

// deref is what p points at, or nothing set at all.
func deref[T any](p *T) T {
	var zero T
	return value(zero, p)
}

// quoted lists words as people read them: "a", "b".
func quoted(words []string) string {
	return "\"" + strings.Join(words, "\", \"") + "\""
}

// listed lists words, or says that there are none.
func listed(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
