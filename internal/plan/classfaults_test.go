// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASoundClassHasNoFaults(t *testing.T) {
	for name, overlay := range map[string]string{
		"the plain one":                  "{}",
		"a name at the limit":            "metadata: {name: " + strings.Repeat("a", 54) + "}",
		"a registry on a port":           "spec: {chart: {url: 'oci://127.0.0.1:5000/charts/gateway'}}",
		"a registry on localhost":        "spec: {chart: {url: 'oci://localhost/gateway'}}",
		"a host that is an IPv6 address": "spec: {chart: {url: 'oci://[::1]:5000/gateway'}}",
		"every mapping there is": `
spec:
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount, 'hpa\.min'], allowed: ["1", "3"]}
  - {field: exposure.hostnames, paths: ['hosts'], whenSet: {ingress: {enabled: true}}}
  - {field: metadata.name, paths: [fullnameOverride]}
  - {field: release.targetNamespace, paths: ['namespaces[0]', 'namespaces[1]']}
  imageMappings:
  - {name: gateway, paths: [{registry: image.registry, repository: image.repository, tag: image.tag, digest: image.digest}]}
  - {name: router, paths: [{repository: router.repository}, {tag: router.tag}]}
`,
		"patches under a ServiceAccount":         "spec: {release: {serviceAccountName: flux}, policy: {allowPatches: true}}",
		"Retry with what acts":                   "spec: {remediation: {strategy: Retry, backoff: {initial: 2m}}}",
		"a single revision kept, with Retry":     "spec: {release: {maxHistory: 1}, remediation: {strategy: Retry}}",
		"a single revision kept, with Uninstall": "spec: {release: {maxHistory: 1}, remediation: {strategy: Uninstall}}",
		"all namespaces":                         "spec: {policy: {allowedTargetNamespaces: ['*', edge]}}",
	} {
		t.Run(name, func(t *testing.T) {
			class := aClass(t, overlay)
			require.Nil(t, ClassFaults(&class))
		})
	}
}

