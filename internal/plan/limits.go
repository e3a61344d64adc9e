// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// The CRDs limit the size of what people write. The generator reads files that the API server has not seen, and says the
// same. A test compares the tables with the CRDs.

// gatewayLimits are how many elements a list, keys a map or characters a string of a gateway may have. [] stands for every
// element of a list.
var gatewayLimits = map[string]int{
	"spec.chart.digest":                        253,
	"spec.chart.semver":                        253,
	"spec.chart.tag":                           128,
	"spec.className":                           54,
	"spec.cluster.apiVersions":                 256,
	"spec.cluster.apiVersions[]":               253,
	"spec.cluster.externalCAIssuerName":        253,
	"spec.cluster.kubeConfig.secretRef.key":    253,
	"spec.cluster.kubeConfig.secretRef.name":   253,
	"spec.cluster.name":                        253,
	"spec.configRef.name":                      253,
	"spec.controlPlane.host":                   253,
	"spec.controlPlane.tls.certSecretRef.key":  253,
	"spec.controlPlane.tls.certSecretRef.name": 253,
	"spec.controlPlane.tokenSecretRef.key":     253,
	"spec.controlPlane.tokenSecretRef.name":    253,
	"spec.exposure.hostnames":                  64,
	"spec.exposure.hostnames[]":                253,
	"spec.exposure.parentRef.name":             253,
	"spec.exposure.parentRef.namespace":        63,
	"spec.exposure.parentRef.sectionName":      253,
	"spec.exposure.serviceType":                63,
	"spec.exposure.tlsSecretRef.name":          253,
	"spec.infrastructure.images":               32,
	"spec.infrastructure.tolerations":          64,
	"spec.patches":                             64,
	"spec.release.dependsOn":                   32,
	"spec.release.dependsOn[].name":            53,
	"spec.release.driftDetection.ignore":       64,
	"spec.release.interval":                    32,
	"spec.release.name":                        53,
	"spec.release.serviceAccountName":          253,
	"spec.release.storageNamespace":            63,
	"spec.release.targetNamespace":             63,
	"spec.release.timeout":                     32,
	"spec.remediation.backoff.afterThreshold":  32,
	"spec.remediation.backoff.initial":         32,
	"spec.remediation.backoff.max":             32,
	"spec.storage.connectionSecretRef.key":     253,
	"spec.storage.connectionSecretRef.name":    253,
	"spec.storage.sqlitePath":                  1024,
	"spec.storage.type":                        63,
	"spec.trustedCARef.key":                    253,
	"spec.trustedCARef.name":                   253,
	"spec.valuesFrom":                          32,
	"spec.valuesFrom[].name":                   253,
	"spec.valuesFrom[].targetPath":             250,
	"spec.valuesFrom[].valuesKey":              253,
}

// classLimits are the same of a class.
var classLimits = map[string]int{
	"spec.capabilityValues":                     32,
	"spec.capabilityValues[].apiVersion":        253,
	"spec.chart.allowedVersions":                253,
	"spec.chart.certSecretRef.name":             253,
	"spec.chart.interval":                       32,
	"spec.chart.namespace":                      63,
	"spec.chart.proxySecretRef.name":            253,
	"spec.chart.ref.digest":                     253,
	"spec.chart.ref.semver":                     253,
	"spec.chart.ref.semverFilter":               253,
	"spec.chart.ref.tag":                        128,
	"spec.chart.secretRef.name":                 253,
	"spec.chart.serviceAccountName":             253,
	"spec.chart.timeout":                        32,
	"spec.chart.url":                            2048,
	"spec.controllerName":                       253,
	"spec.exposure.externalCAIssuerNamePaths":   16,
	"spec.exposure.externalCAIssuerNamePaths[]": 253,
	"spec.imageMappings":                        32,
	"spec.imageMappings[].name":                 63,
	"spec.imageMappings[].paths":                16,
	"spec.imageMappings[].paths[].digest":       253,
	"spec.imageMappings[].paths[].registry":     253,
	"spec.imageMappings[].paths[].repository":   253,
	"spec.imageMappings[].paths[].tag":          253,
	"spec.policy.allowedTargetNamespaces":       256,
	"spec.policy.allowedTargetNamespaces[]":     63,
	"spec.release.driftDetection.ignore":        64,
	"spec.release.interval":                     32,
	"spec.release.serviceAccountName":           253,
	"spec.release.timeout":                      32,
	"spec.remediation.backoff.afterThreshold":   32,
	"spec.remediation.backoff.initial":          32,
	"spec.remediation.backoff.max":              32,
	"spec.valueMappings":                        128,
	"spec.valueMappings[].allowed":              64,
	"spec.valueMappings[].allowed[]":            253,
	"spec.valueMappings[].field":                253,
	"spec.valueMappings[].paths":                16,
	"spec.valueMappings[].paths[]":              253,
}

