// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A class may prepare what a gateway turns on: until then it has no effect, as values.yaml says, and is not refused.
func TestWhatIsPreparedHasNoEffectUntilItIsTurnedOn(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ off, prepared, on string }{
		"an autoscaler": {
			"autoscaling: {enabled: false}",
			"autoscaling: {enabled: false, maxReplicas: 20, targetCPUUtilizationPercentage: 60, behavior: {scaleDown: {stabilizationWindowSeconds: 300}}}",
			"autoscaling: {enabled: true, maxReplicas: 20, targetCPUUtilizationPercentage: 60, behavior: {scaleDown: {stabilizationWindowSeconds: 300}}}"},
		"a budget": {
			"podDisruptionBudget: {enabled: false}",
			"podDisruptionBudget: {enabled: false, maxUnavailable: 25%}",
			"podDisruptionBudget: {enabled: true, maxUnavailable: 25%}"},
		"a NetworkPolicy": {
			"networkPolicy: {enabled: false}",
			"networkPolicy: {enabled: false, ingressFrom: [{podSelector: {}}], egress: [{}]}",
			"networkPolicy: {enabled: true, ingressFrom: [{podSelector: {}}], egress: [{}]}"},
		"the annotations of a ServiceAccount": {
			"serviceAccount: {create: false}",
			"serviceAccount: {create: false, annotations: {example.com/role: edge}}",
			"serviceAccount: {create: true, annotations: {example.com/role: edge}}"},
		"the names that an upstream must prove": {
			`upstreams: [{name: a, hosts: ["a:1"], tls: {enabled: false}}]`,
			`upstreams: [{name: a, hosts: ["a:1"], tls: {enabled: false, sni: a.example.com, subjectAltNames: [b.example.com]}}]`,
			`upstreams: [{name: a, hosts: ["a:1"], tls: {enabled: true, sni: a.example.com, subjectAltNames: [b.example.com]}}]`},
		"the fields of the access log": {
			"accessLog: {enabled: false}",
			"accessLog: {enabled: false, json: {extra: '%REQ(X-TENANT)%'}}",
			"accessLog: {enabled: true, json: {extra: '%REQ(X-TENANT)%'}}"},
		"the fields of the access log, with format text": {
			"accessLog: {format: text}",
			"accessLog: {format: text, json: {extra: '%REQ(X-TENANT)%'}}",
			"accessLog: {format: json, json: {extra: '%REQ(X-TENANT)%'}}"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			off := render(t, c.off)
			assert.Equal(t, off, render(t, c.prepared))
			assert.NotEqual(t, off, render(t, c.on))
		})
	}
}

// A class may name the CA for all its gateways.
func TestATrustedCAWithoutAnUpstreamWithTLSChangesNothingForEnvoy(t *testing.T) {
	t.Parallel()
	without, with := renderObjects(t, ""), renderObjects(t, "trustedCA: {name: corporate}")
	assert.Equal(t, without.ConfigMap.Data["envoy.yaml"], with.ConfigMap.Data["envoy.yaml"])
	assert.Equal(t, "corporate", secretVolumes(with)["/etc/gateway/trusted-ca"])
}
