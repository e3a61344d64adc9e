// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestAKustomizationThatWaitsIsReadyOnlyWhenTheGatewayIs(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "wait", waits("25s"))
	revision := m.push("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: one}")})
	m.readyAfterTheGateway(revision, isReady(1))

	// minReadySeconds gives the old status time to be mistaken for the new.
	revision = m.push("Upgrade it", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: two, minReadySeconds: 5}")})
	m.readyAfterTheGateway(revision, isReady(2))

	revision = m.push("Break it", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", brokenImage, shortTimeout)})
	m.kustomizations.await(t, release, m.name, "failed", complains("HealthCheckFailed", "APIGateway/wait/web"))
	m.neverApplied(revision)

	revision = m.push("Set what the class does not map", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "controlPlane: {host: example.com}")})
	begin := m.kustomizations.await(t, release, m.name, "at "+revision, attempted(revision))
	failed := m.kustomizations.await(t, release, m.name, "failed for "+revision, both(complains("HealthCheckFailed", "APIGateway/wait/web"), attempted(revision)))
	if took := failed.seen.Sub(begin.seen); took > 15*time.Second {
		t.Errorf("what cannot become Ready by itself was waited for, %s", took)
	}
	m.neverApplied(revision)

	revision = m.push("Correct it", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: three}")})
	m.readyAfterTheGateway(revision, func(g *v1alpha1.APIGateway) error { return isReady(revisionOf(g))(g) })
}

// readyAfterTheGateway awaits both and compares when they were.
func (m *team) readyAfterTheGateway(revision string, isReady func(*v1alpha1.APIGateway) error) {
	m.Helper()
	applied := m.awaitReady(revision)
	gateway := m.gateways.await(m.T, time.Second, "web", "ready", isReady)
	if version(m.T, gateway.object) > version(m.T, applied.object) {
		m.Errorf("the Kustomization was Ready at %s before the gateway was, %s", applied.seen, gateway.seen)
	}
}

// awaitReady awaits the Kustomization: all that it applied of the revision is Ready, if it waits.
func (m *team) awaitReady(revision string) state[*unstructured.Unstructured] {
	m.Helper()
	return m.kustomizations.await(m.T, release, m.name, "Ready at "+revision, func(k *unstructured.Unstructured) error {
		if s := statusOf(k); s.LastAppliedRevision != revision || s.ready().Status != metav1.ConditionTrue {
			return fmt.Errorf("%s", describe(k))
		}
		return nil
	})
}

// neverApplied: the Kustomization never counted the revision as applied.
func (m *team) neverApplied(revision string) {
	m.Helper()
	for _, s := range m.kustomizations.all(m.name) {
		if statusOf(s.object).LastAppliedRevision == revision {
			m.Errorf("counted as applied: %s", describe(s.object))
		}
	}
}

func complains(reason, part string) func(*unstructured.Unstructured) error {
	return func(k *unstructured.Unstructured) error {
		if ready := statusOf(k).ready(); ready.Status != metav1.ConditionFalse || ready.Reason != reason || !strings.Contains(ready.Message, part) {
			return fmt.Errorf("no Ready=False %s with %q: %s", reason, part, describe(k))
		}
		return nil
	}
}

func attempted(revision string) func(*unstructured.Unstructured) error {
	return func(k *unstructured.Unstructured) error {
		if statusOf(k).LastAttemptedRevision != revision {
			return fmt.Errorf("%s", describe(k))
		}
		return nil
	}
}

// kustomizationStatus is the part of it that tests look at; its Go types are in a module that nothing else here needs.
type kustomizationStatus struct {
	LastAppliedRevision   string             `json:"lastAppliedRevision"`
	LastAttemptedRevision string             `json:"lastAttemptedRevision"`
	Conditions            []metav1.Condition `json:"conditions"`
}

func statusOf(k *unstructured.Unstructured) kustomizationStatus {
	var whole struct {
		Status kustomizationStatus `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(k.Object, &whole); err != nil {
		return kustomizationStatus{}
	}
	return whole.Status
}

func (s kustomizationStatus) ready() metav1.Condition {
	for _, c := range s.Conditions {
		if c.Type == "Ready" {
			return c
		}
	}
	return metav1.Condition{}
}
