// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The API server checks most of these too; the generator reads files that it has not seen.

// at is the path of a list's element.
func at(field string, index int) string {
	return fmt.Sprintf("%s[%d]", field, index)
}

// checkDuration refuses what Flux's CRDs refuse: nothing, less, and fractions of a millisecond, which Go writes in µs.
func checkDuration(field string, d *metav1.Duration, wrong *faults) {
	switch {
	case d == nil:
	case d.Duration <= 0:
		wrong.invalid(field, "%s is not greater than 0", d.Duration)
	case d.Duration < time.Millisecond:
		wrong.invalid(field, "%s is less than a millisecond", d.Duration)
	}
}

// checkOneOf refuses a word that is not among the known ones.
func checkOneOf[T ~string](field string, word *T, wrong *faults, known ...T) {
	given := text("", word)
	if given != "" && !slices.Contains(known, given) {
		words := make([]string, len(known))
		for i, k := range known {
			words[i] = string(k)
		}
		wrong.invalid(field, "%q is not one of %s", given, quoted(words))
	}
}

// checkRange refuses a number outside [least, most].
func checkRange(field string, n *int32, least, most int32, wrong *faults) {
	if n != nil && (*n < least || *n > most) {
		wrong.invalid(field, "%d is not within %d to %d", *n, least, most)
	}
}
