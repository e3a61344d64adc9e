// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// capabilityRule says what a class adds where a cluster serves an API, and where it does not.
type capabilityRule struct {
	apiVersion      string
	present, absent map[string]any
}

// exposureRule says what a class adds by the exposure mode.
type exposureRule struct {
	gatewayAPI, route map[string]any
	issuerPaths       []Path
}

// AsksForAPIs says whether the values of the class's gateways depend on what the cluster serves.
func AsksForAPIs(class *v1alpha1.APIGatewayClass) bool {
	return len(class.Spec.CapabilityValues) > 0 || class.Spec.Exposure != nil
}

func readCapabilities(list []v1alpha1.CapabilityValues, wrong *faults) []capabilityRule {
	var rules []capabilityRule
	for i, c := range list {
		here := at("spec.capabilityValues", i)
		checkAPIVersion(here+".apiVersion", c.APIVersion, wrong)
		rules = append(rules, capabilityRule{
			apiVersion: c.APIVersion,
			present:    readValues(here+".present", c.Present, wrong),
			absent:     readValues(here+".absent", c.Absent, wrong),
		})
	}
	return rules
}

func readExposure(exposure v1alpha1.ClassExposure, taken *pathTree, wrong *faults) exposureRule {
	rule := exposureRule{
		gatewayAPI: readValues("spec.exposure.gatewayAPIValues", exposure.GatewayAPIValues, wrong),
		route:      readValues("spec.exposure.routeValues", exposure.RouteValues, wrong),
	}
	for i, text := range exposure.ExternalCAIssuerNamePaths {
		if path := readPath(at("spec.exposure.externalCAIssuerNamePaths", i), text, taken, wrong); path != nil {
			rule.issuerPaths = append(rule.issuerPaths, path)
		}
	}
	return rule
}

func readValues(field string, values *apiextensionsv1.JSON, wrong *faults) map[string]any {
	if values == nil {
		return nil
	}
	return decodeObject(field, values.Raw, wrong)
}

// forTarget lays over the class's values what it adds for the cluster that the release goes to: by what that serves, in the
// class's order, and above it by its exposure mode.
func (r rules) forTarget(t target, wrong *faults) map[string]any {
	merged := r.values
	for _, c := range r.capabilities {
		served, unknown := t.apis.serves(c.apiVersion)
		switch {
		case unknown != "":
			t.refuseUnknown(r.class, c.apiVersion, unknown, wrong)
		case served:
			merged = merge(merged, c.present)
		default:
			merged = merge(merged, c.absent)
		}
	}
	return r.exposure.over(merged, r.class, t, wrong)
}

// over lays the exposure values over others.
func (e exposureRule) over(below map[string]any, class string, t target, wrong *faults) map[string]any {
	if len(e.gatewayAPI) == 0 && len(e.route) == 0 && len(e.issuerPaths) == 0 {
		return below
	}
	mode, unknown := ResolveExposure(t.mode, t.apis)
	switch {
	case unknown != "":
		t.refuseUnknown(class, v1alpha1.GatewayAPIVersion, unknown, wrong)
	case mode == v1alpha1.ExposureGatewayAPI:
		return merge(below, e.gatewayAPI)
	case mode == v1alpha1.ExposureRoute && len(e.route) == 0 && len(e.issuerPaths) == 0:
	case mode == v1alpha1.ExposureRoute && t.issuer == "":
		t.refuseMissingIssuer(wrong)
	case mode == v1alpha1.ExposureRoute:
		return apply(e.issuerSettings(t.issuer), merge(below, e.route))
	}
	return below
}

func (e exposureRule) issuerSettings(issuer string) []setting {
	var settings []setting
	for _, path := range e.issuerPaths {
		settings = append(settings, setting{path: path, value: issuer})
	}
	return settings
}
