// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// byHand is what people wrote before they had Sluice.
const byHand = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: by-hand, namespace: $TEAM}
spec:
  url: $CHART
  insecure: true
  interval: 10m
  ref: {tag: 1.0.0}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: $TEAM, annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}
spec:
  chartRef: {kind: OCIRepository, name: by-hand}
  interval: 10m
  values: {replicas: 2}
`

func TestARunningHelmReleaseIsAdoptedWithItsPods(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "adopted")
	m.commit("Add what people wrote by hand", files{"flux.yaml": byHand})
	before := m.releases.await(t, release, "web", "ready", helmReady).object
	pods := m.pods("web")
	equal(m, "number of pods", len(pods), 2)

	adopting := strings.Replace(gateway("web", "infrastructure: {replicas: 2}"), "namespace: $TEAM}",
		`namespace: $TEAM, annotations: {gateway.sluice.dev/adopt: "true"}}`, 1)
	m.commit("Put a gateway in its place", files{"flux.yaml": removed, "class.yaml": webClass("policy: {allowAdoption: true}"), "web.yaml": adopting})
	m.gateways.await(t, release, "web", "ready", isReady(1)) // the same chart with the same values is no upgrade
	after := m.releases.latest()["web"]
	equal(m, "UID of the HelmRelease", after.UID, before.UID)
	equal(m, "owner", metav1.GetControllerOf(after).Kind, v1alpha1.APIGatewayKind)
	equal(m, "chart", after.Spec.ChartRef.Name[:len("adopted-")], "adopted-")
	equal(m, "pods", m.pods("web"), pods)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})

	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.awaitGone(t, soon, "web")
	m.leftOnly("web")
}
