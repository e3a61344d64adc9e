// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/test/invariants"
)

// soundness judges every state that was recorded of the team's gateways.
func (m *team) soundness() {
	m.Helper()
	observed := map[types.UID]int64{}
	for _, s := range m.gateways.all("") {
		g := s.object
		for _, rule := range invariants.Unsound(g) {
			m.Errorf("not so: %s: %s", rule, describe(g))
		}
		if before, seen := observed[g.UID]; seen && g.Status.ObservedGeneration < before {
			m.Errorf("the status went back from generation %d: %s", before, describe(g))
		}
		observed[g.UID] = g.Status.ObservedGeneration
	}
}
