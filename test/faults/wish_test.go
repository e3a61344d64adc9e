// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/invariants"
)

// differs is how what there is differs from the wish, with the class's note.
func (w wish) differs(world *invariants.World, name types.NamespacedName, note string) []string {
	g := world.Gateways[name]
	if g == nil {
		return []string{name.Name + " is missing"}
	}
	wrong := w.misstated(g)
	if w.kind == good || w.kind == orphaned {
		wrong = append(wrong, w.notRunning(world, name, note)...)
	}
	for i := range wrong {
		wrong[i] = fmt.Sprintf("%s (%s) %s", name.Name, w.kind, wrong[i])
	}
	return wrong
}

// misstated is how the gateway's status differs from what it must say.
func (w wish) misstated(g *v1alpha1.APIGateway) []string {
	if g.Spec.Values == nil || string(g.Spec.Values.Raw) != fmt.Sprintf(`{"message":%q}`, w.message) {
		return []string{"has an earlier spec"}
	}
	if g.Status.ObservedGeneration != g.Generation {
		return []string{fmt.Sprintf("is at generation %d, its status at %d", g.Generation, g.Status.ObservedGeneration)}
	}
	phases := map[kind][]v1alpha1.Phase{
		good: {v1alpha1.PhaseReady}, orphaned: {v1alpha1.PhaseReady},
		broken:  {v1alpha1.PhaseDegraded, v1alpha1.PhaseFailed},
		refused: {v1alpha1.PhaseDegraded, v1alpha1.PhaseFailed},
		missing: {v1alpha1.PhaseDegraded, v1alpha1.PhaseFailed},
	}[w.kind]
	reason := map[kind]string{refused: v1alpha1.ReasonUnmappedField}[w.kind]
	ready := apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionReady)
	if !slices.Contains(phases, g.Status.Phase) || reason != "" && ready.Reason != reason {
		return []string{fmt.Sprintf("is %s: %s", g.Status.Phase, invariants.Conditions(g.Status.Conditions))}
	}
	return nil
}

// notRunning is how what runs differs from what is wished.
func (w wish) notRunning(world *invariants.World, name types.NamespacedName, note string) []string {
	config, deployment := world.Configs[types.NamespacedName{Namespace: name.Namespace, Name: name.Name + "-settings"}], world.Deployments[name]
	if config == nil || deployment == nil {
		return []string{fmt.Sprintf("has only %q", world.Of(name))}
	}
	got := fmt.Sprintf("chart %s, message %s, replicas %d, note %s, image %s", config.Data["chart"], config.Data["message"],
		*deployment.Spec.Replicas, deployment.Spec.Template.Annotations["note"], deployment.Spec.Template.Spec.Containers[0].Image)
	want := fmt.Sprintf("chart %s.0, message %s, replicas %d, note %s, image registry.example.com/web:1.0", w.chart, w.message, w.replicas, note)
	if got != want {
		return []string{fmt.Sprintf("runs with %s instead of %s", got, want)}
	}
	return nil
}

func (d *day) eventually(what string, check func(context.Context) error) {
	d.Helper()
	if err := cluster.Await(d.Context(), bound, what, check); err != nil {
		d.Fatal(err)
	}
}
