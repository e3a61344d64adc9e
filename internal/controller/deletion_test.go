// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

func TestPart(t *testing.T) {
	yes := true
	byPeople := func(_ *v1alpha1.APIGateway, hr *helmv2.HelmRelease) { hr.Spec.Suspend = true }
	byUs := func(_ *v1alpha1.APIGateway, hr *helmv2.HelmRelease) { suspend(hr, &yes) }
	orphan := func(g *v1alpha1.APIGateway, _ *helmv2.HelmRelease) {
		policy := v1alpha1.DeletionOrphan
		g.Spec.DeletionPolicy = &policy
	}
	going := func(_ *v1alpha1.APIGateway, hr *helmv2.HelmRelease) { hr.DeletionTimestamp = &metav1.Time{} }
	reports := func(reason, message string, history ...*helmv2.Snapshot) func(*v1alpha1.APIGateway, *helmv2.HelmRelease) {
		return func(_ *v1alpha1.APIGateway, hr *helmv2.HelmRelease) {
			hr.Status.History = history
			for kind, status := range map[string]metav1.ConditionStatus{meta.ReconcilingCondition: metav1.ConditionTrue, meta.ReadyCondition: metav1.ConditionUnknown} {
				apimeta.SetStatusCondition(&hr.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
			}
		}
	}
	const installs = "Running 'install' action with timeout of 5m0s"
	installing := reports(meta.ProgressingReason, installs)
	type change = func(*v1alpha1.APIGateway, *helmv2.HelmRelease)
	for what, c := range map[string]struct {
		changes        []change
		accountMissing bool
		want           string
	}{
		"running":                           {nil, false, "remove"},
		"suspended by us":                   {[]change{byUs}, false, "resume, remove"},
		"suspended by people":               {[]change{byPeople}, false, "hold: flux resume helmrelease web -n apis"},
		"its account is gone":               {nil, true, "hold: kubectl create serviceaccount deployer -n apis"},
		"suspended by us, its account gone": {[]change{byUs}, true, "hold: kubectl create serviceaccount deployer -n apis"},
		"installing for the first time":     {[]change{installing}, false, "hold: is deleted once that is over"},
		"about to":                          {[]change{reports(meta.ProgressingReason, "Fulfilling prerequisites")}, false, "hold: is deleted once that is over"},
		"installing again":                  {[]change{reports(meta.ProgressingReason, installs, &helmv2.Snapshot{Version: 1})}, false, "remove"},
		"between two installs":              {[]change{reports(meta.ProgressingWithRetryReason, "retrying after 1m0s")}, false, "remove"},
		"installing, its account gone":      {[]change{installing}, true, "hold: kubectl create serviceaccount deployer -n apis"},
		"installing, orphan":                {[]change{installing, orphan}, false, "suspend, remove"},
		"installing, suspended by us":       {[]change{installing, byUs}, false, "resume, hold: is deleted once that is over"},
		"going already":                     {[]change{going, byPeople}, true, ""},
		"orphan, running":                   {[]change{orphan}, false, "suspend, remove"},
		"orphan, suspended by people":       {[]change{orphan, byPeople}, false, "remove"},
		"orphan, its account is gone":       {[]change{orphan}, true, "suspend, remove"},
		"orphan, going already":             {[]change{orphan, going}, false, ""},
	} {
		g := gateway()
		hr := newRelease(&state{gateway: g, desired: fluxobjects.Objects{Release: wantedRelease("old", "{}")}})
		hr.Spec.ServiceAccountName = "deployer"
		for _, change := range c.changes {
			change(g, hr)
		}
		got := part(g, hr, c.accountMissing)
		if !matches(got, c.want) {
			t.Errorf("%s: want %q, got %+v", what, c.want, got)
		}
	}
}

func matches(p parting, want string) bool {
	if before, hold, ok := strings.Cut(want, "hold: "); ok {
		return (p.update != nil && !p.update.Spec.Suspend) == (before == "resume, ") && !p.remove && strings.Contains(p.hold, hold)
	}
	var steps []string
	if p.update != nil {
		steps = append(steps, map[bool]string{true: "suspend", false: "resume"}[p.update.Spec.Suspend])
	}
	if p.remove {
		steps = append(steps, "remove")
	}
	return p.hold == "" && strings.Join(steps, ", ") == want
}

// A gateway without a HelmRelease is let go by whichever operator comes first, those of other classes included.
func TestWhoLetsAGatewayGoTellsOfWhatMayRemain(t *testing.T) {
	for what, c := range map[string]struct {
		already bool
		told    int
	}{"it goes": {false, 1}, "another operator has let it go": {true, 0}} {
		scheme, err := NewScheme()
		require.NoError(t, err)
		now := metav1.Now()
		going := gateway()
		going.DeletionTimestamp, going.Finalizers = &now, []string{v1alpha1.Finalizer}
		going.Spec.Release = &v1alpha1.GatewayRelease{TargetNamespace: new("shared")}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "apis", DeletionTimestamp: &now, Finalizers: []string{"kubernetes"}}}
		api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(going, namespace).Build()
		seen := &v1alpha1.APIGateway{}
		require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(going), seen))
		if c.already {
			gone := seen.DeepCopy()
			gone.Finalizers = nil
			require.NoError(t, api.Update(t.Context(), gone))
		}
		recorder := events.NewFakeRecorder(10)
		r := &gatewayReconciler{Client: api, live: api, events: recorder}
		require.NoError(t, r.tearDown(t.Context(), &state{gateway: seen}), what)
		require.Len(t, recorder.Events, c.told, what)
	}
}
