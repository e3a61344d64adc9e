// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

// effort is what has been spent on finding out where exactly faults are: bytes that were decoded once more. Whoever can
// write an input must not choose how long it takes to refuse it.
type effort struct{ spent int }

// maxEffort is about a second. What is found later is reported all the same, at a place less exact.
const maxEffort = 32 << 20

// yamlEffort is how much longer a byte of YAML takes than one of JSON.
const yamlEffort = 8

// spend says whether n more bytes may be decoded.
func (e *effort) spend(n int) bool {
	if n > maxEffort-e.spent {
		return false
	}
	e.spent += n
	return true
}
