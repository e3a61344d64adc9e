// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// classes holds each class against its chart.
func (l *linter) classes() {
	for i := range l.all {
		if c := l.Charts.OfClasses[l.all[i].Name]; c != nil {
			k := classCheck{linter: l, class: &l.all[i], chart: c}
			k.version()
			k.mappings()
			k.documents()
		}
	}
}

type classCheck struct {
	*linter
	class *v1alpha1.APIGatewayClass
	chart *chart.Chart
}

// mappings must lead to what the chart has, or fields would be set and ignored.
func (k classCheck) mappings() {
	for i, m := range k.class.Spec.ValueMappings {
		here := fmt.Sprintf("spec.valueMappings[%d]", i)
		for j, text := range m.Paths {
			k.path(fmt.Sprintf("%s.paths[%d]", here, j), text)
		}
		k.document(Error, RuleUnknownPath, here+".whenSet", m.WhenSet)
	}
	for i, m := range k.class.Spec.ImageMappings {
		for j, paths := range m.Paths {
			here := fmt.Sprintf("spec.imageMappings[%d].paths[%d]", i, j)
			k.optionalPath(here+".registry", paths.Registry)
			k.optionalPath(here+".repository", paths.Repository)
			k.optionalPath(here+".tag", paths.Tag)
			k.optionalPath(here+".digest", paths.Digest)
		}
	}
	if k.class.Spec.Exposure != nil {
		for i, text := range k.class.Spec.Exposure.ExternalCAIssuerNamePaths {
			k.path(fmt.Sprintf("spec.exposure.externalCAIssuerNamePaths[%d]", i), text)
		}
	}
}

func (k classCheck) optionalPath(field string, text *string) {
	if text != nil && *text != "" {
		k.path(field, *text)
	}
}

// path that cannot be parsed is a fault of the class, which is reported as such.
func (k classCheck) path(field, text string) {
	path, err := plan.ParsePath(text)
	if err != nil {
		return
	}
	if unknown := k.chart.Unknown(path); unknown != "" {
		k.add(Error, RuleUnknownPath, className(k.class.Name), field, text+" "+unknown)
	}
}

// documents of values that the class merges may hold what its chart ignores.
func (k classCheck) documents() {
	k.document(Warning, RuleUnknownValue, "spec.values", k.class.Spec.Values)
	for i, c := range k.class.Spec.CapabilityValues {
		here := fmt.Sprintf("spec.capabilityValues[%d]", i)
		k.document(Warning, RuleUnknownValue, here+".present", c.Present)
		k.document(Warning, RuleUnknownValue, here+".absent", c.Absent)
	}
	if e := k.class.Spec.Exposure; e != nil {
		k.document(Warning, RuleUnknownValue, "spec.exposure.gatewayAPIValues", e.GatewayAPIValues)
		k.document(Warning, RuleUnknownValue, "spec.exposure.routeValues", e.RouteValues)
	}
}

func (k classCheck) document(severity Severity, rule, field string, document *apiextensionsv1.JSON) {
	for _, v := range k.chart.UnknownKeys(decode(document)) {
		k.add(severity, rule, className(k.class.Name), field+"."+v.Path.String(), v.Message)
	}
}

// decode reads a document of values. What is no map is a fault that is reported elsewhere.
func decode(document *apiextensionsv1.JSON) map[string]any {
	if document == nil {
		return nil
	}
	values, err := chart.Decode(document.Raw)
	if err != nil {
		return nil
	}
	return values
}
