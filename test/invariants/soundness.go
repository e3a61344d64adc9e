// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// soundnessRules hold for every status that a gateway ever has, whatever happens to it.
var soundnessRules = []struct {
	rule  string
	holds func(*v1alpha1.APIGateway) bool
}{
	{"phase Ready and Ready=True are the same", func(g *v1alpha1.APIGateway) bool {
		return (g.Status.Phase == v1alpha1.PhaseReady) == isTrue(g, v1alpha1.ConditionReady)
	}},
	{"who is Ready is accepted and programmed, and neither stalled nor rolled back", func(g *v1alpha1.APIGateway) bool {
		return !isTrue(g, v1alpha1.ConditionReady) || isTrue(g, v1alpha1.ConditionAccepted) && isTrue(g, v1alpha1.ConditionProgrammed) &&
			!isTrue(g, v1alpha1.ConditionStalled) && !isTrue(g, v1alpha1.ConditionRolledBack)
	}},
	{"who is Ready has a release that is deployed, and no failures", func(g *v1alpha1.APIGateway) bool {
		s := g.Status
		return !isTrue(g, v1alpha1.ConditionReady) ||
			s.Release != nil && s.Release.Status == "deployed" && s.Release.DesiredHash != "" && s.Failures == 0 && s.LastFailure == nil
	}},
	{"who is stalled does not reconcile", func(g *v1alpha1.APIGateway) bool {
		return !isTrue(g, v1alpha1.ConditionStalled) || !isTrue(g, v1alpha1.ConditionReconciling)
	}},
	{"a phase and conditions come together", func(g *v1alpha1.APIGateway) bool {
		return (g.Status.Phase == "") == (len(g.Status.Conditions) == 0)
	}},
	{"all conditions speak of the generation that the status speaks of", func(g *v1alpha1.APIGateway) bool {
		for _, c := range g.Status.Conditions {
			if c.ObservedGeneration != g.Status.ObservedGeneration {
				return false
			}
		}
		return g.Status.ObservedGeneration <= g.Generation
	}},
}

// Unsound are the rules that a gateway's status breaks by itself.
func Unsound(g *v1alpha1.APIGateway) []string {
	var broken []string
	for _, r := range soundnessRules {
		if !r.holds(g) {
			broken = append(broken, r.rule)
		}
	}
	return broken
}

func isTrue(g *v1alpha1.APIGateway, kind string) bool {
	return apimeta.IsStatusConditionTrue(g.Status.Conditions, kind)
}
