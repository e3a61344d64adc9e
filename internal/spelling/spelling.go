// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package spelling guesses which word was meant. It stands beside the flow: the stages, and what reads their input, use it
// for their messages.
package spelling

import "strings"

// Nearest is the known word that becomes word by the fewest letters added, left out or replaced, at most typos of them; of
// several, the first. Case does not count. Empty where no word is near.
func Nearest(word string, known []string, typos int) string {
	best, fewest := "", typos+1
	for _, candidate := range known {
		if n := Edits(strings.ToLower(word), strings.ToLower(candidate)); n < fewest {
			best, fewest = candidate, n
		}
	}
	return best
}

// Begun is the known word that begins with word, if it is the only one. Case does not count. Words of one or two letters are too
// short to say.
func Begun(word string, known []string) string {
	if len(word) < 3 {
		return ""
	}
	found := ""
	for _, candidate := range known {
		if strings.HasPrefix(strings.ToLower(candidate), strings.ToLower(word)) {
			if found != "" {
				return ""
			}
			found = candidate
		}
	}
	return found
}

// Edits is the Levenshtein distance of two strings of bytes.
func Edits(a, b string) int {
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
