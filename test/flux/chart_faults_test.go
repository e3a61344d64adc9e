// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	quickRounds = "remediation: {failureThreshold: 2, backoff: {initial: 2s, max: 2s, afterThreshold: 3s}}"
	quickRetry  = "remediation: {strategy: Retry, failureThreshold: 2, backoff: {initial: 2s}}"
	tooLong     = "values: {message: 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789}"
	refusing    = "values: {refuse: there is no such upstream}"
)

// What fails before Helm stores a revision: rounds go on and are counted, and what runs is left alone.
var unrenderable = []struct{ name, remediation, line, message string }{
	{"schema", quickRounds, tooLong, "at '/message': maxLength: got 65, want 60"},
	{"schema-retry", quickRetry, tooLong, "at '/message': maxLength: got 65, want 60"},
	{"template", quickRounds, refusing, "there is no such upstream"},
	{"template-retry", quickRetry, refusing, "there is no such upstream"},
}

func TestWhatTheChartCannotRenderIsSaidCountedAndCured(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "unrenderable")
	first, second, third := files{"class.yaml": webClass()}, files{}, files{}
	for _, row := range unrenderable {
		first[row.name+".yaml"] = gateway(row.name, row.remediation)
		second[row.name+".yaml"] = gateway(row.name, row.remediation, row.line)
		second["new-"+row.name+".yaml"] = gateway("new-"+row.name, row.remediation, row.line)
		third[row.name+".yaml"] = gateway(row.name, row.remediation, "values: {message: mended}")
		third["new-"+row.name+".yaml"] = gateway("new-"+row.name, row.remediation, "values: {message: mended}")
	}
	// The time until their next attempt is long enough to tell of them.
	second["told-schema.yaml"], second["told-template.yaml"] = gateway("told-schema", tooLong), gateway("told-template", refusing)
	third["told-schema.yaml"], third["told-template.yaml"] = removed, removed
	m.commit("Add gateways", first)
	for _, row := range unrenderable {
		m.gateways.await(t, release, row.name, "ready", isReady(1))
	}
	pods := map[string]any{}
	for _, row := range unrenderable {
		pods[row.name] = m.pods(row.name)
	}

	m.commit("What the chart does not render", second)
	for file, name := range map[string]string{"schema": "told-schema", "template": "told-template"} {
		m.gateways.await(t, release, name, "failed", both(notReady("InstallFailed"), failedTimes(1)))
		m.treeIs(file, name)
	}
	m.golden("reconcile-template", withoutProgress(m.ran(1, "reconcile", "told-template", "--force", "--wait")))
	for _, row := range unrenderable {
		m.saysThatItDoesNotRender(row.name, "UpgradeFailed", row.message, v1alpha1.PhaseDegraded)
		m.saysThatItDoesNotRender("new-"+row.name, "InstallFailed", row.message, v1alpha1.PhaseFailed)
		equal(m, "pods of "+row.name, any(m.pods(row.name)), pods[row.name])
		equal(m, "Helm's revisions of "+row.name, m.helmRevisions(row.name), []string{"1 deployed"})
		equal(m, "Helm's revisions of new-"+row.name, m.helmRevisions("new-"+row.name), nil)
	}

	m.commit("Mend them", third)
	for _, row := range unrenderable {
		m.gateways.await(t, release, row.name, "ready", isReady(2))
		m.gateways.await(t, release, "new-"+row.name, "ready", isReady(1))
		equal(m, "settings of "+row.name, m.configs.latest()[row.name+"-settings"].Data["message"], "mended")
		m.went(row.name, "Progressing Unknown Progressing", "Ready True Ready")
		m.went("new-"+row.name, "Progressing Unknown Progressing", "Ready True Ready")
	}
}

func (m *team) saysThatItDoesNotRender(name, reason, message string, phase v1alpha1.Phase) {
	m.Helper()
	m.gateways.await(m.T, release, name, "failed", both(notReady(reason, message), inPhase(phase)))
	m.gateways.await(m.T, release, name, "stalled", both(
		notReady(reason, message), inPhase(phase),
		says(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRetriesExceeded, message)))
	m.neverTrue(name, m.gateways.latest()[name].Generation)
	m.went(name, "(Pending|Progressing) Unknown (Pending|Progressing)", "Progressing Unknown Progressing", string(phase)+" False "+reason)
}

func TestAFailingTestHookIsAFailure(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "hooks")
	const good, bad = "registry.example.com/test:1.0", "registry.example.com/test:broken"
	tested := func(name, image, message string) string {
		return gateway(name, "release: {timeout: 20s, test: {enable: true}}", "values: {message: "+message+", hooks: {test: '"+image+"'}}")
	}
	m.commit("Add a gateway with a test", files{"class.yaml": webClass(), "web.yaml": tested("web", good, "one")})
	g := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	equal(m, "conditions", conditions(g), []string{
		"Accepted=True Accepted", "Programmed=True Deployed", "Ready=True Ready", "SourceReady=True Ready", "TestSuccess=True TestSucceeded",
	})
	m.went("web", "Pending Unknown Pending", "Progressing Unknown Progressing", "Ready True Ready")

	m.commit("A test that fails, here and at a first install", files{"web.yaml": tested("web", bad, "two"), "new.yaml": tested("new", bad, "two")})
	g = m.gateways.await(t, release, "web", "rolled back", both(
		notReady("RolledBack", "Helm test failed for release hooks/web"),
		says(v1alpha1.ConditionRolledBack, metav1.ConditionTrue, "RolledBack", "Helm test failed for release hooks/web"),
		inPhase(v1alpha1.PhaseDegraded), failedTimes(1))).object
	equal(m, "last failure", g.Status.LastFailure.Reason, "TestFailed")
	m.treeIs("test-hook", "web")
	equal(m, "settings", m.configs.latest()["web-settings"].Data["message"], "one")
	m.neverTrue("web", g.Generation)
	m.went("web", "Progressing Unknown Progressing", "Degraded False TestFailed", "Degraded False RolledBack")
	g = m.gateways.await(t, release, "new", "failed", both(
		notReady("TestFailed", "Helm test failed for release hooks/new"), inPhase(v1alpha1.PhaseFailed), failedTimes(1))).object
	m.eventually(soon, "the failed install to be gone", func(context.Context) error {
		if left := m.helmRevisions("new"); len(left) > 0 {
			return fmt.Errorf("Helm has %v", left)
		}
		return nil
	})
	m.neverTrue("new", g.Generation)

	m.commit("Tests that pass", files{"web.yaml": tested("web", good, "three"), "new.yaml": tested("new", good, "three")})
	m.gateways.await(t, release, "web", "ready", ready)
	m.gateways.await(t, release, "new", "ready", isReady(1))
	for _, name := range []string{"web", "new"} {
		equal(m, "settings of "+name, get(m, name+"-settings", &corev1.ConfigMap{}).Data["message"], "three")
		m.went(name, "Progressing Unknown Progressing", "Ready True Ready")
	}
}