// checkGatewayLimits leaves out the documents of values, which nothing limits but the API server's size of an object.
func checkGatewayLimits(spec v1alpha1.APIGatewaySpec, wrong *faults) {
	spec.Values = nil
	checkLimits(spec, gatewayLimits, wrong)
}

func checkClassLimits(spec v1alpha1.APIGatewayClassSpec, wrong *faults) {
	spec.Values, spec.CapabilityValues = nil, slices.Clone(spec.CapabilityValues)
	for i := range spec.CapabilityValues {
		spec.CapabilityValues[i].Present, spec.CapabilityValues[i].Absent = nil, nil
	}
	spec.ValueMappings = slices.Clone(spec.ValueMappings)
	for i := range spec.ValueMappings {
		spec.ValueMappings[i].WhenSet = nil
	}
	if spec.Exposure != nil {
		spec.Exposure = &v1alpha1.ClassExposure{ExternalCAIssuerNamePaths: spec.Exposure.ExternalCAIssuerNamePaths}
	}
	checkLimits(spec, classLimits, wrong)
}

// checkLimits walks a spec as JSON.
func checkLimits(spec any, limits map[string]int, wrong *faults) {
	raw, err := json.Marshal(spec)
	if err != nil {
		wrong.invalid("spec", "cannot be written as JSON: %s", err)
		return
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		wrong.invalid("spec", "cannot be written as JSON: %s", err)
		return
	}
	l := limiter{limits: limits, wrong: wrong, pattern: []byte("spec"), field: []byte("spec")}
	l.walk(tree)
}

type limiter struct {
	limits map[string]int
	wrong  *faults
	// pattern is the place in the tables of the value that is looked at, and field the one in messages. They grow and shrink.
	pattern, field []byte
}

func (l *limiter) walk(value any) {
	pattern, field := len(l.pattern), len(l.field)
	switch v := value.(type) {
	case string:
		l.check(utf8.RuneCountInString(v), "characters")
	case []any:
		l.check(len(v), "elements")
		l.pattern = append(l.pattern, "[]"...)
		for i, element := range v {
			l.field = fmt.Appendf(l.field[:field], "[%d]", i)
			l.walk(element)
		}
	case map[string]any:
		l.check(len(v), "keys")
		for _, key := range slices.Sorted(maps.Keys(v)) {
			l.pattern = append(append(l.pattern[:pattern], '.'), key...)
			l.field = append(append(l.field[:field], '.'), key...)
			l.walk(v[key])
		}
	}
	l.pattern, l.field = l.pattern[:pattern], l.field[:field]
}

// check says nothing of a field of which something is said already.
func (l *limiter) check(size int, unit string) {
	most, limited := l.limits[string(l.pattern)]
	if field := string(l.field); limited && size > most && !l.wrong.about(field) {
		l.wrong.invalid(field, "has %d %s; at most %d are allowed", size, unit, most)
	}
}
