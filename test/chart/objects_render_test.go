// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

func TestLint(t *testing.T) {
	t.Parallel()
	for _, values := range []string{"", everything} {
		stdout, stderr, err := helm(t, values, "lint", "--strict", chartDir(t), "--values", "-")
		require.NoError(t, err, stdout+stderr)
		assert.NotContains(t, stdout+stderr, "[WARNING]")
	}
}

func TestRenderIsDeterministic(t *testing.T) {
	t.Parallel()
	first := render(t, everything)
	for range 3 {
		assert.Equal(t, first, render(t, everything))
	}
}

// What selects the pods is fixed for the life of a release, and selects nothing but the gateway's pods.
func TestSelectors(t *testing.T) {
	t.Parallel()
	o := renderObjects(t, everything)
	want := map[string]string{"app.kubernetes.io/name": "gateway", "app.kubernetes.io/instance": "shop"}
	assert.Equal(t, want, o.Deployment.Spec.Selector.MatchLabels)
	assert.Equal(t, want, o.Service.Spec.Selector)
	assert.Equal(t, want, o.Disruption.Spec.Selector.MatchLabels)
	assert.Equal(t, want, o.NetworkPolicy.Spec.PodSelector.MatchLabels)
	assert.Equal(t, want, o.Deployment.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels)
	assert.Subset(t, o.Deployment.Spec.Template.Labels, want)
	assert.NotSubset(t, o.Test.Spec.Template.Labels, want)
}

func TestCommonLabelsAndAnnotationsAreOnEveryObject(t *testing.T) {
	t.Parallel()
	for _, doc := range strings.Split(render(t, everything), "\n---\n") {
		var object struct {
			Kind     string
			Metadata struct{ Labels, Annotations map[string]string }
			Spec     struct {
				Template *corev1.PodTemplateSpec
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(doc), &object))
		assert.Equal(t, "shop", object.Metadata.Labels["team"], object.Kind)
		assert.Equal(t, "shop@example.com", object.Metadata.Annotations["owner"], object.Kind)
		if pods := object.Spec.Template; pods != nil {
			assert.Equal(t, "shop", pods.Labels["team"], object.Kind)
			assert.Equal(t, "shop@example.com", pods.Annotations["owner"], object.Kind)
		}
	}
}

// Names that YAML would take for numbers, booleans or null are names all the same.
func TestNamesMayReadLikeSomethingElse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"123", "1e3", "no", "null"} {
		values := fmt.Sprintf(`
nameOverride: gw
fullnameOverride: "no"
listeners: [{name: "no", port: 8080, protocol: HTTP, routes: [{upstream: %[1]q}]}, {name: "null", port: 8081, protocol: HTTP}]
upstreams: [{name: %[1]q, hosts: ["a:80"]}]
networkPolicy: {enabled: true}
`, name)
		stdout, stderr, err := helm(t, values, "template", name, chartDir(t), "--namespace", name, "--values", "-")
		require.NoError(t, err, stderr)
		o := decode(t, stdout)
		want := map[string]string{"app.kubernetes.io/name": "gw", "app.kubernetes.io/instance": name}
		assert.Equal(t, want, o.Service.Spec.Selector)
		assert.Equal(t, want, o.Deployment.Spec.Selector.MatchLabels)
		assert.Equal(t, []string{name, name}, []string{o.Deployment.Namespace, o.Service.Namespace})
		assert.Equal(t, []string{"no", "no"}, []string{o.Deployment.Name, o.Service.Name})
		assert.Equal(t, intstr.FromString("no"), o.Service.Spec.Ports[0].TargetPort)
		assert.Equal(t, intstr.FromString("null"), o.Service.Spec.Ports[1].TargetPort)
		assert.Equal(t, "null", o.Deployment.Spec.Template.Spec.Containers[0].Ports[1].Name)
		assert.NoError(t, check(o.ConfigMap.Data["envoy.yaml"]))
	}
}

func TestServicePortsLeadToListeners(t *testing.T) {
	t.Parallel()
	o := renderObjects(t, everything)
	assert.Equal(t, []corev1.ServicePort{
		{Name: "http", Port: 80, TargetPort: intstr.FromString("http"), NodePort: 30080, AppProtocol: ptr.To("http"), Protocol: "TCP"},
		{Name: "https", Port: 443, TargetPort: intstr.FromString("https"), AppProtocol: ptr.To("https"), Protocol: "TCP"},
	}, o.Service.Spec.Ports)
	assert.Equal(t, []corev1.ContainerPort{
		{Name: "http", ContainerPort: 8080, Protocol: "TCP"},
		{Name: "https", ContainerPort: 8443, Protocol: "TCP"},
		{Name: "status", ContainerPort: 9902, Protocol: "TCP"},
	}, o.Deployment.Spec.Template.Spec.Containers[0].Ports)
}

func TestNetworkPolicyOpensListenersAndProbes(t *testing.T) {
	t.Parallel()
	assert.Nil(t, renderObjects(t, "").NetworkPolicy)
	ports := func(names ...string) string {
		var list []string
		for _, name := range names {
			list = append(list, "{port: "+name+", protocol: TCP}")
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	for values, want := range map[string]string{
		"networkPolicy: {enabled: true}": `
podSelector: {matchLabels: {app.kubernetes.io/name: gateway, app.kubernetes.io/instance: shop}}
policyTypes: [Ingress]
ingress: [{ports: ` + ports("http") + `}, {ports: ` + ports("status") + `}]`,
		"networkPolicy: {enabled: true, ingressFrom: [{ipBlock: {cidr: 10.0.0.0/8}}], egress: [{}]}": `
podSelector: {matchLabels: {app.kubernetes.io/name: gateway, app.kubernetes.io/instance: shop}}
policyTypes: [Ingress, Egress]
ingress:
  - ports: ` + ports("http") + `
    from:
      - ipBlock: {cidr: 10.0.0.0/8}
      - podSelector: {matchLabels: {app.kubernetes.io/name: gateway-test, app.kubernetes.io/instance: shop}}
  - ports: ` + ports("status") + `
egress: [{}]`,
	} {
		assert.YAMLEq(t, want, text(t, renderObjects(t, values).NetworkPolicy.Spec), values)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 63)
	for values, want := range map[string]string{
		"":                          "shop-gateway",
		"nameOverride: edge":        "shop-edge",
		"nameOverride: shop":        "shop",
		"fullnameOverride: entry":   "entry",
		"fullnameOverride: " + long: long,
	} {
		o := renderObjects(t, values)
		for _, got := range []string{o.Deployment.Name, o.Service.Name, o.ConfigMap.Name, o.ServiceAccount.Name,
			o.Deployment.Spec.Template.Spec.ServiceAccountName} {
			assert.Equal(t, want, got, values)
		}
		assert.LessOrEqual(t, len(o.Test.Name), 63, values)
	}
}

func TestServiceAccount(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"serviceAccount: {create: true, name: own}":    "own",
		"serviceAccount: {create: false, name: given}": "given",
		"serviceAccount: {create: false}":              "default",
	} {
		o := renderObjects(t, values)
		assert.Equal(t, want, o.Deployment.Spec.Template.Spec.ServiceAccountName, values)
		assert.Equal(t, strings.Contains(values, "create: true"), o.ServiceAccount != nil, values)
	}
}

func TestTestIsAJobThatFluxAndHelmRunOnDemand(t *testing.T) {
	t.Parallel()
	o := renderObjects(t, "")
	assert.Equal(t, "test", o.Test.Annotations["helm.sh/hook"])
	assert.Nil(t, renderObjects(t, "test: {enabled: false}").Test)
}
