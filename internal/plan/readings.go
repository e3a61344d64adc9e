// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/sluice-gateway/sluice/api/v1alpha1"

// Readings remember what was read of classes, for who makes many plans at a time. They go by the classes' addresses, so
// that these must not move or change meanwhile. Concurrent plans may share them once Read has read all their classes.
type Readings map[*v1alpha1.APIGatewayClass]reading

type reading struct {
	rules rules
	wrong faults
}

// Read reads classes beforehand.
func (r Readings) Read(classes []v1alpha1.APIGatewayClass) {
	for i := range classes {
		r.class(&classes[i])
	}
}

// class is readClass, once a class. Without a map nothing is remembered.
func (r Readings) class(class *v1alpha1.APIGatewayClass) (rules, faults) {
	known, found := r[class]
	if !found {
		known.rules, known.wrong = readClass(class)
		if r != nil {
			r[class] = known
		}
	}
	return known.rules, known.wrong
}
