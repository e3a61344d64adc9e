// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"strings"
)

// Manifests hold $TEAM for the team's name and $CHART for the URL of testdata/chart.

// webClass is the team's class: testdata/chart at 1.0.0. More lines are added to its spec.
func webClass(more ...string) string {
	return `apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: $TEAM}
spec:
  chart: {url: $CHART, insecure: true, ref: {tag: 1.0.0}}
  valueMappings:
  - {field: infrastructure.replicas, paths: [replicas]}
  - {field: infrastructure.labels, paths: [podLabels]}
  - {field: infrastructure.annotations, paths: [podAnnotations]}
  - {field: infrastructure.resources, paths: [resources]}
  - {field: infrastructure.nodeSelector, paths: [nodeSelector]}
  - {field: infrastructure.tolerations, paths: [tolerations]}
  - {field: infrastructure.affinity, paths: [affinity]}
  - {field: storage.type, paths: [tier], allowed: [front, back]}
  imageMappings:
  - {name: web, paths: [{repository: image.repository, tag: image.tag}]}
` + indented(more)
}

// gateway of the team's class. Lines are added to its spec.
func gateway(name string, lines ...string) string {
	return gatewayOf("$TEAM", name, lines...)
}

// gatewayOf another class, or with "" of none.
func gatewayOf(class, name string, lines ...string) string {
	if class != "" {
		lines = append([]string{"className: " + class}, lines...)
	}
	return fmt.Sprintf(`apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata: {name: %s, namespace: $TEAM}
spec:
`, name) + indented(lines)
}

// brokenImage never gets ready, and the release that carries it fails after a short while. helm-controller looks at what it
// waits for every 5 s, so that within a shorter timeout nothing succeeds either, rollbacks included.
const (
	brokenImage  = "infrastructure: {images: {web: registry.example.com/web:broken}}"
	shortTimeout = "release: {timeout: 12s}"
)

func indented(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString("  " + line + "\n")
	}
	return text.String()
}

func configMap(name string, data ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: $TEAM}\ndata:\n", name) + indented(data)
}
