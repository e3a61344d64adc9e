// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
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
		"going already":                     {[]change{going, byPeople}, true, ""},
		"orphan, running":                   {[]change{orphan}, false, "suspend, remove"},
		"orphan, suspended by people":       {[]change{orphan, byPeople}, false, "remove"},
		"orphan, its account is gone":       {[]change{orphan}, true, "suspend, remove"},
		"orphan, going already":             {[]change{orphan, going}, false, ""},
	} {
		g := gateway()
		hr := newRelease(g, wantedRelease("old", "{}"))
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
	if hold, ok := strings.CutPrefix(want, "hold: "); ok {
		return p.update == nil && !p.remove && strings.Contains(p.hold, hold)
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
