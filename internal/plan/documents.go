// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// ReadValues reads a document of values as `helm --values` does, into the form that the API server gives them: integers are
// int64, and 1.0 is 1. It says everything that is wrong with the document.
func ReadValues(document []byte) (map[string]any, []string) {
	values, problems := decodeYAML(document)
	return values, texts(problems)
}

// MergeValues lays upper over lower as Sluice merges its layers: maps merge, everything else replaces. Neither is changed, but
// the result shares what it did not have to copy.
func MergeValues(lower, upper map[string]any) map[string]any { return merge(lower, upper) }

// NormalValues brings values that a JSON decoder made into the same form as ReadValues.
func NormalValues(decoded any) (any, []string) {
	normal, problems := normalise(clone(decoded))
	return normal, texts(problems)
}
