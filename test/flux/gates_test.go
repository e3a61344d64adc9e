// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

const hanging = "Running 'upgrade' action"

// Without the gate the correction waits until the upgrade that hangs is over, and what becomes of that one is not held
// against the correction. With the gate it starts at once, and the interruption is no failure.
func TestASpecIsCorrectedWhileAnUpgradeHangs(t *testing.T) {
	t.Parallel()
	const gated = "cancels"
	startShard(t, gated, cluster.HelmController, "--feature-gates=CancelHealthCheckOnNewRevision=true")
	m := newTeam(t, "correct")
	both := func(lines ...string) files {
		return files{"off.yaml": gateway("off", append(lines, "release: {timeout: 25s}")...),
			"on.yaml": inShard(gated, gateway("on", append(lines, "release: {timeout: 4m}")...))}
	}
	m.commit("Add a class", files{"class.yaml": webClass()})
	m.commit("Add gateways", both())
	m.gateways.await(t, release, "off", "ready", isReady(1))
	m.gateways.await(t, release, "on", "ready", isReady(1))

	m.commit("Upgrade them to what hangs", both(brokenImage))
	hang := says(v1alpha1.ConditionReady, metav1.ConditionUnknown, "Progressing", hanging)
	m.gateways.await(t, soon, "off", "hanging", hang)
	m.gateways.await(t, soon, "on", "hanging", hang)

	corrected := time.Now()
	m.commit("Correct them", both("values: {message: corrected}"))
	on := m.gateways.await(t, release, "on", "ready", ready)
	if took := on.seen.Sub(corrected); took > time.Minute {
		t.Errorf("with the gate it took %s", took)
	}
	m.gateways.await(t, release, "off", "ready", ready)
	for _, name := range []string{"on", "off"} {
		equal(m, "settings of "+name, m.configs.latest()[name+"-settings"].Data["message"], "corrected")
		m.went(name, "Progressing Unknown (Progressing|HealthCheckCanceled)", "Progressing Unknown (Progressing|HealthCheckCanceled)",
			"Progressing Unknown Progressing", "Ready True Ready")
		for _, s := range m.gateways.sinceMark(name) {
			if g := s.object; g.Status.ObservedGeneration == g.Generation && g.Status.Failures > 0 {
				t.Errorf("counted as a failure: %s", describe(g))
			}
		}
	}
	m.startsAgainAfterARequest("on", files{"on.yaml": inShard(gated, gateway("on", "values: {message: asked, minReadySeconds: 10}", newPods("asked"), "release: {timeout: 4m}"))})
	equal(m, "settings at the end", m.configs.latest()["on-settings"].Data["message"], "asked")
}

// With the gate any request cancels an upgrade that is good, and Flux then rests after its rollback.
func (m *team) startsAgainAfterARequest(name string, manifests files) {
	m.Helper()
	m.commit("A slow upgrade", manifests)
	m.gateways.await(m.T, soon, name, "upgrading", says(v1alpha1.ConditionReady, metav1.ConditionUnknown, "Progressing", hanging))
	m.request(name)
	m.releases.await(m.T, release, name, "canceled", func(hr *helmv2.HelmRelease) error {
		if c := apimeta.FindStatusCondition(hr.Status.Conditions, helmv2.ReleasedCondition); !strings.Contains(c.Message, "context canceled") {
			return fmt.Errorf("%s", describe(hr))
		}
		return nil
	})
	g := m.gateways.await(m.T, release, name, "ready", ready).object
	m.neverReadyForTheOld(name, g)
	for _, s := range m.gateways.sinceMark(name) {
		if s.object.Status.Failures > 0 || isTrue(s.object, v1alpha1.ConditionStalled) {
			m.Errorf("counted as a failure: %s", describe(s.object))
		}
	}
}

// request is flux reconcile, which would wait.
func (m *team) request(name string) {
	m.Helper()
	hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: name}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	if err := api.Patch(m.Context(), hr, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		m.Fatal(err)
	}
}