func TestWhatIsWrongWithAClass(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		class string
		want  []string
	}{
		"a name that leaves no room for the source's hash": {
			"metadata: {name: " + strings.Repeat("a", 55) + "}",
			[]string{"InvalidSpec metadata.name: 55 characters are too many: at most 54, since sources are named <class>-<8 hex digits>"},
		},
		"an address that is not OCI's": {
			"spec: {chart: {url: 'https://charts.example.com'}}",
			[]string{`InvalidSpec spec.chart.url: "https://charts.example.com" does not begin with oci://; write oci://host/path/chart, since charts are taken of OCI registries alone`},
		},
		"no address": {
			"spec: {chart: {url: ''}}",
			[]string{`InvalidSpec spec.chart.url: is missing; write oci://host/path/chart`},
		},
		"an address with a tag": {
			"spec: {chart: {url: 'oci://registry.example.com/charts/gateway:1.2.0'}}",
			[]string{`InvalidSpec spec.chart.url: "oci://registry.example.com/charts/gateway:1.2.0" has a tag or digest; set it in spec.chart.ref`},
		},
		"an address with a digest": {
			"spec: {chart: {url: 'oci://registry.example.com/charts/gateway@" + digest + "'}}",
			[]string{`InvalidSpec spec.chart.url: "oci://registry.example.com/charts/gateway@` + digest + `" has a tag or digest; set it in spec.chart.ref`},
		},
		"an address in uppercase": {
			"spec: {chart: {url: 'oci://registry.example.com/Charts/gateway'}}",
			[]string{`InvalidSpec spec.chart.url: "oci://registry.example.com/Charts/gateway" is not a chart's address; write oci://host/path/chart in lowercase, without a tag`},
		},
		"an address with a port that no host has": {
			"spec: {chart: {url: 'oci://registry.example.com:99999/charts/gateway'}}",
			[]string{`InvalidSpec spec.chart.url: "oci://registry.example.com:99999/charts/gateway" is not a chart's address: its port 99999 is not within 1 to 65535`},
		},
		"an address without a registry": {
			"spec: {chart: {url: 'oci://charts/gateway'}}",
			[]string{`InvalidSpec spec.chart.url: "oci://charts/gateway" names no registry: its host must have a dot or a port, or be localhost, or else Flux asks Docker Hub`},
		},
		"a host alone": {
			"spec: {chart: {url: 'oci://registry.example.com'}}",
			[]string{`InvalidSpec spec.chart.url: "oci://registry.example.com" has no path; write oci://host/path/chart`},
		},
		"no version": {
			"spec: {chart: {ref: {tag: ''}}}",
			[]string{"InvalidSpec spec.chart.ref: no version is set; set exactly one of tag, semver and digest"},
		},
		"two versions": {
			"spec: {chart: {ref: {digest: '" + digest + "'}}}",
			[]string{"InvalidSpec spec.chart.ref: tag and digest are both set; set exactly one of tag, semver and digest"},
		},
		"three versions": {
			"spec: {chart: {ref: {semver: 1.x, digest: '" + digest + "'}}}",
			[]string{"InvalidSpec spec.chart.ref: tag, semver and digest are all set; set exactly one of them"},
		},
		"a filter without a range": {
			"spec: {chart: {ref: {semverFilter: '^1'}}}",
			[]string{"InvalidSpec spec.chart.ref.semverFilter: goes with semver alone; remove it"},
		},
		"a filter that is no regular expression, and a range that is none": {
			"spec: {chart: {ref: {tag: '', semver: '>>1', semverFilter: '('}}}",
			[]string{
				`InvalidSpec spec.chart.ref.semver: ">>1" is not a semver range, such as ">=1.2.0 <2.0.0"`,
				"InvalidSpec spec.chart.ref.semverFilter: \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`",
			},
		},
		"durations that are none": {
			"spec: {chart: {interval: 0s, timeout: -1s}, release: {interval: 0.5ms, timeout: 0s}}",
			[]string{
				"InvalidSpec spec.chart.interval: 0s is not greater than 0",
				"InvalidSpec spec.chart.timeout: -1s is not greater than 0",
				"InvalidSpec spec.release.interval: 500µs is less than a millisecond",
				"InvalidSpec spec.release.timeout: 0s is not greater than 0",
			},
		},
		"a pull of an hour": {
			"spec: {chart: {timeout: 60m}}",
			[]string{"InvalidSpec spec.chart.timeout: 1h0m0s is an hour or more, which OCIRepository does not take"},
		},
		"words that Flux does not know": {
			"spec: {chart: {provider: oracle, verify: {provider: gpg}}, release: {crds: Replace, driftDetection: {mode: on}}}",
			[]string{
				`InvalidSpec spec.chart.provider: "oracle" is not one of "generic", "aws", "azure", "gcp"`,
				`InvalidSpec spec.chart.verify.provider: "gpg" is not one of "cosign", "notation"`,
				`InvalidSpec spec.release.crds: "Replace" is not one of "Skip", "Create", "CreateReplace"`,
				`InvalidSpec spec.release.driftDetection.mode: "true" is not one of "enabled", "warn", "disabled"`,
			},
		},
		"values that are no map": {
			"spec: {values: [1], valueMappings: [{field: storage.type, paths: [a], whenSet: yes}]}",
			[]string{
				"InvalidSpec spec.values: a list is not a map, and values are one",
				"InvalidSpec spec.valueMappings[0].whenSet: a boolean is not a map, and values are one",
			},
		},
		"a field that does not exist": {
			"spec: {valueMappings: [{field: networking, paths: [a]}]}",
			[]string{`InvalidSpec spec.valueMappings[0].field: "networking" is no field that can be mapped; these can: infrastructure.replicas, ` +
				"infrastructure.resources, infrastructure.nodeSelector, infrastructure.tolerations, infrastructure.affinity, infrastructure.labels, " +
				"infrastructure.annotations, controlPlane.host, controlPlane.tokenSecretRef.name, controlPlane.tokenSecretRef.key, controlPlane.tls.enabled, " +
				"controlPlane.tls.certSecretRef.name, controlPlane.tls.certSecretRef.key, storage.type, storage.sqlitePath, storage.connectionSecretRef.name, " +
				"storage.connectionSecretRef.key, exposure.hostnames, exposure.serviceType, exposure.tlsSecretRef.name, exposure.parentRef.name, " +
				"exposure.parentRef.namespace, exposure.parentRef.sectionName, trustedCARef.name, trustedCARef.key, metadata.name, metadata.namespace, " +
				"release.name, release.targetNamespace"},
		},
		"a field misspelt": {
			"spec: {valueMappings: [{field: infrastructure.replica, paths: [a]}, {field: replicas, paths: [c]}, {field: storage.SQLitepath, paths: [b]}]}",
			[]string{
				`InvalidSpec spec.valueMappings[0].field: "infrastructure.replica" is no field that can be mapped; did you mean infrastructure.replicas?`,
				`InvalidSpec spec.valueMappings[1].field: "replicas" is no field that can be mapped; did you mean infrastructure.replicas?`,
				`InvalidSpec spec.valueMappings[2].field: "storage.SQLitepath" is no field that can be mapped; did you mean storage.sqlitePath?`,
			},
		},
		"a field that its section does not have": {
			"spec: {valueMappings: [{field: storage.volumeSize, paths: [a]}]}",
			[]string{`InvalidSpec spec.valueMappings[0].field: "storage.volumeSize" is no field that can be mapped; of storage these can: ` +
				"storage.type, storage.sqlitePath, storage.connectionSecretRef.name, storage.connectionSecretRef.key"},
		},
		"a field with spec.": {
			"spec: {valueMappings: [{field: spec.storage.type, paths: [a]}]}",
			[]string{`InvalidSpec spec.valueMappings[0].field: "spec.storage.type" begins with spec.; write storage.type`},
		},
		"a whole reference": {
			"spec: {valueMappings: [{field: controlPlane.tokenSecretRef, paths: [a]}]}",
			[]string{`InvalidSpec spec.valueMappings[0].field: "controlPlane.tokenSecretRef" is not one value; map its leaves: controlPlane.tokenSecretRef.name, controlPlane.tokenSecretRef.key`},
		},
		"a part of a leaf": {
			"spec: {valueMappings: [{field: infrastructure.resources.limits, paths: [a]}]}",
			[]string{`InvalidSpec spec.valueMappings[0].field: "infrastructure.resources.limits" lies within infrastructure.resources, which is mapped as a whole`},
		},
		"an image": {
			"spec: {valueMappings: [{field: infrastructure.images.gateway, paths: [a]}, {field: infrastructure.images, paths: [b]}]}",
			[]string{
				"InvalidSpec spec.valueMappings[0].field: images are mapped by spec.imageMappings",
				"InvalidSpec spec.valueMappings[1].field: images are mapped by spec.imageMappings",
			},
		},
		"a field mapped twice": {
			"spec: {valueMappings: [{field: storage.type, paths: [a]}, {field: storage.type, paths: [b]}]}",
			[]string{"InvalidSpec spec.valueMappings[1].field: storage.type is mapped already by spec.valueMappings[0].field; list all paths in one mapping"},
		},
		"allowed values of a map": {
			"spec: {valueMappings: [{field: infrastructure.labels, paths: [a], allowed: [x]}]}",
			[]string{"InvalidSpec spec.valueMappings[0].allowed: goes with a single value, and infrastructure.labels is a list or a map"},
		},
		"mappings that lead nowhere": {
			"spec: {valueMappings: [{field: storage.type, paths: []}], imageMappings: [{name: '', paths: []}, {name: a, paths: [{}, {tag: ''}]}]}",
			[]string{
				"InvalidSpec spec.valueMappings[0].paths: is empty; name at least one path of the chart's values",
				"InvalidSpec spec.imageMappings[0].name: is empty; name the image as gateways do in infrastructure.images",
				"InvalidSpec spec.imageMappings[0].paths: is empty; name at least one path of the chart's values",
				"InvalidSpec spec.imageMappings[1].paths[0]: has no path; set at least one of registry, repository, tag and digest",
				"InvalidSpec spec.imageMappings[1].paths[1]: has no path; set at least one of registry, repository, tag and digest",
			},
		},
		"an image mapped twice": {
			"spec: {imageMappings: [{name: a, paths: [{tag: a}]}, {name: a, paths: [{tag: b}]}]}",
			[]string{"InvalidSpec spec.imageMappings[1].name: a is mapped already by spec.imageMappings[0].name; list all paths in one mapping"},
		},
		"a registry without its repository": {
			"spec: {imageMappings: [{name: a, paths: [{registry: global.registry}, {repository: image.repository}]}]}",
			[]string{"InvalidSpec spec.imageMappings[0].paths[0].registry: has no repository path beside it; name both in one element of paths"},
		},
		"paths that are none": {
			"spec: {valueMappings: [{field: storage.type, paths: ['a..b']}], imageMappings: [{name: a, paths: [{tag: 'a[x]'}]}]}",
			[]string{
				`InvalidSpec spec.valueMappings[0].paths[0]: "a..b" is not a path: it has an empty key; keys are joined by single dots, and a path begins with a key`,
				`InvalidSpec spec.imageMappings[0].paths[0].tag: "a[x]" is not a path: [x] is not the index of an element: write a number from 0 to 255`,
			},
		},
		"paths that meet": {
			`
spec:
  valueMappings:
  - {field: storage.type, paths: [a.b, a.b, 'hosts[0].name']}
  - {field: metadata.name, paths: [a, a.b.c, hosts.name, 'a[0]']}
  imageMappings:
  - {name: gateway, paths: [{repository: 'hosts', tag: 'hosts[1]', digest: 'hosts[0].name'}]}
`,
			[]string{
				"InvalidSpec spec.valueMappings[0].paths[1]: a.b is set by spec.valueMappings[0].paths[0] too",
				"InvalidSpec spec.valueMappings[1].paths[0]: a contains a.b, which spec.valueMappings[0].paths[0] sets",
				"InvalidSpec spec.valueMappings[1].paths[1]: a.b.c lies within a.b, which spec.valueMappings[0].paths[0] sets",
				"InvalidSpec spec.valueMappings[1].paths[2]: hosts.name takes hosts for a map, and spec.valueMappings[0].paths[2] sets hosts[0].name",
				"InvalidSpec spec.valueMappings[1].paths[3]: a[0] takes a for a list, and spec.valueMappings[0].paths[0] sets a.b",
				"InvalidSpec spec.imageMappings[0].paths[0].repository: hosts contains hosts[0].name, which spec.valueMappings[0].paths[2] sets",
				"InvalidSpec spec.imageMappings[0].paths[0].digest: hosts[0].name is set by spec.valueMappings[0].paths[2] too",
			},
		},
		"drift that is not to be looked at, named in another notation": {
			"spec: {release: {driftDetection: {ignore: [{paths: [spec.replicas, /a~2]}, {paths: []}]}}}",
			[]string{
				`InvalidSpec spec.release.driftDetection.ignore[0].paths[0]: "spec.replicas" is not a JSON pointer, such as /spec/replicas: it begins with /, and a ~ or / inside a key is written ~0 or ~1`,
				`InvalidSpec spec.release.driftDetection.ignore[0].paths[1]: "/a~2" is not a JSON pointer, such as /spec/replicas: it begins with /, and a ~ or / inside a key is written ~0 or ~1`,
				"InvalidSpec spec.release.driftDetection.ignore[1].paths: is empty; list JSON pointers, such as /spec/replicas",
			},
		},
		"a history that cannot be rolled back": {
			"spec: {release: {maxHistory: 1}}",
			[]string{"InvalidSpec spec.release.maxHistory: 1 leaves Helm no revision to roll back to; with remediation.strategy Rollback keep at least 2, or 0 for all"},
		},
		"numbers that count nothing": {
			"spec: {release: {maxHistory: -1}, remediation: {retries: 101}}",
			[]string{
				"InvalidSpec spec.release.maxHistory: -1 is less than 0; 0 keeps all revisions",
				"InvalidSpec spec.remediation.retries: 101 is not within 0 to 100",
			},
		},
		"Retry with what does not act": {
			"spec: {remediation: {strategy: Retry, retries: 0, failureThreshold: 1, backoff: {initial: 1m, max: 1m, afterThreshold: 1m}}}",
			[]string{
				"InvalidSpec spec.remediation.retries: does not act with strategy Retry, where only backoff.initial and failureThreshold do; remove it",
				"InvalidSpec spec.remediation.backoff.max: does not act with strategy Retry, where only backoff.initial and failureThreshold do; remove it",
				"InvalidSpec spec.remediation.backoff.afterThreshold: does not act with strategy Retry, where only backoff.initial and failureThreshold do; remove it",
			},
		},
		"a verification by a Secret without a name": {
			"spec: {chart: {verify: {provider: cosign, secretRef: {name: ''}}}}",
			[]string{"InvalidSpec spec.chart.verify.secretRef.name: is empty; name the Secret with the keys, or remove secretRef to verify without keys"},
		},
		"a first wait that is longer than the longest": {
			"spec: {remediation: {backoff: {initial: 30m}}}",
			[]string{"InvalidSpec spec.remediation.backoff.initial: 30m0s is more than backoff.max, 15m0s; set max to no less"},
		},
		"patches without a ServiceAccount to bound them": {
			"spec: {policy: {allowPatches: true}}",
			[]string{
				"InvalidSpec spec.policy.allowPatches: needs spec.release.serviceAccountName, since a patch can make any object",
			},
		},
		"patches with a ServiceAccount of the gateway's choice": {
			"spec: {release: {serviceAccountName: flux}, policy: {allowPatches: true, allowServiceAccountOverride: true}}",
			[]string{
				"InvalidSpec spec.policy.allowPatches: does not go with allowServiceAccountOverride, since a patch can make any object",
			},
		},
		"references that name nothing": {
			"spec: {chart: {secretRef: {name: ''}, certSecretRef: {name: ''}, proxySecretRef: {name: ''}}}",
			[]string{
				"InvalidSpec spec.chart.secretRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.chart.certSecretRef.name: is empty; name the object, or remove the whole reference",
				"InvalidSpec spec.chart.proxySecretRef.name: is empty; name the object, or remove the whole reference",
			},
		},
		"verification that would not act": {
			"spec: {chart: {verify: {provider: notation, matchOIDCIdentity: [{issuer: '(', subject: a}]}}}",
			[]string{
				"InvalidSpec spec.chart.verify.secretRef: is missing; notation needs the Secret with the trust policy and the certificates",
				"InvalidSpec spec.chart.verify.matchOIDCIdentity: acts only with cosign without keys; remove it, or remove secretRef",
				`InvalidSpec spec.chart.verify.matchOIDCIdentity[0].issuer: "(" is not a regular expression: error parsing regexp: missing closing ): ` + "`(`",
			},
		},
		"drift rules for what nothing can be": {
			"spec: {release: {driftDetection: {ignore: [{paths: [/a], target: {kind: '(', labelSelector: a in b}}]}}}",
			[]string{
				"InvalidSpec spec.release.driftDetection.ignore[0].target.kind: is not a regular expression: error parsing regexp: missing closing ): `^(?:()$`",
				"InvalidSpec spec.release.driftDetection.ignore[0].target.labelSelector: is not a selector, such as app=web,tier!=back: unable to parse requirement: found 'b' expected: '('",
			},
		},
		"a pattern of namespaces": {
			"spec: {policy: {allowedTargetNamespaces: ['team-*']}}",
			[]string{`InvalidSpec spec.policy.allowedTargetNamespaces[0]: "team-*" is neither a namespace's name nor "*", which stands for all`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			class := aClass(t, c.class)
			for i := range c.want {
				reason, rest, _ := strings.Cut(c.want[i], " ")
				c.want[i] = reason + " APIGatewayClass/" + class.Name + " " + rest
			}
			require.Equal(t, c.want, inWords(ClassFaults(&class)))
		})
	}
}

func TestIntegersOfAClassThatTheAPIServerWouldRoundAreRefused(t *testing.T) {
	class := aClass(t, "spec: {values: {}, valueMappings: [{field: storage.type, paths: [a], whenSet: {}}]}")
	class.Spec.Values.Raw = []byte(`{"a":{"b.c":[1,9223372036854775808]},"ok":[9223372036854775807,-9223372036854775808,"9223372036854775808"]}`)
	class.Spec.ValueMappings[0].WhenSet.Raw = []byte(`{"n":1e30}`)
	require.Equal(t, []string{
		`InvalidSpec APIGatewayClass/wso2 spec.values.a.b\.c[1]: the API server would round this integer, which does not fit 64 bits; put it in quotes`,
		"InvalidSpec APIGatewayClass/wso2 spec.valueMappings[0].whenSet.n: the API server would round this integer, which does not fit 64 bits; put it in quotes",
	}, inWords(ClassFaults(&class)))
}
