// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// The API declares more than this version of Sluice acts on. Here stands every such field; whoever makes one act deletes
// its row. Until then it is refused by name, since nothing that is set may be ignored.

// unhonoured is a field, and whether a document sets it.
type unhonoured[T any] struct {
	field string
	set   func(T) bool
}

// labelShard is the label by which Flux's controllers share work among themselves.
const labelShard = "sharding.fluxcd.io/key"

var unhonouredOfGateway = []unhonoured[*v1alpha1.APIGateway]{
	{"metadata.labels[" + labelShard + "]", func(g *v1alpha1.APIGateway) bool { return g.Labels[labelShard] != "" }},
	{"metadata.annotations[" + v1alpha1.AnnotationAdopt + "]", func(g *v1alpha1.APIGateway) bool {
		return g.Annotations[v1alpha1.AnnotationAdopt] == "true"
	}},
	{"spec.patches", func(g *v1alpha1.APIGateway) bool { return len(g.Spec.Patches) > 0 }},
	{"spec.cluster.name", func(g *v1alpha1.APIGateway) bool { return text("", deref(g.Spec.Cluster).Name) != "" }},
	{"spec.cluster.kubeConfig", func(g *v1alpha1.APIGateway) bool { return deref(g.Spec.Cluster).KubeConfig != nil }},
	{"spec.cluster.apiVersions", func(g *v1alpha1.APIGateway) bool { return len(deref(g.Spec.Cluster).APIVersions) > 0 }},
	{"spec.cluster.exposureMode", func(g *v1alpha1.APIGateway) bool {
		return text("", deref(g.Spec.Cluster).ExposureMode) != ""
	}},
	{"spec.cluster.externalCAIssuerName", func(g *v1alpha1.APIGateway) bool {
		return text("", deref(g.Spec.Cluster).ExternalCAIssuerName) != ""
	}},
}

var unhonouredOfClass = []unhonoured[*v1alpha1.APIGatewayClassSpec]{
	{"spec.chart.allowedVersions", func(c *v1alpha1.APIGatewayClassSpec) bool { return text("", c.Chart.AllowedVersions) != "" }},
	{"spec.chart.namespace", func(c *v1alpha1.APIGatewayClassSpec) bool { return text("", c.Chart.Namespace) != "" }},
	{"spec.capabilityValues", func(c *v1alpha1.APIGatewayClassSpec) bool { return len(c.CapabilityValues) > 0 }},
	{"spec.exposure.gatewayAPIValues", func(c *v1alpha1.APIGatewayClassSpec) bool {
		return isObject(deref(c.Exposure).GatewayAPIValues)
	}},
	{"spec.exposure.routeValues", func(c *v1alpha1.APIGatewayClassSpec) bool { return isObject(deref(c.Exposure).RouteValues) }},
	{"spec.exposure.externalCAIssuerNamePaths", func(c *v1alpha1.APIGatewayClassSpec) bool {
		return len(deref(c.Exposure).ExternalCAIssuerNamePaths) > 0
	}},
	{"spec.policy.allowRemoteClusters", func(c *v1alpha1.APIGatewayClassSpec) bool { return deref(c.Policy).AllowRemoteClusters }},
	{"spec.policy.allowAdoption", func(c *v1alpha1.APIGatewayClassSpec) bool { return deref(c.Policy).AllowAdoption }},
	{"spec.policy.allowPatches", func(c *v1alpha1.APIGatewayClassSpec) bool { return deref(c.Policy).AllowPatches }},
}

// isObject says whether there is more than nothing in it.
func isObject(values *apiextensionsv1.JSON) bool {
	if values == nil {
		return false
	}
	switch string(bytes.TrimSpace(values.Raw)) {
	case "", "null", "{}":
		return false
	default:
		return true
	}
}

func refuseUnhonoured[T any](rows []unhonoured[T], document T, wrong *faults) {
	for _, row := range rows {
		if row.set(document) {
			wrong.add(v1alpha1.ReasonNotHonoured, row.field, "this version of Sluice does not act on it yet; remove it")
		}
	}
}
