// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/claims"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/plan"
)

func TestLostTo(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	named := func(name string, c claim) claim {
		c.gateway = types.NamespacedName{Namespace: "apis", Name: name}
		return c
	}
	for what, c := range map[string]struct {
		mine, rival claim
		lost        bool
	}{
		"the older wins":                     {named("b", claim{created: at(1)}), named("a", claim{created: at(2)}), false},
		"the younger loses":                  {named("a", claim{created: at(2)}), named("b", claim{created: at(1)}), true},
		"of the same age, the first by name": {named("b", claim{created: at(1)}), named("a", claim{created: at(1)}), true},
		"who has begun wins over the older":  {named("a", claim{created: at(1)}), named("b", claim{created: at(2), exists: true}), true},
		"who has deployed wins over who has begun": {
			named("a", claim{created: at(1), exists: true}),
			named("b", claim{created: at(2), exists: true, deployed: true}), true},
		"both deployed: the older": {
			named("b", claim{created: at(1), exists: true, deployed: true}),
			named("a", claim{created: at(2), exists: true, deployed: true}), false},
	} {
		winner, lost := lostTo(c.mine, []claim{c.rival})
		if lost != c.lost || lost && winner.gateway != c.rival.gateway {
			t.Errorf("%s: lost %v to %v", what, lost, winner)
		}
		if _, back := lostTo(c.rival, []claim{c.mine}); back == lost {
			t.Errorf("%s: both or neither lose", what)
		}
	}
	if _, lost := lostTo(named("a", claim{}), nil); lost {
		t.Error("lost to nobody")
	}
}

// Two gateways that are made at once, of which two operators serve one each: the later sees the HelmRelease of the earlier, also
// while its cache does not have that yet.
func TestARivalsReleaseThatTheCacheLacksCounts(t *testing.T) {
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	mine, rival, name := gateway(), gateway(), "web"
	mine.Name, mine.UID = "a", "a"
	rival.Name, rival.UID = "b", "b"
	mine.Spec.Release = &v1alpha1.GatewayRelease{Name: &name}
	rival.Spec.Release = mine.Spec.Release
	made := newRelease(&state{gateway: rival, desired: fluxobjects.Objects{Release: wantedRelease("old", "{}")}})
	made.Name = rival.Name
	build := func(objects ...client.Object) client.Client {
		return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&v1alpha1.APIGateway{}, byHelmRelease,
			func(o client.Object) []string { return releaseKeys(o.(*v1alpha1.APIGateway)) }).Build()
	}
	r := &gatewayReconciler{Client: build(mine, rival), live: build(made)}
	s := &state{gateway: mine}
	if err := r.readRivals(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if winner, lost := lostTo(claimOf(mine, nil), s.rivals); !lost || winner.gateway.Name != "b" {
		t.Errorf("lost %v to %v", lost, winner)
	}
}

func TestRefusedElsewise(t *testing.T) {
	g := gateway()
	g.Generation = 2
	accepted := func(status metav1.ConditionStatus, reason string, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionAccepted, Status: status, Reason: reason, ObservedGeneration: generation}}
	}
	for what, c := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"not looked at yet":           {nil, false},
		"accepted":                    {accepted(metav1.ConditionTrue, "Accepted", 2), false},
		"refused":                     {accepted(metav1.ConditionFalse, "UnmappedField", 2), true},
		"refused, and edited since":   {accepted(metav1.ConditionFalse, "UnmappedField", 1), false},
		"refused for just a conflict": {accepted(metav1.ConditionFalse, "Conflict", 2), false},
	} {
		g.Status.Conditions = c.conditions
		if got := refusedElsewise(g); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestJudge(t *testing.T) {
	r := &gatewayReconciler{controllerName: "us", watchNamespaces: []string{"apis"}}
	by := func(annotation, value string) *helmv2.HelmRelease {
		hr := wantedRelease("old", "{}")
		hr.Annotations = map[string]string{annotation: value}
		return hr
	}
	for what, c := range map[string]struct {
		change func(*state)
		want   string // the fault; empty: none
	}{
		"all is well": {func(*state) {}, ""},
		"a HelmRelease of nobody": {func(s *state) { s.foreign = wantedRelease("old", "{}") },
			"Conflict metadata.name: HelmRelease apis/web exists and is not this gateway's (it has no owner)"},
		"a HelmRelease of an earlier gateway": {func(s *state) { s.foreign = by(v1alpha1.AnnotationOwnerUID, "old") },
			"Conflict metadata.name: HelmRelease apis/web exists and is not this gateway's (it was made for a gateway with UID old)"},
		"a HelmRelease of an earlier gateway that is being deleted": {func(s *state) {
			s.release, s.foreign = nil, by(v1alpha1.AnnotationOwnerUID, "old")
			s.foreign.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}, ""},
		"a source of somebody else's": {func(s *state) { s.wanted.Spec.URL = "oci://elsewhere" },
			"Conflict OCIRepository apis/old was not made by this operator and has another spec"},
		"a source where we do not look": {func(s *state) { s.desired.Source.Namespace = "charts" },
			"NotAllowed APIGatewayClass/edge spec.chart.namespace: the operator does not watch namespace charts"},
		"a release of another gateway's": {func(s *state) {
			s.release = nil
			s.rivals = []claim{{gateway: types.NamespacedName{Namespace: "b", Name: "c"}, exists: true, meets: claims.Keys(placesOf(s.gateway))[0]}}
		}, `Conflict spec.release.name: release "web" in target namespace "apis" belongs to APIGateway b/c already`},
	} {
		s := deployedState()
		s.plan, s.desired.Source = &plan.Plan{ClassName: "edge"}, source("old", false)
		c.change(s)
		r.judge(s)
		got := ""
		if s.fault != nil {
			got = s.fault.Reason() + " " + s.fault.Error()
		}
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
		if s.fault == nil && (s.foreign != nil || s.release == nil) {
			t.Errorf("%s: it is not waited for", what)
		}
		if s.fault != nil && (s.plan != nil || s.desired.Release != nil) {
			t.Errorf("%s: the plan was kept", what)
		}
	}
}
