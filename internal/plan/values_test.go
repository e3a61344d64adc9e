// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// valuesOf are the values of the plan of a gateway.
func valuesOf(t *testing.T, class, gateway, config string) string {
	t.Helper()
	in := input(t, class, gateway)
	in.Config = aConfig(config)
	return string(made(t, in).Release.Values)
}

// Each layer sets its own name at every level that it may reach, so that the highest one of each shows.
func TestTheOrderOfTheLayers(t *testing.T) {
	const class = `
spec:
  values: {l1: class, l2: class, l3: class, l4: class, l5: class, map: {class: 1, both: class}}
  valueMappings:
  - {field: storage.type, paths: [l3], whenSet: {l2: whenSet, l3: whenSet, l4: whenSet, l5: whenSet, map: {whenSet: 1, both: whenSet}}}
  imageMappings:
  - {name: gateway, paths: [{repository: image}]}
`
	for name, c := range map[string]struct{ gateway, config, want string }{
		"class.values": {
			"{}", "",
			`{"l1":"class","l2":"class","l3":"class","l4":"class","l5":"class","map":{"both":"class","class":1}}`,
		},
		"whenSet over class.values, and mapped fields and images over that": {
			"spec: {storage: {type: mapped}, infrastructure: {images: {gateway: mapped}}}", "",
			`{"image":"mapped","l1":"class","l2":"whenSet","l3":"mapped","l4":"whenSet","l5":"whenSet","map":{"both":"whenSet","class":1,"whenSet":1}}`,
		},
		"configRef over that": {
			"spec: {storage: {type: mapped}, configRef: {name: orders-values}}",
			"l4: config\nl5: config\nmap: {config: 1, both: config}",
			`{"l1":"class","l2":"whenSet","l3":"mapped","l4":"config","l5":"config","map":{"both":"config","class":1,"config":1,"whenSet":1}}`,
		},
		"spec.values over all": {
			"spec: {storage: {type: mapped}, configRef: {name: orders-values}, values: {l5: values, map: {values: 1, both: values}}}",
			"l4: config\nl5: config\nmap: {config: 1, both: config}",
			`{"l1":"class","l2":"whenSet","l3":"mapped","l4":"config","l5":"values","map":{"both":"values","class":1,"config":1,"values":1,"whenSet":1}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, valuesOf(t, class, c.gateway, c.config))
		})
	}
}

func TestMerging(t *testing.T) {
	for name, c := range map[string]struct{ class, config, values, want string }{
		"nothing anywhere":                    {"{}", "", "{}", ""},
		"empty maps stay":                     {"{a: {}}", "", "{}", `{"a":{}}`},
		"lists replace":                       {"{a: [1, 2, {b: 1}]}", "", "{a: [{c: 1}]}", `{"a":[{"c":1}]}`},
		"an empty list replaces":              {"{a: [1, 2]}", "", "{a: []}", `{"a":[]}`},
		"null replaces and stays":             {"{a: {b: 1}, c: 1}", "a: null", "{d: {e: null}}", `{"a":null,"c":1,"d":{"e":null}}`},
		"a map replaces a null":               {"{a: null}", "", "{a: {b: 1}}", `{"a":{"b":1}}`},
		"a map replaces what is none":         {"{a: 1, b: [1]}", "", "{a: {b: 1}, b: {c: 1}}", `{"a":{"b":1},"b":{"c":1}}`},
		"what is none replaces a map":         {"{a: {b: 1}}", "", "{a: false}", `{"a":false}`},
		"whole floats become integers":        {"{a: 1.0, b: 1e3, c: -0.0, d: 1.5}", "", "{}", `{"a":1,"b":1000,"c":0,"d":1.5}`},
		"text is not escaped for HTML":        {"{a: '<&>'}", "", "{}", `{"a":"<&>"}`},
		"keys are sorted":                     {"{b: 1, a: 1}", "c: 1", "{B: 1}", `{"B":1,"a":1,"b":1,"c":1}`},
		"null in the class, if nothing above": {"{a: null}", "", "{}", `{"a":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			gateway := "spec: {values: " + c.values + "}"
			if c.config != "" {
				gateway = "spec: {configRef: {name: orders-values}, values: " + c.values + "}"
			}
			require.Equal(t, c.want, valuesOf(t, "spec: {values: "+c.class+"}", gateway, c.config))
		})
	}
}

func TestIntegersAreKeptExactly(t *testing.T) {
	in := input(t, "{}", "{}")
	in.Gateway.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(
		`{"most":9223372036854775807,"least":-9223372036854775808,"beyondFloat":9007199254740993,"text":"12345678901234567890"}`)}
	require.Equal(t,
		`{"beyondFloat":9007199254740993,"least":-9223372036854775808,"most":9223372036854775807,"text":"12345678901234567890"}`,
		string(made(t, in).Release.Values))

	in.Gateway.Spec.Values.Raw = []byte(`{"a":{"b":[9223372036854775808]},"c":-1e19,"d":1e400}`)
	require.Equal(t, []string{
		"InvalidSpec spec.values.a.b[0]: the API server would round this integer, which does not fit 64 bits; put it in quotes",
		"InvalidSpec spec.values.c: the API server would round this integer, which does not fit 64 bits; put it in quotes",
		"InvalidSpec spec.values.d: the API server would round this integer, which does not fit 64 bits; put it in quotes",
	}, refusal(t, in))
}

