// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// FuzzMake: whatever people write, there is a plan or an *Error with faults (or the class is another operator's), the
// same each time, and what they wrote is not changed.
func FuzzMake(f *testing.F) {
	add := func(class, gateway, config string) {
		classJSON, err := json.Marshal(aClass(f, class))
		require.NoError(f, err)
		gatewayJSON, err := json.Marshal(aGateway(f, gateway))
		require.NoError(f, err)
		f.Add(classJSON, gatewayJSON, config)
	}
	add("{}", "{}", "")
	add("spec: {controllerName: example.com/other}", "spec: {className: none}", "a: 1")
	add(`
spec:
  values: {deployment: {replicaCount: 1}, hosts: [{name: a}], n: null}
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount], allowed: ["3"]}
  - {field: infrastructure.resources, paths: [resources]}
  - {field: storage.type, paths: ['hosts[1].name', 'a\.b'], whenSet: {x: 1.0}}
  imageMappings:
  - {name: gateway, paths: [{registry: image.registry, repository: image.repository, tag: image.tag, digest: image.digest}]}
  release: {serviceAccountName: flux, driftDetection: {ignore: [{paths: [/spec]}]}}
  policy: {allowedTargetNamespaces: ["*"]}
`, `
spec:
  infrastructure: {replicas: 3, resources: {limits: {cpu: 500m}}, images: {gateway: "registry.example.com/gw:1"}}
  storage: {type: x}
  configRef: {name: orders-values}
  values: {deployment: {replicaCount: 3.0}, y: [1.5, null]}
  release: {targetNamespace: edge, dependsOn: [{name: users}]}
  remediation: {strategy: Retry, backoff: {initial: 2m}}
`, "z: yes\nhosts: [1, {name: x}]\n")
	add(`
spec:
  chart: {namespace: charts, allowedVersions: ">=1.2.0 <2.0.0 || ^3"}
  capabilityValues: [{apiVersion: served/v1, present: {a: 1}, absent: {a: null}}, {apiVersion: other/v1/Kind, absent: {b: {}}}]
  exposure: {gatewayAPIValues: {c: 1}, routeValues: {c: 2}, externalCAIssuerNamePaths: ['issuers[1].name']}
  release: {serviceAccountName: flux}
  policy: {allowRemoteClusters: true, allowAdoption: true, allowPatches: true}
`, `
metadata: {labels: {sharding.fluxcd.io/key: a}, annotations: {gateway.sluice.dev/adopt: "true"}}
spec:
  chart: {semver: ">=1.3 || 1.2 - 1.4"}
  patches:
  - {patch: "- {op: replace, path: /spec/replicas, value: 2}", target: {kind: Deployment, name: "a.*", labelSelector: "a in (b, c)"}}
  - {patch: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: b, image: c}]}}}}"}
  cluster: {name: eu, kubeConfig: {secretRef: {name: eu, key: a}}, apiVersions: [served/v1], exposureMode: auto, externalCAIssuerName: ca}
`, "")
	f.Fuzz(func(t *testing.T, classJSON, gatewayJSON []byte, config string) {
		var class v1alpha1.APIGatewayClass
		gateway := &v1alpha1.APIGateway{}
		if json.Unmarshal(classJSON, &class) != nil || json.Unmarshal(gatewayJSON, gateway) != nil {
			t.Skip()
		}
		in := Input{Gateway: gateway, Classes: []v1alpha1.APIGatewayClass{class}, Config: aConfig(config)}
		kept := Input{Gateway: gateway.DeepCopy(), Classes: []v1alpha1.APIGatewayClass{*class.DeepCopy()}, Config: aConfig(config)}
		p, err := Make(in)
		require.Equal(t, kept, in)
		again, errAgain := Make(in)
		require.Equal(t, p, again)
		require.Equal(t, err, errAgain)
		requireSound(t, p, err)
	})
}

