// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestACommitBecomesARunningGateway(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "install", everySecond)
	m.commit("Add a gateway", files{
		"class.yaml": webClass(),
		"web.yaml":   gateway("web", "infrastructure: {replicas: 2}", "values: {message: hello}"),
	})
	g := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	// Before the operator has looked, nobody must take the gateway for ready.
	equal(m, "status at first", m.gateways.all("web")[0].object.Status, v1alpha1.APIGatewayStatus{ObservedGeneration: -1})

	hash := g.Status.Release.DesiredHash
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(hash) {
		t.Errorf("status.release.desiredHash is %q", hash)
	}
	source := g.Status.Source.Name
	if !regexp.MustCompile(`^install-[0-9a-f]{8}$`).MatchString(source) {
		t.Errorf("status.source.name is %q", source)
	}
	deployed := g.Status.Release.LastDeployed
	if deployed == nil {
		t.Fatal("status.release.lastDeployed is not set")
	}
	equal(m, "className", g.Status.ClassName, "install")
	equal(m, "source", g.Status.Source, &v1alpha1.SourceStatus{Name: source, Namespace: "install", Revision: "1.0.0@" + webV1.Digest})
	equal(m, "release", g.Status.Release, &v1alpha1.ReleaseStatus{
		Name: "web", Namespace: "install", ChartVersion: "1.0.0", AppVersion: "1.0",
		Revision: 1, Status: "deployed", LastDeployed: deployed, DesiredHash: hash,
	})
	equal(m, "history", g.Status.History, []v1alpha1.RevisionStatus{
		{Revision: 1, ChartVersion: "1.0.0", Status: "deployed", Action: "install", Deployed: deployed, Attempt: 1, DesiredHash: hash},
	})
	equal(m, "conditions", conditions(g), []string{
		"Accepted=True Accepted", "Programmed=True Deployed", "Ready=True Ready", "SourceReady=True Ready",
	})
	equal(m, "failures", g.Status.Failures, 0)

	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})
	equal(m, "images", m.runs("web"), []string{"registry.example.com/web:1.0", "registry.example.com/web:1.0"})
	equal(m, "ready pods", len(m.pods("web")), 2)
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "hello"})
	m.wentForward("web")
}

// wentForward: on the way to Ready nothing was called a failure, and no phase came twice.
func (m *team) wentForward(name string) {
	m.Helper()
	order := []v1alpha1.Phase{"", v1alpha1.PhasePending, v1alpha1.PhaseProgressing, v1alpha1.PhaseReady}
	var phases []v1alpha1.Phase
	for _, s := range m.gateways.sinceMark(name) {
		phases = append(phases, s.object.Status.Phase)
		if c := condition(s.object, v1alpha1.ConditionReady); c.Status == metav1.ConditionFalse {
			m.Errorf("called a failure on the way: %s", describe(s.object))
		}
	}
	place := func(phase v1alpha1.Phase) int { return slices.Index(order, phase) }
	if !slices.IsSortedFunc(phases, func(a, b v1alpha1.Phase) int { return place(a) - place(b) }) {
		m.Errorf("the phases were %v", phases)
	}
}

func TestTenGatewaysOfOneClassShareOneSource(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "ten")
	changes := files{"class.yaml": webClass()}
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("web-%d", i))
		changes[names[i]+".yaml"] = gateway(names[i], "infrastructure: {replicas: 0}")
	}
	m.commit("Add ten gateways", changes)
	for _, name := range names {
		m.gateways.await(t, 2*release, name, "ready", isReady(1))
	}
	if n := len(m.sources.latest()); n != 1 {
		t.Errorf("there are %d sources", n)
	}
	for name, source := range m.sources.latest() {
		equal(m, "owners of the source", source.OwnerReferences, nil)
		for gateway, hr := range m.releases.latest() {
			equal(m, "source of "+gateway, hr.Spec.ChartRef.Name, name)
		}
	}
	for _, s := range m.sources.all("") {
		if s.object.Generation != 1 {
			t.Errorf("the source was edited: %s", describe(s.object))
		}
	}
}

func TestAFailedFirstInstallIsUninstalledAndACorrectedCommitStartsClean(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "first")
	m.commit("Add a gateway with an image that does not start", files{
		"class.yaml": webClass(),
		"web.yaml":   gateway("web", brokenImage, shortTimeout, "storage: {type: front}"),
	})
	failed := m.gateways.await(t, release, "web", "failed", both(
		notReady("InstallFailed", "Helm install failed for release first/web", "timeout"), inPhase(v1alpha1.PhaseFailed),
		failedTimes(1))).object
	equal(m, "last failure", failed.Status.LastFailure.Reason, "InstallFailed")
	equal(m, "state of the release", failed.Status.Release.Status, "uninstalled")
	equal(m, "Helm's revisions after the failure", m.helmRevisions("web"), nil)
	m.leftOnly("web")

	// The selector of a Deployment cannot be changed: were anything of the failed install left, this would fail.
	m.commit("Correct the image, and change the tier", files{"web.yaml": gateway("web", "storage: {type: back}")})
	g := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	equal(m, "failures", g.Status.Failures, 0)
	equal(m, "last failure", g.Status.LastFailure, nil)
	equal(m, "selector", get(m, "web", &appsv1.Deployment{}).Spec.Selector.MatchLabels, map[string]string{"app": "web", "tier": "back"})
	equal(m, "images", m.runs("web"), []string{"registry.example.com/web:1.0"})
}

// notOfTheChart: of what contents lists, an object that the chart does not make.
func notOfTheChart(what string) bool {
	return strings.HasPrefix(what, "v1alpha1.") || strings.HasPrefix(what, "v2.") || strings.HasPrefix(what, "v1.OCIRepository")
}