// Flux then goes on running the old chart, and calls it success.
func TestFluxDoesNotTrackDigests(t *testing.T) {
	t.Parallel()
	const gated = "tagsonly"
	startShard(t, gated, cluster.HelmController, "--feature-gates=DisableChartDigestTracking=true")
	m := newTeam(t, "tagsonly")
	first := m.pushWeb("3.0.0", "3.0")
	m.commit("Add a class", files{"class.yaml": strings.Replace(webClass(), "ref: {tag: 1.0.0}", "ref: {tag: 3.0.0}, interval: 2s", 1)})
	m.commit("Add a gateway", files{"web.yaml": inShard(gated, gateway("web"))})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	equal(m, "revision", m.gateways.latest()["web"].Status.Source.Revision, "3.0.0@"+first.Digest)

	m.mark()
	second := m.pushWeb("3.0.0", "3.1")
	ignored := []string{"not the wanted " + second.Digest, "DisableChartDigestTracking is on; turn it off, or change the chart's version"}
	m.gateways.await(t, release, "web", "told", both(notReady(v1alpha1.ReasonChartDigestIgnored, ignored...), inPhase(v1alpha1.PhaseDegraded),
		says(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonChartDigestIgnored, ignored...)))
	m.treeIs("digest-ignored", "web")
	equal(m, "chart that runs", m.configs.latest()["web-settings"].Data["chart"], "3.0")
	m.went("web", "Ready True Ready", "Progressing Unknown Progressing", "Degraded False ChartDigestIgnored")

	m.pushWeb("3.0.1", "3.1")
	m.commit("Another version", files{"web.yaml": inShard(gated, gateway("web", "chart: {tag: 3.0.1}"))})
	m.gateways.await(t, release, "web", "ready", isReady(2))
	equal(m, "chart that runs at last", m.configs.latest()["web-settings"].Data["chart"], "3.1")
}

func (m *team) pushWeb(version, appVersion string) cluster.Chart {
	m.Helper()
	chart, err := local.PushChart(m.Context(), webDir(), version, withAppVersion(appVersion))
	if err != nil {
		m.Fatal(err)
	}
	return chart
}

func TestATagThatIsNoVersionMoves(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "tags")
	m.tag(webV1, "stable")
	m.commit("Add a gateway", files{
		"class.yaml": strings.Replace(webClass(), "ref: {tag: 1.0.0}", "ref: {tag: stable}, interval: 2s", 1),
		"web.yaml":   gateway("web", "values: {message: one}"),
	})
	g := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	equal(m, "source", g.Status.Source.Revision, "stable@"+webV1.Digest)
	equal(m, "chart version", g.Status.Release.ChartVersion, "1.0.0")

	m.mark()
	m.tag(webV2, "stable")
	g = m.gateways.await(t, release, "web", "ready", both(isReady(2))).object
	equal(m, "source after the move", g.Status.Source.Revision, "stable@"+webV2.Digest)
	equal(m, "chart version after the move", g.Status.Release.ChartVersion, "2.0.0")
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "2.0", "message": "one"})
	for _, s := range m.gateways.sinceMark("web") {
		if o := s.object; isTrue(o, v1alpha1.ConditionReady) && (o.Status.Source.Revision == "stable@"+webV2.Digest) != (revisionOf(o) == 2) {
			t.Errorf("Ready with another chart than the source's: %s", describe(o))
		}
	}
	m.commit("Other values", files{"web.yaml": gateway("web", "values: {message: two}")})
	m.gateways.await(t, release, "web", "ready", isReady(3))
}

// tag lets a tag of the cluster's registry point at a chart.
func (m *team) tag(chart cluster.Chart, tag string) {
	m.Helper()
	if err := local.Tag(m.Context(), chart, tag); err != nil {
		m.Fatal(err)
	}
}