func TestSpecValuesThatAreNoMapAreRefused(t *testing.T) {
	for raw, want := range map[string]string{
		"[]":     "InvalidSpec spec.values: a list is not a map, and values are one",
		"5":      "InvalidSpec spec.values: a number is not a map, and values are one",
		`"a: b"`: "InvalidSpec spec.values: a string is not a map, and values are one",
		"{":      "InvalidSpec spec.values: is not JSON: unexpected EOF",
		"{} {}":  "InvalidSpec spec.values: is not JSON: something follows the first value",
	} {
		in := input(t, "{}", "{}")
		in.Gateway.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(raw)}
		require.Equal(t, []string{want}, refusal(t, in), raw)
	}
}

func TestMappedFields(t *testing.T) {
	for name, c := range map[string]struct{ class, gateway, want string }{
		"a field at every path": {
			"{valueMappings: [{field: infrastructure.replicas, paths: [a.replicas, b]}]}",
			"{infrastructure: {replicas: 3}}",
			`{"a":{"replicas":3},"b":3}`,
		},
		"0 and false are set": {
			"{valueMappings: [{field: infrastructure.replicas, paths: [a]}, {field: controlPlane.tls.enabled, paths: [b], whenSet: {c: 1}}]}",
			"{infrastructure: {replicas: 0}, controlPlane: {tls: {enabled: false}}}",
			`{"a":0,"b":false,"c":1}`,
		},
		"what is not set is not put, nor what goes with it": {
			"{values: {a: 1}, valueMappings: [{field: infrastructure.replicas, paths: [a], whenSet: {b: 1}}]}",
			"{}",
			`{"a":1}`,
		},
		"what every gateway has": {
			"{valueMappings: [{field: metadata.name, paths: [a]}, {field: metadata.namespace, paths: [b]}, {field: release.name, paths: [c]}, " +
				"{field: release.targetNamespace, paths: [d], whenSet: {e: 1}}], policy: {allowedTargetNamespaces: [edge]}}",
			"{release: {name: orders-gw, targetNamespace: edge}}",
			`{"a":"orders","b":"team","c":"orders-gw","d":"edge","e":1}`,
		},
		"what every gateway has, by default": {
			"{valueMappings: [{field: release.name, paths: [c]}, {field: release.targetNamespace, paths: [d]}]}",
			"{}",
			`{"c":"orders","d":"team"}`,
		},
		"a whole structure, in the API's form": {
			"{valueMappings: [{field: infrastructure.resources, paths: [a]}, {field: infrastructure.tolerations, paths: [b]}, {field: exposure.hostnames, paths: [c]}]}",
			"{infrastructure: {resources: {limits: {cpu: '0.5', memory: 1Gi}}, tolerations: [{key: x, operator: Exists, tolerationSeconds: 5}]}, exposure: {hostnames: [a.example.com]}}",
			`{"a":{"limits":{"cpu":"500m","memory":"1Gi"}},"b":[{"key":"x","operator":"Exists","tolerationSeconds":5}],"c":["a.example.com"]}`,
		},
		"a structure replaces the class's map key by key": {
			"{values: {labels: {team: platform, tier: edge}}, valueMappings: [{field: infrastructure.labels, paths: [labels]}]}",
			"{infrastructure: {labels: {team: orders}}}",
			`{"labels":{"team":"orders"}}`,
		},
		"a key with a dot": {
			"{valueMappings: [{field: storage.type, paths: ['annotations.example\\.com/storage']}]}",
			"{storage: {type: x}}",
			`{"annotations":{"example.com/storage":"x"}}`,
		},
		"an element of a list that is not there, after nulls": {
			"{valueMappings: [{field: storage.type, paths: ['list[2].type']}]}",
			"{storage: {type: x}}",
			`{"list":[null,null,{"type":"x"}]}`,
		},
		"an element of the class's list, the rest of which stays": {
			"{values: {list: [{type: a, size: 1}, {type: b}]}, valueMappings: [{field: storage.type, paths: ['list[0].type']}]}",
			"{storage: {type: x}}",
			`{"list":[{"size":1,"type":"x"},{"type":"b"}]}`,
		},
		"a path through what the class has in another shape": {
			"{values: {a: 5, b: null, c: {d: 1}}, valueMappings: [{field: storage.type, paths: [a.type, b.type, 'c[0]']}]}",
			"{storage: {type: x}}",
			`{"a":{"type":"x"},"b":{"type":"x"},"c":["x"]}`,
		},
		"an allowed value": {
			"{valueMappings: [{field: storage.type, paths: [a], allowed: [sqlite, postgres]}, {field: infrastructure.replicas, paths: [b], allowed: ['1']}, " +
				"{field: controlPlane.tls.enabled, paths: [c], allowed: ['true']}]}",
			"{storage: {type: postgres}, infrastructure: {replicas: 1}, controlPlane: {tls: {enabled: true}}}",
			`{"a":"postgres","b":1,"c":true}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, valuesOf(t, "spec: "+c.class, "spec: "+c.gateway, ""))
		})
	}
}

func TestFieldsThatTheClassDoesNotTakeAreRefused(t *testing.T) {
	const unmapped = ": class wso2 does not map this field; remove it, or set the chart's own key in spec.values"
	for name, c := range map[string]struct {
		class, gateway string
		want           []string
	}{
		"a scalar": {
			"{}", "{controlPlane: {host: cp.example.com}}",
			[]string{"UnmappedField spec.controlPlane.host" + unmapped},
		},
		"0 and false": {
			"{}", "{infrastructure: {replicas: 0}, controlPlane: {tls: {enabled: false}}}",
			[]string{"UnmappedField spec.infrastructure.replicas" + unmapped, "UnmappedField spec.controlPlane.tls.enabled" + unmapped},
		},
		"one leaf of a reference, where the other is mapped": {
			"{valueMappings: [{field: controlPlane.tokenSecretRef.name, paths: [a]}]}",
			"{controlPlane: {tokenSecretRef: {name: token, key: value}}}",
			[]string{"UnmappedField spec.controlPlane.tokenSecretRef.key" + unmapped},
		},
		"values outside the allowed ones": {
			"{valueMappings: [{field: storage.type, paths: [a], allowed: [sqlite, postgres]}, {field: infrastructure.replicas, paths: [b], allowed: ['1']}, " +
				"{field: metadata.namespace, paths: [c], allowed: [edge]}]}",
			"{storage: {type: mysql}, infrastructure: {replicas: 2}}",
			[]string{
				`InvalidSpec spec.storage.type: class wso2 does not allow "mysql"; it allows: sqlite, postgres`,
				`InvalidSpec spec.infrastructure.replicas: class wso2 does not allow "2"; it allows: 1`,
				`InvalidSpec metadata.namespace: class wso2 does not allow "team"; it allows: edge`,
			},
		},
		"a number that counts nothing": {
			"{valueMappings: [{field: infrastructure.replicas, paths: [b]}]}", "{infrastructure: {replicas: -1}}",
			[]string{"InvalidSpec spec.infrastructure.replicas: -1 is less than 0"},
		},
		"references that name nothing": {
			"{valueMappings: [{field: controlPlane.tokenSecretRef.key, paths: [a]}, {field: controlPlane.tls.certSecretRef.key, paths: [b]}, " +
				"{field: storage.connectionSecretRef.key, paths: [c]}, {field: exposure.parentRef.sectionName, paths: [d]}, {field: trustedCARef.key, paths: [e]}]}",
			"{controlPlane: {tokenSecretRef: {name: '', key: k}, tls: {certSecretRef: {name: '', key: k}}}, storage: {connectionSecretRef: {name: '', key: k}}, " +
				"exposure: {tlsSecretRef: {name: ''}, parentRef: {name: '', sectionName: s}}, trustedCARef: {name: '', key: k}, configRef: {name: ''}}",
			[]string{
				"InvalidSpec spec.controlPlane.tokenSecretRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.controlPlane.tls.certSecretRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.storage.connectionSecretRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.exposure.tlsSecretRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.exposure.parentRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.trustedCARef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.configRef.name: is empty; name the object, or remove the whole reference",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, refusal(t, input(t, "spec: "+c.class, "spec: "+c.gateway)))
		})
	}
}

func TestValuesNestedTooDeepAreRefusedWithoutCost(t *testing.T) {
	deep := func(levels int) string {
		return `{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	}
	const tooDeep = ": is nested more than 100 deep, which no chart's values are; make it flatter"

	in := input(t, "{}", "spec: {values: {}}")
	in.Gateway.Spec.Values.Raw = []byte(deep(100))
	require.Equal(t, deep(100), string(made(t, in).Release.Values))

	in.Gateway.Spec.Values.Raw = []byte(deep(9900))
	require.Equal(t, []string{"InvalidSpec spec.values.a" + tooDeep}, refusal(t, in))

	in = input(t, "{}", "spec: {configRef: {name: config}}")
	in.Config = aConfig(deep(9900))
	require.Equal(t, []string{"InvalidConfig spec.configRef.name: ConfigMap team/config, key values.yaml, line 1: a" + tooDeep}, refusal(t, in))

	in = input(t, "spec: {values: {}}", "{}")
	in.Classes[0].Spec.Values.Raw = []byte(deep(9900))
	require.Equal(t, []string{"ClassNotAccepted APIGatewayClass/wso2 spec.values.a" + tooDeep}, refusal(t, in))
}
