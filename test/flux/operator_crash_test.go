// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/suite"
)

// Two replicas: what is committed while the leader is dead, what waited for a round, and what people asked for, is done by the
// other within 20 s.
func TestTwoReplicasHandOverAndLoseNothing(t *testing.T) {
	t.Parallel()
	const served = "gateway.sluice.dev/handover"
	first := startOperator(t, "sluice-first", served, "--enable-leader-election")
	m := newTeam(t, "handover")
	const remediation = "remediation: {backoff: {initial: 15s}}"
	m.commit("Add gateways", files{"class.yaml": webClass("controllerName: " + served),
		"web.yaml": gateway("web", "values: {message: one}"), "broken.yaml": gateway("broken", remediation)})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.gateways.await(t, release, "broken", "ready", isReady(1))
	second := startOperator(t, "sluice-second", served, "--enable-leader-election")
	m.commit("Break one", files{"broken.yaml": gateway("broken", remediation, brokenImage, shortTimeout)})
	failed := m.gateways.await(t, release, "broken", "rolled back", both(notReady("RolledBack"), failedTimes(1))).object

	m.kill(first)
	killed := time.Now()
	m.commit("Change the other, and add one", files{"web.yaml": gateway("web", "values: {message: two}"), "new.yaml": gateway("new")})
	m.annotate("web", "reconcile.fluxcd.io/requestedAt", "asked-for")
	for _, name := range []string{"web", "new"} {
		hr := m.releases.await(t, 2*soon, name, "written", func(hr *helmv2.HelmRelease) error {
			if name == "web" && string(hr.Spec.Values.Raw) != `{"message":"two"}` {
				return fmt.Errorf("%s", hr.Spec.Values.Raw)
			}
			return nil
		})
		if took := hr.seen.Sub(killed); took > 20*time.Second {
			t.Errorf("%s waited %s for the other replica", name, took)
		}
	}
	g := m.gateways.await(t, release, "web", "ready", both(isReady(2), handled("asked-for"))).object
	m.neverReadyForTheOld("web", g)
	m.gateways.await(t, release, "new", "ready", isReady(1))

	// The schedule of the rounds is where the first left it.
	again := m.gateways.await(t, release, "broken", "rolled back again", both(notReady("RolledBack"), failedTimes(2))).object
	equal(m, "attempts asked for", len(m.attemptsAsked("broken")), 1)
	due, asked := failed.Status.NextRetryTime.Time, m.attemptsAsked("broken")[0]
	if asked.Before(due) || asked.After(latest(due, killed.Add(20*time.Second)).Add(2*time.Second)) {
		t.Errorf("the attempt that was due at %s was asked for at %s", due, asked)
	}
	m.neverTrue("broken", again.Generation)

	// One that ends in order hands over at once.
	m.start(first)
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	m.commit("Change it once more", files{"web.yaml": gateway("web", "values: {message: three}"), "broken.yaml": removed})
	hr := m.releases.await(t, soon, "web", "written", func(hr *helmv2.HelmRelease) error {
		if string(hr.Spec.Values.Raw) != `{"message":"three"}` {
			return fmt.Errorf("%s", hr.Spec.Values.Raw)
		}
		return nil
	})
	if took := hr.seen.Sub(stopped); took > 10*time.Second {
		t.Errorf("after an orderly end it took %s", took)
	}
	m.gateways.await(t, release, "web", "ready", isReady(3))
	m.gateways.awaitGone(t, release, "broken")
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (m *team) annotate(name, key, value string) {
	m.Helper()
	if _, err := local.Kubectl(m.Context(), "annotate", "--overwrite", "apigateways.gateway.sluice.dev", name, "--namespace", m.name, key+"="+value); err != nil {
		m.Fatal(err)
	}
}

// handled passes a gateway whose request has been handed on.
func handled(request string) func(*v1alpha1.APIGateway) error {
	return func(g *v1alpha1.APIGateway) error {
		if g.Status.LastHandledReconcileAt != request {
			return fmt.Errorf("%q is not handled but %q", request, g.Status.LastHandledReconcileAt)
		}
		return nil
	}
}

// changesEnv says at how many changes the operator is killed.
const changesEnv = "SLUICE_CRASHES"

// changedTogether is how many gateways change in one commit: the operator is killed in the midst of all of these changes.
const changedTogether = 4

func TestTheOperatorKilledAtRandomPointsOfChangesEndsRight(t *testing.T) {
	t.Parallel()
	changes := suite.Number(t, changesEnv, 10)
	seed := suite.Number(t, "SLUICE_SEED", int(time.Now().UnixNano()%1e9))
	t.Logf("%d changes; SLUICE_SEED=%d", changes, seed)
	const served = "gateway.sluice.dev/crashes"
	process := startOperator(t, "sluice-crashes", served)
	c := &crashes{team: newTeam(t, "crashes"), process: process, random: rand.New(rand.NewPCG(uint64(seed), 0)), settings: map[string]map[string]string{}}
	first := files{"class.yaml": webClass("controllerName: " + served)}
	for i := range changedTogether {
		name := "web-" + show(i)
		first[name+".yaml"] = gateway(name, "values: {message: '0'}")
		c.settings[name] = map[string]string{"chart": "1.0", "message": "0"}
	}
	c.commit("Add gateways", first)
	for name := range c.settings {
		c.gateways.await(t, release, name, "ready", isReady(1))
	}
	for done := 0; done < changes && !t.Failed(); done += changedTogether {
		c.change(done, min(changedTogether, changes-done))
	}
}

// crashes changes gateways again and again, and kills the operator meanwhile.
type crashes struct {
	*team
	process  *cluster.Process
	random   *rand.Rand
	settings map[string]map[string]string // what runs, by gateway
}

// crash is a change of one gateway, which the operator is killed in.
type crash struct {
	gateway, chart, message string
	broken                  bool
}

func (c crash) String() string {
	return fmt.Sprintf("change %s of %s (chart %s, broken %t)", c.message, c.gateway, c.chart, c.broken)
}

func (c *crashes) change(done, together int) {
	c.Helper()
	changed := files{}
	var all []crash
	for i := range together {
		n := done + i + 1
		one := crash{gateway: "web-" + show(i), chart: show(c.random.IntN(2) + 1), message: show(n), broken: n%5 == 3}
		lines := []string{"chart: {tag: " + one.chart + ".0.0}", "values: {message: '" + one.message + "'}", shortTimeout, "remediation: {backoff: {initial: 1h, max: 1h}}"}
		if one.broken {
			lines = append(lines, brokenImage)
		}
		changed[one.gateway+".yaml"] = gateway(one.gateway, lines...)
		all = append(all, one)
	}
	points := []time.Duration{c.point(), c.point()}
	what := fmt.Sprintf("%v, killed after %s and then %s", all, points[0], points[1])
	c.Log(what)
	c.push(what, changed)
	for _, point := range points {
		time.Sleep(point) // chance is what this test is about
		c.killAndStart(c.process)
	}
	for _, one := range all {
		c.endsRight(one)
	}
}

// point is mostly within the second in which the operator acts, else within those in which Flux does.
func (c *crashes) point() time.Duration {
	if c.random.IntN(3) > 0 {
		return time.Duration(c.random.Int64N(int64(1500 * time.Millisecond)))
	}
	return time.Duration(c.random.Int64N(int64(10 * time.Second)))
}

// endsRight: a change that is broken is rolled back, any other is what runs at last.
func (c *crashes) endsRight(one crash) {
	c.Helper()
	carries := func(g *v1alpha1.APIGateway) error {
		if g.Spec.Values == nil || string(g.Spec.Values.Raw) != `{"message":"`+one.message+`"}` {
			return fmt.Errorf("not yet applied: %s", describe(g))
		}
		return nil
	}
	if one.broken {
		g := c.gateways.await(c.T, release, one.gateway, one.String()+": rolled back",
			both(carries, notReady("RolledBack"), inPhase(v1alpha1.PhaseDegraded), failedTimes(1))).object
		c.neverTrue(one.gateway, g.Generation)
	} else {
		g := c.gateways.await(c.T, release, one.gateway, one.String()+": ready", both(carries, ready)).object
		equal(c.team, one.String()+": failures", g.Status.Failures, 0)
		c.neverReadyForTheOld(one.gateway, g)
		c.settings[one.gateway] = map[string]string{"chart": one.chart + ".0", "message": one.message}
	}
	equal(c.team, one.String()+": settings", get(c.team, one.gateway+"-settings", &corev1.ConfigMap{}).Data, c.settings[one.gateway])
}
