// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestChartAndValuesInOneCommitAreOneUpgrade(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "upgrade")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: one}")})
	before := m.gateways.await(t, release, "web", "ready", isReady(1)).object

	m.commit("Chart 2.0.0 with another message", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: two}")})
	after := m.gateways.await(t, release, "web", "ready", isReady(2)).object

	equal(m, "chart version", after.Status.Release.ChartVersion, "2.0.0")
	equal(m, "source", after.Status.Source.Revision, "2.0.0@"+webV2.Digest)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})
	if after.Status.Source.Name == before.Status.Source.Name {
		t.Error("the source kept its name")
	}
	m.neverMixed("web")
	m.neverWithoutSource("web")
	m.neverReadyForTheOld("web", after)

	// Nobody uses the old chart any more.
	m.sources.awaitGone(t, 90*time.Second, before.Status.Source.Name)
	equal(m, "Helm's revisions, later", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})
	equal(m, "releases' generations", m.releases.latest()["web"].Generation, 2)
}

// neverMixed: the chart and the values, both of which a ConfigMap shows, were only ever those of one commit or the other.
func (m *team) neverMixed(release string) {
	m.Helper()
	var shown []map[string]string
	for _, s := range m.configs.all(release + "-settings") {
		shown = append(shown, s.object.Data)
	}
	equal(m, "all that was ever deployed", slices.CompactFunc(shown, func(a, b map[string]string) bool { return deepEqual(a, b) }),
		[]map[string]string{{"chart": "1.0", "message": "one"}, {"chart": "2.0", "message": "two"}})
}

func (m *team) neverWithoutSource(name string) {
	m.Helper()
	for _, s := range m.releases.sinceMark(name) {
		for _, c := range s.object.Status.Conditions {
			if c.Reason == "SourceNotReady" {
				m.Errorf("without its source: %s", describe(s.object))
			}
		}
	}
}

// neverReadyForTheOld: once the status speaks of the new generation, Ready is not True before the new chart runs.
func (m *team) neverReadyForTheOld(name string, now *v1alpha1.APIGateway) {
	m.Helper()
	for _, s := range m.gateways.sinceMark(name) {
		ready := condition(s.object, v1alpha1.ConditionReady)
		speaksOfNow := s.object.Status.ObservedGeneration == now.Generation || ready.ObservedGeneration == now.Generation
		if speaksOfNow && ready.Status == metav1.ConditionTrue && s.object.Status.Release.Revision != now.Status.Release.Revision {
			m.Errorf("Ready before its time: %s", describe(s.object))
		}
	}
}

func TestATagThatDoesNotExistLeavesWhatRunsAndItsRepairAlone(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "notag")
	m.commit("Add a gateway", files{
		"class.yaml": webClass("release: {interval: 3s}"), // Flux looks for drift at each interval
		"web.yaml":   gateway("web", "values: {message: one}"),
	})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	running := m.releases.latest()["web"]

	m.commit("A chart that nobody has pushed", files{"web.yaml": gateway("web", "chart: {tag: 9.9.9}", "values: {message: two}")})
	said := m.gateways.await(t, release, "web", "explained", both(
		notReady("OCIArtifactPullFailed", "unknown tag=9.9.9"), inPhase(v1alpha1.PhaseDegraded)))
	if took := said.seen.Sub(m.sawGeneration("web", said.object.Generation)); took > 5*time.Second {
		t.Errorf("it took %s to say so", took)
	}
	equal(m, "conditions", conditions(said.object), []string{
		"Accepted=True Accepted", "Programmed=False OCIArtifactPullFailed", "Ready=False OCIArtifactPullFailed",
		"Reconciling=True ProgressingWithRetry", "SourceReady=False OCIArtifactPullFailed",
	})
	equal(m, "chart that runs", said.object.Status.Release.ChartVersion, "1.0.0")

	m.deletedDeploymentComesBack("web")
	for _, s := range m.releases.all("web") {
		if s.object.Generation != running.Generation && s.object.Generation != 0 {
			t.Errorf("the HelmRelease was touched: %s", describe(s.object))
		}
	}
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "one"})
	for _, s := range m.gateways.all("web") { // source-controller has tried again meanwhile
		if version(t, s.object) > version(t, said.object) && condition(s.object, v1alpha1.ConditionReady).Reason != "OCIArtifactPullFailed" {
			t.Errorf("not said any more: %s", describe(s.object))
		}
	}

	m.commit("A chart that there is", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: two}")})
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.neverWithoutSource("web")
}

// sawGeneration is when the API server had a generation of a gateway.
func (m *team) sawGeneration(name string, generation int64) time.Time {
	m.Helper()
	for _, s := range m.gateways.all(name) {
		if s.object.Generation == generation {
			return s.seen
		}
	}
	m.Fatalf("generation %d of %s was not seen", generation, name)
	return time.Time{}
}

// deletedDeploymentComesBack deletes the release's Deployment and waits until another one has its pods.
func (m *team) deletedDeploymentComesBack(name string) {
	m.Helper()
	old := get(m, name, &appsv1.Deployment{})
	if err := api.Delete(m.Context(), old, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		m.Fatal(err)
	}
	m.eventually(release, "the Deployment to come back", func(ctx context.Context) error {
		now := &appsv1.Deployment{}
		if err := api.Get(ctx, client.ObjectKeyFromObject(old), now); err != nil {
			return err
		}
		if now.UID == old.UID || now.Status.ReadyReplicas != *now.Spec.Replicas {
			return fmt.Errorf("the Deployment with UID %s has %d ready pods", now.UID, now.Status.ReadyReplicas)
		}
		return nil
	})
}

func TestADeploymentDeletedByHandComesBack(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "drift")
	m.commit("Add a gateway", files{"class.yaml": webClass("release: {interval: 3s}"), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.mark()
	m.deletedDeploymentComesBack("web")
	m.releases.await(t, release, "web", "at rest", helmReady)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})
}

func TestWhatTheChartNoLongerRendersIsPruned(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "prune")
	m.commit("Add a gateway with more", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {extra: true}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	deployment, pods := get(m, "web", &appsv1.Deployment{}), m.pods("web")
	get(m, "web-extra", &corev1.ConfigMap{})

	m.commit("Without it", files{"web.yaml": gateway("web", "values: {extra: false}")})
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.configs.awaitGone(t, soon, "web-extra")
	equal(m, "Deployment", get(m, "web", &appsv1.Deployment{}).UID, deployment.UID)
	equal(m, "pods", m.pods("web"), pods)
}
