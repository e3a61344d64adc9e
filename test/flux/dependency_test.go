// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// newPods makes an upgrade take its time: pods that have long been ready would count as such at once.
func newPods(round string) string { return "infrastructure: {annotations: {round: " + round + "}}" }

// While a dependency upgrades Flux says DependencyNotReady of who depends on it, also of one that is as it should be.
func TestADependencyUpgrades(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "depends")
	front := func(lines ...string) string {
		return gateway("front", append(lines, "release: {interval: 2s, dependsOn: [{name: back}]}")...)
	}
	back := func(lines ...string) string { return gateway("back", lines...) }
	m.commit("Add gateways, one of which depends on none that there is", files{"class.yaml": webClass(),
		"front.yaml": front(), "back.yaml": back("values: {minReadySeconds: 4}"), "lone.yaml": gateway("lone", "release: {dependsOn: [{name: absent}]}")})
	backReady := m.gateways.await(t, release, "back", "ready", isReady(1))
	frontReady := m.gateways.await(t, release, "front", "ready", isReady(1))
	if version(t, frontReady.object) < version(t, backReady.object) {
		t.Error("front was ready before what it depends on")
	}
	m.went("front", "Pending Unknown Pending", "Progressing Unknown Progressing", "Pending False DependencyNotReady",
		"Progressing Unknown Progressing", "Ready True Ready")
	m.gateways.await(t, soon, "lone", "waiting", both(notReady("DependencyNotReady", "depends/absent"), inPhase(v1alpha1.PhasePending)))
	m.went("lone", "Pending Unknown Pending", "Progressing Unknown Progressing", "Pending False DependencyNotReady")
	m.treeIs("dependency", "lone")

	m.commit("Upgrade the dependency", files{"back.yaml": back("values: {minReadySeconds: 8}", newPods("two"))})
	m.gateways.await(t, release, "front", "telling of its dependency", both(isReady(1),
		says(v1alpha1.ConditionReconciling, metav1.ConditionTrue, "DependencyNotReady", "the desired state is deployed, but Flux cannot look after it", "depends/back")))
	upgraded := m.gateways.await(t, release, "back", "ready", isReady(2)).object
	m.gateways.await(t, release, "front", "at rest", both(isReady(1), func(g *v1alpha1.APIGateway) error {
		if isTrue(g, v1alpha1.ConditionReconciling) || version(t, g) < version(t, upgraded) {
			return fmt.Errorf("not at rest: %s", describe(g))
		}
		return nil
	}))
	m.went("front", "Ready True Ready")

	m.commit("Upgrade both", files{"front.yaml": front("values: {message: new}"), "back.yaml": back("values: {minReadySeconds: 6}", newPods("three"))})
	backReady = m.gateways.await(t, release, "back", "ready", isReady(3))
	frontReady = m.gateways.await(t, release, "front", "ready", isReady(2))
	equal(m, "failures", frontReady.object.Status.Failures, 0)
	m.neverReadyForTheOld("front", frontReady.object)
}
