// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "testing"

// BenchmarkMake plans a gateway of a class with a usual number of mappings. A reconcile makes one plan.
func BenchmarkMake(b *testing.B) {
	in := input(b, `
spec:
  values: {deployment: {replicaCount: 1, strategy: {type: Recreate}}, image: {tag: "1"}, a: {b: {c: {d: [1, 2, 3]}}}}
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount]}
  - {field: infrastructure.resources, paths: [deployment.resources]}
  - {field: infrastructure.nodeSelector, paths: [controller.nodeSelector, runtime.nodeSelector]}
  - {field: controlPlane.host, paths: [controlPlane.host]}
  - {field: controlPlane.tokenSecretRef.name, paths: [controlPlane.token.secretName]}
  - {field: storage.type, paths: [storage.type], allowed: [sqlite, postgres]}
  - {field: exposure.tlsSecretRef.name, paths: [tls.secret.name], whenSet: {tls: {enabled: true}}}
  imageMappings:
  - {name: gateway, paths: [{repository: image.repository, tag: image.tag, digest: image.digest}]}
`, `
spec:
  infrastructure: {replicas: 3, nodeSelector: {a: b}, images: {gateway: registry.example.com/gw:1}}
  controlPlane: {host: cp.example.com, tokenSecretRef: {name: token}}
  storage: {type: postgres}
  exposure: {tlsSecretRef: {name: tls}}
  configRef: {name: orders-values}
  values: {logging: {level: debug}, a: {b: {e: 1}}}
`)
	in.Config = aConfig("metrics: {enabled: yes}\nextra: [1, 2, 3]\n")
	for b.Loop() {
		if _, err := Make(in); err != nil {
			b.Fatal(err)
		}
	}
}
