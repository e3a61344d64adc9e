// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

// mappableExamples set each field that a class can map.
var mappableExamples = map[string]string{
	"infrastructure.replicas":             "spec: {infrastructure: {replicas: 2}}",
	"infrastructure.resources":            "spec: {infrastructure: {resources: {limits: {cpu: 1}}}}",
	"infrastructure.nodeSelector":         "spec: {infrastructure: {nodeSelector: {a: b}}}",
	"infrastructure.tolerations":          "spec: {infrastructure: {tolerations: [{key: a}]}}",
	"infrastructure.affinity":             "spec: {infrastructure: {affinity: {nodeAffinity: {}}}}",
	"infrastructure.labels":               "spec: {infrastructure: {labels: {a: b}}}",
	"infrastructure.annotations":          "spec: {infrastructure: {annotations: {a: b}}}",
	"controlPlane.host":                   "spec: {controlPlane: {host: a}}",
	"controlPlane.tokenSecretRef.name":    "spec: {controlPlane: {tokenSecretRef: {name: a}}}",
	"controlPlane.tokenSecretRef.key":     "spec: {controlPlane: {tokenSecretRef: {name: a, key: b}}}",
	"controlPlane.tls.enabled":            "spec: {controlPlane: {tls: {enabled: false}}}",
	"controlPlane.tls.certSecretRef.name": "spec: {controlPlane: {tls: {certSecretRef: {name: a}}}}",
	"controlPlane.tls.certSecretRef.key":  "spec: {controlPlane: {tls: {certSecretRef: {name: a, key: b}}}}",
	"storage.type":                        "spec: {storage: {type: a}}",
	"storage.sqlitePath":                  "spec: {storage: {sqlitePath: /a}}",
	"storage.connectionSecretRef.name":    "spec: {storage: {connectionSecretRef: {name: a}}}",
	"storage.connectionSecretRef.key":     "spec: {storage: {connectionSecretRef: {name: a, key: b}}}",
	"exposure.hostnames":                  "spec: {exposure: {hostnames: [a, b]}}",
	"exposure.serviceType":                "spec: {exposure: {serviceType: ClusterIP}}",
	"exposure.tlsSecretRef.name":          "spec: {exposure: {tlsSecretRef: {name: a}}}",
	"exposure.parentRef.name":             "spec: {exposure: {parentRef: {name: a}}}",
	"exposure.parentRef.namespace":        "spec: {exposure: {parentRef: {name: a, namespace: b}}}",
	"exposure.parentRef.sectionName":      "spec: {exposure: {parentRef: {name: a, sectionName: b}}}",
	"trustedCARef.name":                   "spec: {trustedCARef: {name: a}}",
	"trustedCARef.key":                    "spec: {trustedCARef: {name: a, key: b}}",
	"metadata.name":                       "spec: {}",
	"metadata.namespace":                  "spec: {}",
	"release.name":                        "spec: {release: {name: a}}",
	"release.targetNamespace":             "spec: {release: {targetNamespace: a}}",
}
