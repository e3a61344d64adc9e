// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestABrokenUpgradeIsRolledBackAndItsRevertIsReady(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "rollback")
	good := gateway("web", "values: {message: good}")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": good})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	pods := m.pods("web")

	m.commit("Break it", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", brokenImage, shortTimeout, "values: {message: broken}")})
	message := []string{"the upgrade to chart version 2.0.0 (revision 2) failed and was rolled back", "chart version 1.0.0 (revision 3) runs instead", "timeout"}
	g := m.gateways.await(t, release, "web", "rolled back", both(
		notReady("RolledBack", message...), says(v1alpha1.ConditionRolledBack, "True", "RolledBack", message...),
		inPhase(v1alpha1.PhaseDegraded), failedTimes(1))).object
	equal(m, "conditions", conditions(g), []string{
		"Accepted=True Accepted", "Programmed=False RolledBack", "Ready=False RolledBack",
		"Reconciling=True ProgressingWithRetry", "RolledBack=True RolledBack", "SourceReady=True Ready",
	})
	equal(m, "last failure", g.Status.LastFailure.Reason, "UpgradeFailed")
	equal(m, "wait for the next attempt", g.Status.NextRetryTime.Sub(g.Status.LastFailure.Time.Time), time.Minute)
	equal(m, "history", historyOf(g), []string{"3 1.0.0 deployed by rollback", "2 2.0.0 failed by upgrade", "1 1.0.0 superseded by install"})
	equal(m, "columns", m.columns("web"), []string{"web", "rollback", "False", "Degraded", "1.0.0", "3", g.Status.Source.Name, "the", "upgrade"})
	equal(m, "pods", m.pods("web"), pods)
	m.neverTrue("web", g.Generation)

	m.commit("Revert", files{"web.yaml": good})
	now := m.gateways.await(t, release, "web", "ready", func(g *v1alpha1.APIGateway) error { return isReady(revisionOf(g))(g) }).object
	equal(m, "failures after the revert", now.Status.Failures, 0)
	equal(m, "conditions after the revert", conditions(now), []string{
		"Accepted=True Accepted", "Programmed=True Deployed", "Ready=True Ready", "SourceReady=True Ready",
	})
	equal(m, "pods after the revert", m.pods("web"), pods)
	equal(m, "settings after the revert", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "good"})
	equal(m, "columns after the revert", m.columns("web")[:5], []string{"web", "rollback", "True", "Ready", "1.0.0"})
}

func revisionOf(g *v1alpha1.APIGateway) int64 {
	if g.Status.Release == nil {
		return 0
	}
	return g.Status.Release.Revision
}

// historyOf is the status's history in words.
func historyOf(g *v1alpha1.APIGateway) []string {
	var all []string
	for _, r := range g.Status.History {
		all = append(all, strings.Join([]string{show(r.Revision), r.ChartVersion, r.Status, "by", r.Action}, " "))
	}
	return all
}

// neverTrue: since the mark no status of this generation had Ready=True.
func (m *team) neverTrue(name string, generation int64) {
	m.Helper()
	for _, s := range m.gateways.sinceMark(name) {
		if s.object.Status.ObservedGeneration == generation && isTrue(s.object, v1alpha1.ConditionReady) {
			m.Errorf("Ready, though broken: %s", describe(s.object))
		}
	}
}

// columns are the words of kubectl's line about a gateway, without its age, up to the message's second.
func (m *team) columns(name string) []string {
	m.Helper()
	out, err := local.Kubectl(m.Context(), "get", "apigateways.gateway.sluice.dev", name, "--namespace", m.name, "--output", "wide", "--no-headers")
	if err != nil {
		m.Fatal(err)
	}
	words := strings.Fields(out)
	if len(words) < 10 {
		m.Fatalf("kubectl says only %q", out)
	}
	return append(words[:5:5], words[6:10]...)
}

func TestFurtherRoundsStartByThemselvesUntilTheRevert(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "rounds")
	remediation := "remediation: {failureThreshold: 3, backoff: {initial: 2s, max: 3s, afterThreshold: 5s}}"
	good := gateway("web", remediation)
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": good})
	m.gateways.await(t, release, "web", "ready", isReady(1))

	m.commit("Break it", files{"web.yaml": gateway("web", remediation, brokenImage, shortTimeout)})
	waits := map[int64]time.Duration{1: 2 * time.Second, 2: 3 * time.Second, 3: 3 * time.Second, 4: 5 * time.Second}
	var announced []time.Time
	for failures := int64(1); failures <= 4; failures++ {
		g := m.gateways.await(t, release, "web", show(failures)+" failures, rolled back", both(
			notReady("RolledBack"), inPhase(v1alpha1.PhaseDegraded), failedTimes(failures))).object
		equal(m, "wait after failures "+show(failures), g.Status.NextRetryTime.Sub(g.Status.LastFailure.Time.Time), waits[failures])
		equal(m, "Stalled after failures "+show(failures), condition(g, v1alpha1.ConditionStalled).Reason,
			map[bool]string{true: "RetriesExceeded"}[failures >= 3])
		announced = append(announced, g.Status.NextRetryTime.Time)
	}
	asked := m.attemptsAsked("web")
	for i := range 3 {
		if late := asked[i].Sub(announced[i]); late < 0 || late > 2*time.Second {
			t.Errorf("attempt %d was announced for %s and asked for at %s", i+2, announced[i], asked[i])
		}
	}
	for _, s := range m.gateways.sinceMark("web") {
		if s.object.Status.Failures > 0 && condition(s.object, v1alpha1.ConditionReady).Status != "False" {
			t.Errorf("not False between two rounds: %s", describe(s.object))
		}
	}

	m.commit("Revert", files{"web.yaml": good})
	g := m.gateways.await(t, release, "web", "ready", func(g *v1alpha1.APIGateway) error { return isReady(revisionOf(g))(g) }).object
	equal(m, "failures after the revert", g.Status.Failures, 0)
	equal(m, "next attempt after the revert", g.Status.NextRetryTime, nil)
	if apimeta.FindStatusCondition(g.Status.Conditions, v1alpha1.ConditionStalled) != nil {
		t.Errorf("still stalled: %s", describe(g))
	}
}

// failedTimes passes a gateway with so many failed rounds that says when the next one starts.
func failedTimes(times int64) func(*v1alpha1.APIGateway) error {
	return func(g *v1alpha1.APIGateway) error {
		if g.Status.Failures != times || g.Status.NextRetryTime == nil {
			return fmt.Errorf("not %d failures and a next attempt: %s", times, describe(g))
		}
		return nil
	}
}

// attemptsAsked are the times at which the operator asked for one more attempt, in order.
func (m *team) attemptsAsked(name string) []time.Time {
	m.Helper()
	var asked []time.Time
	last := ""
	for _, s := range m.releases.sinceMark(name) {
		force := s.object.Annotations[meta.ForceRequestAnnotation]
		if force == last {
			continue
		}
		last = force
		when, err := time.Parse(time.RFC3339Nano, force)
		if err != nil {
			m.Fatal(err)
		}
		asked = append(asked, when)
	}
	return asked
}