func requireSound(t *testing.T, p *Plan, err error) {
	var refused *Error
	switch {
	case err == nil:
		if p.Release.Values != nil {
			requireCanonical(t, p.Release.Values)
		}
	case errors.As(err, &refused):
		require.Nil(t, p)
		require.NotEmpty(t, refused.Faults)
		for _, fault := range refused.Faults {
			require.NotEmpty(t, fault.Reason)
			require.NotEmpty(t, fault.Field)
			require.NotEmpty(t, fault.Message)
		}
	default:
		require.Nil(t, p)
		require.Equal(t, ErrOtherController, err)
	}
}

// requireCanonical: values that are read back encode to the same bytes.
func requireCanonical(t *testing.T, values []byte) {
	t.Helper()
	var wrong faults
	require.Equal(t, string(values), string(encode(decodeObject("values", values, &wrong))))
	require.Empty(t, wrong)
}

// FuzzMergeValues: merging changes neither side, what was merged once is not changed by merging again, and what comes out
// is canonical.
func FuzzMergeValues(f *testing.F) {
	for _, seed := range [][2]string{
		{"{}", "{}"},
		{`{"a":{"b":1,"c":null}}`, `{"a":{"b":null,"d":{}}}`},
		{`{"a":[1,{"b":2}]}`, `{"a":[]}`},
		{`{"a":1.0,"b":1e3,"c":-0.0,"d":0.1}`, `{"a":9223372036854775807,"b":-9223372036854775808}`},
		{`{"<&>":"\u2028","":{"":null}}`, `{"":{"":{}}}`},
		{`{"a":12345678901234567890}`, `{"a":1e400}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, lowerJSON, upperJSON []byte) {
		var wrong faults
		lower, upper := decodeObject("lower", lowerJSON, &wrong), decodeObject("upper", upperJSON, &wrong)
		if len(wrong) > 0 || lower == nil || upper == nil {
			t.Skip()
		}
		lowerBefore, upperBefore := clone(lower), clone(upper)
		merged := merge(lower, upper)
		requireCanonical(t, encode(merged))
		require.Equal(t, merged, merge(merged, upper))
		require.Equal(t, merged, merge(lower, merged))
		require.Equal(t, lowerBefore, any(lower))
		require.Equal(t, upperBefore, any(upper))
	})
}

// FuzzParsePath: a path that is read is written so that it is read the same, and sets just the value that it leads to.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"a", "a.b", `a\.b.c`, "hosts[0].name", "a[1][2]", `a\`, "a[", "[0]", "a..b", "é", "a[255]", "a]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			require.Nil(t, path)
			return
		}
		again, err := ParsePath(path.String())
		require.NoError(t, err)
		require.Equal(t, path, again)
		tree := path.set(nil, "here")
		require.True(t, holds(tree, path, "here"))
		require.Equal(t, clone(tree), path.set(tree, "here"))
	})
}

// FuzzDecodeYAML: what we read of a document is what Helm's library reads of it, or it is refused.
func FuzzDecodeYAML(f *testing.F) {
	for _, seed := range []string{
		"a: yes\n", "a: 0644\nb: 1_0\n", "a: 1\n---\nb: 2\n", "a: 1\na: 2\n", "1: a\n\"1\": b\n", "a: &x {b: 1}\nc: {<<: *x}\n",
		"a: 1e400\nb: .inf\n", "a: 9223372036854775808\nb: -9223372036854775809\n", "true: 1\n1.5: 2\n", "--- a\n...\nb", "a: !!binary aGk=\n", "a: !!binary 7000\n", "a: &x {b: 1}\nc: {<<: *x, b: 2}\n", "!!binary 7000: a\n",
		"a: 20000000000000008.0\nb: +0020000000000000008\n", "a: 2001-01-01\n", "? a\n: b\n", "a: |\n  ---\n", "\xef\xbb\xbfa: 1\n", "a: \"\\ud800\"\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		values, problems := decodeYAML([]byte(document))
		again, problemsAgain := decodeYAML([]byte(document))
		require.Equal(t, values, again)
		require.Equal(t, problems, problemsAgain)
		if len(problems) > 0 {
			require.Nil(t, values)
			return
		}
		helms, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err)
		var wrong faults
		require.Equal(t, decodeObject("helm", helms, &wrong), values)
		require.Empty(t, wrong)
	})
}
