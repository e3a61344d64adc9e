// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// dependencies finds gateways that wait for one another, and those that wait for what is not in the input.
func (l *linter) dependencies() {
	walk := dependencyWalk{linter: l, done: map[types.NamespacedName]bool{}}
	for g := range l.Set.Gateways() {
		for i, ref := range dependsOn(g) {
			other := types.NamespacedName{Namespace: g.Namespace, Name: ref.Name}
			if l.Set.Gateway(other) == nil && ref.Name != "" {
				l.add(Warning, RuleDependencyMissing, gatewayName(g), fmt.Sprintf("spec.release.dependsOn[%d].name", i),
					fmt.Sprintf("there is no APIGateway %s in the input; this one is not installed before there is", other))
			}
		}
		walk.visit(g)
	}
}

func dependsOn(g *v1alpha1.APIGateway) []v1alpha1.GatewayRef {
	if g.Spec.Release == nil {
		return nil
	}
	return g.Spec.Release.DependsOn
}

// dependencyWalk goes from each gateway to those that it waits for.
type dependencyWalk struct {
	*linter
	done map[types.NamespacedName]bool
	// trail leads from the first gateway to the present one.
	trail []types.NamespacedName
}

func (w *dependencyWalk) visit(g *v1alpha1.APIGateway) {
	name := keyOf(g)
	if w.done[name] {
		return
	}
	w.trail = append(w.trail, name)
	for _, ref := range dependsOn(g) {
		other := w.Set.Gateway(types.NamespacedName{Namespace: g.Namespace, Name: ref.Name})
		if other == nil || other == g { // one that waits for itself is refused by its plan
			continue
		}
		if start := slices.Index(w.trail, keyOf(other)); start >= 0 {
			w.report(w.trail[start:])
			continue
		}
		w.visit(other)
	}
	w.trail = w.trail[:len(w.trail)-1]
	w.done[name] = true
}

// report names a cycle at each of its gateways' first, which is the first by name.
func (w *dependencyWalk) report(cycle []types.NamespacedName) {
	var names []string
	for _, name := range cycle {
		names = append(names, name.String())
	}
	names = append(names, names[0])
	w.add(Error, RuleDependencyCycle, v1alpha1.APIGatewayKind+" "+names[0], "spec.release.dependsOn",
		"waits for itself, and so none of these is ever installed: "+strings.Join(names, " -> ")+"; remove one of the dependencies")
}
