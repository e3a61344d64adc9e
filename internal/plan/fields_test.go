// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// mappableExamples set each field that a class can map, with the value that lands in the chart's values.
var mappableExamples = map[string]struct{ gateway, value string }{
	"infrastructure.replicas":             {"{infrastructure: {replicas: 2}}", "2"},
	"infrastructure.resources":            {"{infrastructure: {resources: {limits: {cpu: 1}}}}", `{"limits":{"cpu":"1"}}`},
	"infrastructure.nodeSelector":         {"{infrastructure: {nodeSelector: {a: b}}}", `{"a":"b"}`},
	"infrastructure.tolerations":          {"{infrastructure: {tolerations: [{key: a}]}}", `[{"key":"a"}]`},
	"infrastructure.affinity":             {"{infrastructure: {affinity: {nodeAffinity: {}}}}", `{"nodeAffinity":{}}`},
	"infrastructure.labels":               {"{infrastructure: {labels: {a: b}}}", `{"a":"b"}`},
	"infrastructure.annotations":          {"{infrastructure: {annotations: {a: b}}}", `{"a":"b"}`},
	"controlPlane.host":                   {"{controlPlane: {host: a}}", `"a"`},
	"controlPlane.tokenSecretRef.name":    {"{controlPlane: {tokenSecretRef: {name: a}}}", `"a"`},
	"controlPlane.tokenSecretRef.key":     {"{controlPlane: {tokenSecretRef: {name: a, key: b}}}", `"b"`},
	"controlPlane.tls.enabled":            {"{controlPlane: {tls: {enabled: false}}}", "false"},
	"controlPlane.tls.certSecretRef.name": {"{controlPlane: {tls: {certSecretRef: {name: a}}}}", `"a"`},
	"controlPlane.tls.certSecretRef.key":  {"{controlPlane: {tls: {certSecretRef: {name: a, key: b}}}}", `"b"`},
	"storage.type":                        {"{storage: {type: a}}", `"a"`},
	"storage.sqlitePath":                  {"{storage: {sqlitePath: /a}}", `"/a"`},
	"storage.connectionSecretRef.name":    {"{storage: {connectionSecretRef: {name: a}}}", `"a"`},
	"storage.connectionSecretRef.key":     {"{storage: {connectionSecretRef: {name: a, key: b}}}", `"b"`},
	"exposure.hostnames":                  {"{exposure: {hostnames: [a, b]}}", `["a","b"]`},
	"exposure.serviceType":                {"{exposure: {serviceType: ClusterIP}}", `"ClusterIP"`},
	"exposure.tlsSecretRef.name":          {"{exposure: {tlsSecretRef: {name: a}}}", `"a"`},
	"exposure.parentRef.name":             {"{exposure: {parentRef: {name: a}}}", `"a"`},
	"exposure.parentRef.namespace":        {"{exposure: {parentRef: {name: a, namespace: b}}}", `"b"`},
	"exposure.parentRef.sectionName":      {"{exposure: {parentRef: {name: a, sectionName: b}}}", `"b"`},
	"trustedCARef.name":                   {"{trustedCARef: {name: a}}", `"a"`},
	"trustedCARef.key":                    {"{trustedCARef: {name: a, key: b}}", `"b"`},
	"metadata.name":                       {"{}", `"orders"`},
	"metadata.namespace":                  {"{}", `"team"`},
	"release.name":                        {"{release: {name: a}}", `"a"`},
	"release.targetNamespace":             {"{release: {targetNamespace: a}}", `"a"`},
}

func TestEveryMappableFieldLandsWhereItIsMappedAndIsRefusedWhereItIsNot(t *testing.T) {
	for _, field := range mappableFields {
		t.Run(field.name, func(t *testing.T) {
			require.Contains(t, mappableExamples, field.name)
			example := mappableExamples[field.name]
			besides := ""
			if section := field.name[:strings.LastIndex(field.name, ".")]; !field.given && strings.HasSuffix(section, "Ref") && !strings.HasSuffix(field.name, ".name") {
				besides = "{field: " + section + ".name, paths: [besides.it]}"
			}
			class := "spec: {policy: {allowedTargetNamespaces: ['*']}, valueMappings: [" + besides + "]}"
			in := input(t, class, "spec: "+example.gateway)
			want := []string{"UnmappedField spec." + field.name + ": class wso2 does not map this field; remove it, or set the chart's own key in spec.values"}
			if field.given {
				want = nil
			}
			require.Equal(t, want, refusal(t, in))

			in.Classes[0].Spec.ValueMappings = []v1alpha1.ValueMapping{{Field: field.name, Paths: []string{"x.y"}}}
			if besides != "" {
				in.Classes[0].Spec.ValueMappings = append(in.Classes[0].Spec.ValueMappings, aClass(t, class).Spec.ValueMappings...)
			}
			values := string(made(t, in).Release.Values)
			require.True(t, strings.HasSuffix(values, `"x":{"y":`+example.value+"}}"), values)
		})
	}
}
