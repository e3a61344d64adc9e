// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// course is all that the status said of a generation since the mark, each transition once, as "<phase> <Ready> <reason>".
func (m *team) course(name string, generation int64) string {
	var all []string
	for _, s := range m.gateways.sinceMark(name) {
		if g := s.object; g.Status.ObservedGeneration == generation {
			c := condition(g, v1alpha1.ConditionReady)
			all = append(all, fmt.Sprintf("%s %s %s", g.Status.Phase, c.Status, c.Reason))
		}
	}
	return strings.Join(slices.Compact(all), "; ")
}

// went asserts the whole course of the gateway's present generation: it did these steps in this order, and no others. All but
// the last may be missing, since the status is written only as often as the operator looks.
func (m *team) went(name string, steps ...string) {
	m.Helper()
	last := len(steps) - 1
	pattern := "^"
	for _, step := range steps[:last] {
		pattern += "(" + step + "; )?"
	}
	pattern += "(" + steps[last] + ")$"
	if got := m.course(name, m.gateways.latest()[name].Generation); !regexp.MustCompile(pattern).MatchString(got) {
		m.Errorf("%s went: %s\nwant: %s", name, got, strings.Join(steps, "; "))
	}
}
