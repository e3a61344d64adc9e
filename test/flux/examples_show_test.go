// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podsOf a release of charts/gateway.
func podsOf(release string) client.MatchingLabels {
	return client.MatchingLabels{"app.kubernetes.io/instance": release}
}

func runsTheImage(m *team) {
	equal(m, "className", m.gateways.latest()["web"].Status.ClassName, "sluice")
	const image = "docker.io/envoyproxy/envoy:v1.39.6"
	equal(m, "images", m.images(podsOf("web")), []string{image, image})
}

func sharesOneSource(m *team) {
	list := &sourcev1.OCIRepositoryList{}
	if err := api.List(m.Context(), list, client.MatchingLabels{"gateway.sluice.dev/class": "shared"}); err != nil {
		m.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Namespace != "platform-charts" {
		m.Fatalf("sources: %s", show(list.Items))
	}
	for _, namespace := range []string{"orders", "billing"} {
		hr := &helmv2.HelmRelease{}
		if err := api.Get(m.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, hr); err != nil {
			m.Fatal(err)
		}
		equal(m, "source of "+namespace, *hr.Spec.ChartRef, helmv2.CrossNamespaceSourceReference{
			Kind: "OCIRepository", Name: list.Items[0].Name, Namespace: "platform-charts"})
	}
}

func storesInPostgres(m *team) {
	var storage map[string]any
	if err := json.Unmarshal([]byte(m.configs.latest()["portal-config"].Data["storage"]), &storage); err != nil {
		m.Fatal(err)
	}
	equal(m, "storage", storage, map[string]any{
		"type":   "postgres",
		"sqlite": map[string]any{"path": "./data/gateway.db"},
		"postgres": map[string]any{
			"host": "portal-db.portal.svc", "port": 5432.0, "database": "gateway", "user": "gateway", "sslmode": "verify-full",
		},
	})
	controller := get(m, "portal-controller", &appsv1.Deployment{}).Spec
	equal(m, "password", controller.Template.Spec.Containers[0].Env[0].ValueFrom.SecretKeyRef, &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "portal-db"}, Key: "password"})
	equal(m, "strategy", controller.Strategy, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})
	equal(m, "replicas", *get(m, "portal-runtime", &appsv1.Deployment{}).Spec.Replicas, 2)
}

func runsTheCatalogueGateway(m *team) {
	runtime, controller := get(m, "storefront-runtime", &appsv1.Deployment{}), get(m, "storefront-controller", &appsv1.Deployment{})
	equal(m, "strategy", controller.Spec.Strategy, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})
	edge := []corev1.Toleration{{Key: "edge", Operator: corev1.TolerationOpExists}}
	equal(m, "tolerations", controller.Spec.Template.Spec.Tolerations, edge)
	equal(m, "tolerations", runtime.Spec.Template.Spec.Tolerations, edge)
	equal(m, "image", runtime.Spec.Template.Spec.Containers[0].Image, "ghcr.io/wso2/api-platform/gateway-runtime:1.2.0")
	config := m.configs.latest()["storefront-config"].Data
	equal(m, "control plane", config["controlPlane"], `{"host":"control-plane.storefront.svc","port":8443,"token":{"key":"token","secretName":""}}`)
	equal(m, "TLS without cert-manager", config["tls"], "false")
	equal(m, "Service", get(m, "storefront-runtime", &corev1.Service{}).Spec.Type, corev1.ServiceTypeClusterIP)
}

func runsWithAllThatIsBesideIt(m *team) {
	gateway := get(m, "openshell", &appsv1.Deployment{}).Spec.Template.Spec
	equal(m, "image", gateway.Containers[0].Image, "ghcr.io/nvidia/openshell/gateway:0.0.101")
	equal(m, "database", gateway.Containers[0].Env[0].ValueFrom.SecretKeyRef, &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "openshell-db"}, Key: "uri"})
	equal(m, "trusted CA", gateway.Volumes[0].ConfigMap.Name, "trusted-ca")
	equal(m, "key of the trusted CA", gateway.Volumes[0].ConfigMap.Items, []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}})
	equal(m, "user", *gateway.SecurityContext.FSGroup, 1000)
	binding := get(m, "openshell-sandbox-privileged-scc", &rbacv1.RoleBinding{})
	sandbox := get(m, binding.Subjects[0].Name, &corev1.ServiceAccount{})
	equal(m, "whose ServiceAccount is bound", sandbox.Labels["app.kubernetes.io/managed-by"], "Helm")
	var server map[string]any
	if err := json.Unmarshal([]byte(m.configs.latest()["openshell-config"].Data["server"]), &server); err != nil {
		m.Fatal(err)
	}
	equal(m, "sandboxes' namespace", server["sandboxNamespace"], "agents")
	equal(m, "OIDC", server["oidc"].(map[string]any)["issuer"], "https://login.example.com/realms/agents")
}

func patchesAndLeavesReplicasAlone(m *team) {
	one, close := "1", "PreferClose"
	dns := get(m, "web-gateway", &appsv1.Deployment{}).Spec.Template.Spec.DNSConfig
	equal(m, "dnsConfig", dns, &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: &one}}})
	equal(m, "trafficDistribution", get(m, "web-gateway", &corev1.Service{}).Spec.TrafficDistribution, &close)

	// The autoscaler has no metrics here, and so keeps to its minimum, which is above the chart's number.
	m.deployments.await(m.T, release, "web-gateway", "scaled by its autoscaler", func(d *appsv1.Deployment) error {
		if *d.Spec.Replicas != 3 {
			return fmt.Errorf("%s", describe(d))
		}
		return nil
	})
	service := get(m, "web-gateway", &corev1.Service{})
	byHand := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"trafficDistribution":null}}`))
	if err := api.Patch(m.Context(), service, byHand); err != nil {
		m.Fatal(err)
	}
	m.flux("reconcile", "helmrelease", "web")
	m.eventually(release, "what was changed by hand", func(context.Context) error {
		if now := get(m, "web-gateway", &corev1.Service{}).Spec.TrafficDistribution; now == nil || *now != close {
			return fmt.Errorf("trafficDistribution is %s", show(now))
		}
		return nil
	})
	equal(m, "replicas", *get(m, "web-gateway", &appsv1.Deployment{}).Spec.Replicas, 3)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})
}

func waitsForTheOther(m *team) {
	internal := m.releases.await(m.T, soon, "internal", "ready", helmReady)
	first := m.deployments.all("public-gateway")[0]
	if version(m.T, first.object) < version(m.T, internal.object) {
		m.Errorf("installed before the other gateway was Ready: %s, %s", describe(first.object), describe(internal.object))
	}
	equal(m, "dependsOn", m.releases.latest()["public"].Spec.DependsOn, []helmv2.DependencyReference{{Name: "internal"}})
}

func outlivesItsGateway(m *team) {
	pods := m.readyPods(podsOf("web"))
	equal(m, "number of pods", len(pods), 2)
	kustomization := readExample(m.T, "orphan")["kustomization.yaml"]
	m.commit("Remove the gateway", files{
		"gateway.yaml":       removed,
		"kustomization.yaml": strings.Replace(kustomization, "  - gateway.yaml\n", "", 1),
	})
	m.gateways.awaitGone(m.T, soon, "web")
	if err := api.Get(m.Context(), client.ObjectKey{Namespace: m.name, Name: "web"}, &helmv2.HelmRelease{}); !apierrors.IsNotFound(err) {
		m.Errorf("the HelmRelease: %v", err)
	}
	equal(m, "pods", m.readyPods(podsOf("web")), pods)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})
}
