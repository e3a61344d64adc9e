// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"regexp"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/plan"
)

func TestSourceName(t *testing.T) {
	longest := fullPlan()
	longest.ClassName, longest.Gateway.Name = strings.Repeat("c", 54), strings.Repeat("g", 53)
	for what, c := range map[string]struct {
		plan   *plan.Plan
		naming fluxobjects.Naming
		want   types.NamespacedName
	}{
		"shared, it is named after the class": {
			fullPlan(), fluxobjects.SharedSources, types.NamespacedName{Namespace: "team-a", Name: sourceName},
		},
		"the gateway's own, it is named after the gateway": {
			fullPlan(), fluxobjects.OwnSources, types.NamespacedName{Namespace: "team-a", Name: "orders-52d625fa"},
		},
		"the longest class gives 63 characters": {
			longest, fluxobjects.SharedSources, types.NamespacedName{Namespace: "team-a", Name: strings.Repeat("c", 54) + "-52d625fa"},
		},
		"the longest gateway gives 62 characters": {
			longest, fluxobjects.OwnSources, types.NamespacedName{Namespace: "team-a", Name: strings.Repeat("g", 53) + "-52d625fa"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			got := fluxobjects.SourceName(c.plan, c.naming)
			if got != c.want || len(got.Name) > 63 {
				t.Errorf("got %v (%d characters), want %v", got, len(got.Name), c.want)
			}
		})
	}
}

func TestSourceNameChangesWithEveryFieldOfTheSpec(t *testing.T) {
	p := fullPlan()
	p.Source.Spec = *filled[sourcev1.OCIRepositorySpec]()
	names := map[string]string{nameOf(p): "nothing"}
	changed(t, func(leaf string, spec *sourcev1.OCIRepositorySpec) {
		p.Source.Spec = *spec
		name := nameOf(p)
		if other, taken := names[name]; taken {
			t.Errorf("changing %s gives the same name as changing %s", leaf, other)
		}
		if !regexp.MustCompile(`^wso2-[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("changing %s gives the name %q", leaf, name)
		}
		names[name] = leaf
	})
}

func TestSourceNameDependsOnNothingElse(t *testing.T) {
	p := barePlan()
	p.Source.Spec = fullPlan().Source.Spec
	p.Gateway.Name, p.Release.Name, p.Source.Namespace = "users", "users", "team-b"
	if got := nameOf(p); got != sourceName {
		t.Errorf("another gateway with the same chart has the source %s, want %s", got, sourceName)
	}
}

func nameOf(p *plan.Plan) string {
	return fluxobjects.SourceName(p, fluxobjects.SharedSources).Name
}
