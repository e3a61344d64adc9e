// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestSuspendInGitSuspendsAtOnceAndFalseResumes(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "suspend")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: one}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))

	// Suspended before the chart is there, which it never will be; the rest of the spec waits for the chart.
	m.commit("Suspend, with a chart that nobody has pushed", files{
		"web.yaml": gateway("web", "suspend: true", "chart: {tag: 9.9.9}", "values: {message: two}")})
	hr := m.releases.await(t, soon, "web", "suspended", suspended(true, `{"message":"one"}`))
	if took := hr.seen.Sub(m.sawGeneration("web", 2)); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	m.gateways.await(t, soon, "web", "suspended", both(notReady("Suspended", "set spec.suspend to false"), inPhase(v1alpha1.PhaseSuspended)))

	m.commit("A chart that there is", files{"web.yaml": gateway("web", "suspend: true", "chart: {tag: 2.0.0}", "values: {message: two}")})
	m.releases.await(t, release, "web", "suspended, with the new spec", suspended(true, `{"message":"two"}`))
	m.gateways.await(t, soon, "web", "suspended", both(notReady("Suspended", "set spec.suspend to false"), inPhase(v1alpha1.PhaseSuspended)))
	equal(m, "Helm's revisions while suspended", m.helmRevisions("web"), []string{"1 deployed"})

	// Who resumes it by hand has it upgraded, since an upgrade that begins goes on while Sluice suspends it again.
	m.resumedUntilItUpgrades("web")
	m.gateways.await(t, release, "web", "ready, and suspended", both(isReady(2),
		says(v1alpha1.ConditionReady, metav1.ConditionTrue, "Ready", "revision 2; it is suspended", "set spec.suspend to false")))
	equal(m, "it is suspended", m.releases.latest()["web"].Spec.Suspend, true)

	m.commit("Resume", files{"web.yaml": gateway("web", "suspend: false", "chart: {tag: 2.0.0}", "values: {message: two}")})
	m.gateways.await(t, release, "web", "ready", isReady(2))
	equal(m, "Helm's revisions at the end", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})

	// false keeps it resumed.
	m.mark()
	m.flux("suspend", "helmrelease", "web")
	m.releases.await(t, soon, "web", "suspended by hand", suspended(true, `{"message":"two"}`))
	m.releases.await(t, soon, "web", "resumed", suspended(false, `{"message":"two"}`))
	equal(m, "complaints", isReady(2)(m.gateways.latest()["web"]), nil)
}

// resumedUntilItUpgrades resumes what the gateway suspends: whether an upgrade begins before Sluice has suspended it again is
// a matter of milliseconds.
func (m *team) resumedUntilItUpgrades(name string) {
	m.Helper()
	first := get(m, name, &helmv2.HelmRelease{}).Status.LastAttemptedGeneration
	m.eventually(release, "an upgrade to begin", func(context.Context) error {
		hr := get(m, name, &helmv2.HelmRelease{})
		if hr.Status.LastAttemptedGeneration > first {
			return nil
		}
		m.resumeAndForget(name)
		return fmt.Errorf("none at generation %d", hr.Generation)
	})
}

func TestASuspensionByHandIsRespected(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "by-hand")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: one}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.mark()
	m.flux("suspend", "helmrelease", "web")
	m.releases.await(t, soon, "web", "suspended by hand", suspended(true, `{"message":"one"}`))
	m.eventually(soon, "kubectl to hint at it", func(ctx context.Context) error {
		out, err := local.Kubectl(ctx, "get", "agw", "web", "--namespace", m.name, "--output", "wide", "--no-headers")
		if err == nil && !strings.Contains(out, `it is suspended: Flux repairs no drift of it and applies no change (run "flux resume helmrelease web -n by-hand" to go on)`) {
			err = fmt.Errorf("%s", out)
		}
		return err
	})

	m.commit("Another message", files{"web.yaml": gateway("web", "values: {message: two}")})
	m.releases.await(t, soon, "web", "suspended, with the new spec", suspended(true, `{"message":"two"}`))
	m.gateways.await(t, soon, "web", "suspended", both(
		notReady("Suspended", `run "flux resume helmrelease web -n by-hand"`), inPhase(v1alpha1.PhaseSuspended)))
	for _, s := range m.releases.sinceMark("web") {
		if !s.object.Spec.Suspend {
			t.Errorf("resumed: %s", describe(s.object))
		}
	}
	for _, s := range m.gateways.all("web") {
		if s.object.Status.Phase == v1alpha1.PhaseReady && s.object.Status.ObservedGeneration > 1 {
			t.Errorf("Ready, though what is wanted does not run: %s", describe(s.object))
		}
	}
	equal(m, "Helm's revisions while suspended", m.helmRevisions("web"), []string{"1 deployed"})

	m.mark()
	m.flux("resume", "helmrelease", "web")
	m.gateways.await(t, release, "web", "ready", isReady(2))

	// Flux does not uninstall what is suspended, so that a deleted gateway waits, and says for what.
	m.flux("suspend", "helmrelease", "web")
	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.await(t, soon, "web", "held", both(inPhase(v1alpha1.PhaseDeleting),
		notReady("Deleting", `run "flux resume helmrelease web -n by-hand"`)))
	equal(m, "Helm's revisions while held", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})
	m.resumeAndForget("web")
	m.gateways.awaitGone(t, release, "web")
	equal(m, "Helm's revisions at the end", m.helmRevisions("web"), nil)
}

// suspended passes a HelmRelease that is or is not suspended and has these values.
func suspended(suspend bool, values string) func(*helmv2.HelmRelease) error {
	return func(hr *helmv2.HelmRelease) error {
		if hr.Spec.Suspend != suspend || string(hr.Spec.Values.Raw) != values {
			return fmt.Errorf("not suspend=%t with values %s but %s: %s", suspend, values, hr.Spec.Values.Raw, describe(hr))
		}
		return nil
	}
}

// resumeAndForget is flux resume, which would wait for a HelmRelease that is about to go.
func (m *team) resumeAndForget(name string) {
	m.Helper()
	hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: name}}
	if err := api.Patch(m.Context(), hr, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))); err != nil {
		m.Fatal(err)
	}
}

// flux runs the flux command in the team's namespace.
func (m *team) flux(args ...string) {
	m.Helper()
	if out, err := local.Flux(m.Context(), append(args, "--namespace", m.name)...); err != nil {
		m.Fatalf("%v\n%s", err, out)
	}
}
