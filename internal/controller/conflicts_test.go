// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestLostTo(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	named := func(name string, c claim) claim {
		c.gateway = types.NamespacedName{Namespace: "apis", Name: name}
		return c
	}
	for what, c := range map[string]struct {
		mine, rival claim
		lost        bool
	}{
		"the older wins":                     {named("b", claim{created: at(1)}), named("a", claim{created: at(2)}), false},
		"the younger loses":                  {named("a", claim{created: at(2)}), named("b", claim{created: at(1)}), true},
		"of the same age, the first by name": {named("b", claim{created: at(1)}), named("a", claim{created: at(1)}), true},
		"who has begun wins over the older":  {named("a", claim{created: at(1)}), named("b", claim{created: at(2), exists: true}), true},
		"who has deployed wins over who has begun": {
			named("a", claim{created: at(1), exists: true}),
			named("b", claim{created: at(2), exists: true, deployed: true}), true},
		"both deployed: the older": {
			named("b", claim{created: at(1), exists: true, deployed: true}),
			named("a", claim{created: at(2), exists: true, deployed: true}), false},
	} {
		winner, lost := lostTo(c.mine, []claim{c.rival})
		if lost != c.lost || lost && winner.gateway != c.rival.gateway {
			t.Errorf("%s: lost %v to %v", what, lost, winner)
		}
		if _, back := lostTo(c.rival, []claim{c.mine}); back == lost {
			t.Errorf("%s: both or neither lose", what)
		}
	}
	if _, lost := lostTo(named("a", claim{}), nil); lost {
		t.Error("lost to nobody")
	}
}

func TestRefusedElsewise(t *testing.T) {
	g := gateway()
	g.Generation = 2
	accepted := func(status metav1.ConditionStatus, reason string, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionAccepted, Status: status, Reason: reason, ObservedGeneration: generation}}
	}
	for what, c := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"not looked at yet":           {nil, false},
		"accepted":                    {accepted(metav1.ConditionTrue, "Accepted", 2), false},
		"refused":                     {accepted(metav1.ConditionFalse, "UnmappedField", 2), true},
		"refused, and edited since":   {accepted(metav1.ConditionFalse, "UnmappedField", 1), false},
		"refused for just a conflict": {accepted(metav1.ConditionFalse, "Conflict", 2), false},
	} {
		g.Status.Conditions = c.conditions
		if got := refusedElsewise(g); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
