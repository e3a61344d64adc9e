// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// This test runs alone: it measures time.
func TestAChangeOfTheConfigMapActsWithinTwoSeconds(t *testing.T) {
	m := newTeam(t, "config")
	web := func(lines ...string) files {
		return files{"web.yaml": gateway("web", append(lines, "infrastructure: {replicas: 0}")...)}
	}
	m.commit("Add a class", files{"class.yaml": webClass()})
	m.commit("Add a gateway whose ConfigMap is not there", web("configRef: {name: late}"))
	missing := both(notReady("ConfigNotFound", "spec.configRef.name: ConfigMap config/late does not exist"),
		says(v1alpha1.ConditionStalled, metav1.ConditionTrue, "ConfigNotFound"))
	m.gateways.await(t, soon, "web", "refused", both(missing, inPhase(v1alpha1.PhaseFailed)))

	m.actsWithin("created late", func() { m.create(configMap("late", "values.yaml: 'message: one'")) }, carries("one"))
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.actsWithin("changed", func() { m.create(configMap("late", "values.yaml: 'message: two'")) }, carries("two"))
	m.gateways.await(t, release, "web", "ready", isReady(2))

	generation := m.releases.latest()["web"].Generation
	degraded := inPhase(v1alpha1.PhaseDegraded)
	m.saysWithin("its key removed", func() { m.create(configMap("late", "other: 'message: three'")) }, both(degraded,
		notReady("ConfigNotFound", "ConfigMap config/late has no key values.yaml under data; it has: other")))
	m.saysWithin("its key back", func() { m.create(configMap("late", "values.yaml: 'message: two'")) }, isReady(2))
	m.saysWithin("deleted", func() {
		if err := api.Delete(t.Context(), get(m, "late", &corev1.ConfigMap{})); err != nil {
			t.Fatal(err)
		}
	}, both(degraded, missing))
	equal(m, "generation of the HelmRelease", m.releases.latest()["web"].Generation, generation)
	equal(m, "settings", m.configs.latest()["web-settings"].Data["message"], "two")

	m.commit("Without the reference", web())
	hr := m.releases.await(t, soon, "web", "without it", valuesAre(`{"replicas":0}`))
	if took := hr.seen.Sub(m.sawGeneration("web", 2)); took > 2*time.Second {
		t.Errorf("reference removed: it took %s", took)
	}
	m.gateways.await(t, release, "web", "ready", isReady(3))
	equal(m, "settings at the end", m.configs.latest()["web-settings"].Data["message"], "hello")
}

func carries(message string) func(*helmv2.HelmRelease) error {
	return valuesAre(`{"message":"` + message + `","replicas":0}`)
}

func valuesAre(values string) func(*helmv2.HelmRelease) error { return suspended(false, values) }

// actsWithin changes something and awaits what the HelmRelease becomes.
func (m *team) actsWithin(what string, change func(), check func(*helmv2.HelmRelease) error) {
	m.Helper()
	m.mark()
	change()
	begin := time.Now()
	m.inTime(what, begin, m.releases.await(m.T, soon, "web", what, check).seen)
}

// saysWithin changes something and awaits what the gateway says.
func (m *team) saysWithin(what string, change func(), check func(*v1alpha1.APIGateway) error) {
	m.Helper()
	m.mark()
	change()
	begin := time.Now()
	m.inTime(what, begin, m.gateways.await(m.T, soon, "web", what, check).seen)
}

func (m *team) inTime(what string, begin, end time.Time) {
	m.Helper()
	if took := end.Sub(begin); took > 2*time.Second {
		m.Errorf("%s: it took %s", what, took)
	}
}
