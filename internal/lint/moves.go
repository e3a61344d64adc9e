// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"path"
	"reflect"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/render"
)

// moved compares with what was before: a release cannot be moved, and one whose gateway is gone goes too.
func (l *linter) moved() {
	if l.Before == nil {
		return
	}
	var gone []Finding
	for old := range l.Before.Gateways() {
		g := l.Set.Gateway(keyOf(old))
		switch {
		case g != nil:
			l.moves(old, g)
		case l.ForGit || !old.Orphans():
			gone = append(gone, Finding{Severity: Warning, Rule: RuleReleaseRemoved, Before: true, Problem: render.Problem{
				Object: gatewayName(old), APIVersion: v1alpha1.GroupVersion.String(),
				Message: "is no longer in the input; once it is gone from the cluster, its release is uninstalled",
			}})
		}
	}
	l.located = append(l.located, locate(l.Before, gone)...)
	l.replacedCharts()
}

// moves are the edits by which a release would have to move. The API server refuses them; where objects are rendered, Flux
// uninstalls the release and installs another.
func (l *linter) moves(old, g *v1alpha1.APIGateway) {
	address := written
	if l.ForGit {
		address = rendered
	}
	before, after := address(old), address(g)
	for i, field := range addressFields {
		if !reflect.DeepEqual(before[i], after[i]) {
			l.add(Error, RuleReleaseMoved, gatewayName(g), field, fmt.Sprintf("was %s and is %s; %s",
				shown(before[i]), shown(after[i]), l.consequence(field)))
		}
	}
}

func (l *linter) consequence(field string) string {
	const advice = "a release cannot be moved: create another gateway"
	switch {
	case !l.ForGit:
		return "the API server refuses that, since " + advice
	case field == "spec.cluster.kubeConfig":
		return "Flux installs anew on the other cluster and leaves the old release behind; " + advice
	}
	return "Flux uninstalls the release and installs it anew; " + advice
}

// addressFields say where a release is. written and rendered give their values in the same order.
var addressFields = []string{
	"spec.release.name", "spec.release.targetNamespace", "spec.release.storageNamespace", "spec.cluster.name", "spec.cluster.kubeConfig",
}

// written is what the API server compares: what the gateway says, with no default but the release's name.
func written(g *v1alpha1.APIGateway) []any {
	release, cluster := deref(g.Spec.Release), deref(g.Spec.Cluster)
	var kubeConfig any
	if cluster.KubeConfig != nil {
		kubeConfig = *cluster.KubeConfig
	}
	return []any{
		cmp.Or(deref(release.Name), g.Name), deref(release.TargetNamespace), deref(release.StorageNamespace), deref(cluster.Name), kubeConfig,
	}
}

// rendered is what Flux compares: what comes of it in the HelmRelease, where the cluster's name does not stand.
func rendered(g *v1alpha1.APIGateway) []any {
	address := written(g)
	target := cmp.Or(address[1].(string), g.Namespace)
	return []any{address[0], target, cmp.Or(address[2].(string), target), "", address[4]}
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		if v == "" {
			return "not set"
		}
		return fmt.Sprintf("%q", v)
	case v1alpha1.KubeConfig:
		text := "Secret " + v.SecretRef.Name
		if key := deref(v.SecretRef.Key); key != "" {
			text += ", key " + key
		}
		return text
	}
	return fmt.Sprint(v)
}

// replacedCharts are charts of another name. Flux upgrades to them in place, and what Kubernetes does not let change, such as
// a Deployment's selector, makes that fail. A class of which that is true says it for all its gateways.
func (l *linter) replacedCharts() {
	before := map[types.NamespacedName]chartOf{}
	for p := range l.Before.Plans(l.Options) {
		before[p.Plan.Gateway] = chartOf{p.Plan.ClassName, path.Base(p.Plan.Source.Spec.URL)}
	}
	for p := range l.Set.Plans(l.Options) {
		old, now := before[p.Plan.Gateway], path.Base(p.Plan.Source.Spec.URL)
		object, field := gatewayName(p.Gateway), "spec.className"
		if old.class == p.Plan.ClassName {
			object, field = className(old.class), "spec.chart.url"
		}
		if old.chart != "" && old.chart != now {
			l.add(Warning, RuleChartReplaced, object, field, fmt.Sprintf("the chart was %s and is %s: releases are upgraded to it in place, "+
				"which fails where both have an object of one name with a different selector", old.chart, now))
		}
	}
}

// chartOf is a gateway's class and the name of its chart.
type chartOf struct{ class, chart string }
