// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// tenant is somebody who may write APIGateways and ConfigMaps in one namespace, and nothing else.
type tenant struct {
	*team
	api client.Client
}

const tenantRights = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: tenant, namespace: $TEAM}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: $TEAM}
rules:
- {apiGroups: [gateway.sluice.dev], resources: [apigateways], verbs: ["*"]}
- {apiGroups: [""], resources: [configmaps], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: $TEAM}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: ServiceAccount, name: tenant}]
`

func newTenant(t *testing.T, name string) *tenant {
	t.Helper()
	m := newTeam(t, name)
	m.create(tenantRights)
	kubeconfig, err := local.KubeconfigFor(t.Context(), name, "tenant")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	own, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what tenants make is in no git repository
		if err := api.DeleteAllOf(context.Background(), &v1alpha1.APIGateway{}, client.InNamespace(name)); err != nil {
			t.Error(err)
		}
	})
	return &tenant{team: m, api: own}
}

// tries makes an object as the tenant.
func (n *tenant) tries(manifest string, into client.Object) error {
	if err := yaml.UnmarshalStrict([]byte(n.expand(manifest)), into); err != nil {
		return err
	}
	return n.api.Create(n.Context(), into)
}

// escalation turns the chart's ConfigMap into a ClusterRoleBinding.
const escalation = `patches:
  - target: {kind: ConfigMap}
    patch: |
      - {op: replace, path: /apiVersion, value: rbac.authorization.k8s.io/v1}
      - {op: replace, path: /kind, value: ClusterRoleBinding}
      - {op: remove, path: /data}
      - {op: add, path: /roleRef, value: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}
      - {op: add, path: /subjects, value: [{kind: ServiceAccount, name: tenant, namespace: $TEAM}]}`

func TestATenantDoesNotGetOutOfItsNamespace(t *testing.T) {
	t.Parallel()
	victim := newTeam(t, "victim")
	victim.create("apiVersion: v1\nkind: Secret\nmetadata: {name: secret, namespace: $TEAM}\nstringData: {values.yaml: 'message: stolen'}\n")
	victim.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web")})
	victim.gateways.await(t, release, "web", "ready", isReady(1))

	n := newTenant(t, "tenant")
	n.create(webClass())
	n.create("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: theirs, namespace: $TEAM}\n" +
		"spec: {suspend: true, interval: 1h, chartRef: {kind: OCIRepository, name: theirs}}\n")
	attempts := map[string]struct{ lines, reason, message string }{
		"patch": {escalation, v1alpha1.ReasonNotAllowed,
			"spec.patches: class tenant does not let gateways patch the chart (policy.allowPatches); remove it"},
		"target": {"release: {targetNamespace: victim}", v1alpha1.ReasonNotAllowed,
			"spec.release.targetNamespace: class tenant does not allow namespace victim; it allows: tenant"},
		"storage": {"release: {storageNamespace: victim}", v1alpha1.ReasonNotAllowed,
			"spec.release.storageNamespace: class tenant does not allow namespace victim; it allows: tenant"},
		"account": {"release: {serviceAccountName: default}", v1alpha1.ReasonNotAllowed,
			"spec.release.serviceAccountName: class tenant does not let gateways choose a ServiceAccount (policy.allowServiceAccountOverride); remove it"},
		"depends": {"release: {dependsOn: [{name: victim/web}]}", v1alpha1.ReasonInvalidSpec,
			`spec.release.dependsOn[0].name: "victim/web" is not a name: lowercase letters, digits, - and ., with a letter or digit at both ends and beside each dot`},
		"cluster": {"cluster: {kubeConfig: {secretRef: {name: victim}}}", v1alpha1.ReasonNotAllowed,
			"spec.cluster.kubeConfig: class tenant does not let gateways choose a cluster (policy.allowRemoteClusters); remove it"},
		"values": {"valuesFrom: [{kind: Secret, name: ../victim/secret}]", v1alpha1.ReasonInvalidSpec,
			`spec.valuesFrom[0].name: "../victim/secret" is not a name: lowercase letters, digits, - and ., with a letter or digit at both ends and beside each dot`},
		"config": {"configRef: {name: victim/config}", v1alpha1.ReasonInvalidSpec,
			`spec.configRef.name: "victim/config" is not a name: lowercase letters, digits, - and ., with a letter or digit at both ends and beside each dot`},
		"theirs": {"{}", v1alpha1.ReasonConflict,
			"metadata.name: HelmRelease tenant/theirs exists and is not this gateway's (it has no owner)"},
	}
	for name, a := range attempts {
		lines := []string{a.lines}
		if a.lines == "{}" {
			lines = nil
		}
		if err := n.tries(gateway(name, lines...), &v1alpha1.APIGateway{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, a := range attempts {
		n.gateways.await(t, soon, name, "refused", says(v1alpha1.ConditionAccepted, metav1.ConditionFalse, a.reason, a.message))
	}
	adopts := &v1alpha1.APIGateway{}
	if err := n.tries(strings.Replace(gateway("adopts"), "namespace: $TEAM}", `namespace: $TEAM, annotations: {gateway.sluice.dev/adopt: "true"}}`, 1), adopts); err != nil {
		t.Fatal(err)
	}
	n.gateways.await(t, soon, "adopts", "refused", says(v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed,
		"metadata.annotations[gateway.sluice.dev/adopt]: class tenant does not let gateways take over a HelmRelease (policy.allowAdoption); remove it"))

	// Nothing was made of all that, here or elsewhere, and what is not theirs to write they cannot write.
	equal(n.team, "HelmReleases", names(t, &helmv2.HelmReleaseList{}, client.InNamespace("tenant")), "theirs")
	equal(n.team, "HelmReleases of the victim", names(t, &helmv2.HelmReleaseList{}, client.InNamespace("victim")), "web")
	equal(n.team, "Secrets of Helm", names(t, &corev1.SecretList{}, client.InNamespace("victim"), client.MatchingLabels{"owner": "helm"}), "sh.helm.release.v1.web.v1")
	for what, o := range map[string]client.Object{
		"class":         &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "own"}},
		"source":        &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: "own", Namespace: "tenant"}},
		"other gateway": &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "own", Namespace: "victim"}},
	} {
		if err := n.api.Create(t.Context(), o); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := api.Get(t.Context(), client.ObjectKey{Name: "patch-settings"}, &rbacv1.ClusterRoleBinding{}); !apierrors.IsNotFound(err) {
		t.Errorf("the patch went through: %v", err)
	}
}

// Where a class lets gateways patch the chart, its ServiceAccount bounds what comes of it.
func TestPatchesAreBoundedByTheServiceAccountOfTheClass(t *testing.T) {
	t.Parallel()
	n := newTenant(t, "patched")
	n.create(webClass("release: {serviceAccountName: deployer}", "policy: {allowPatches: true}"))
	n.create(deployer)
	if err := n.tries(gateway("web", "patches:",
		"- {target: {kind: Deployment}, patch: '- {op: add, path: /metadata/annotations, value: {patched: \"yes\"}}'}",
		"- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: web-settings}, data: {more: added}}'"), &v1alpha1.APIGateway{}); err != nil {
		t.Fatal(err)
	}
	n.gateways.await(t, release, "web", "ready", isReady(1))
	equal(n.team, "the Deployment's annotation", n.deployments.latest()["web"].Annotations["patched"], "yes")
	equal(n.team, "the ConfigMap's key", n.configs.latest()["web-settings"].Data["more"], "added")

	if err := n.tries(gateway("evil", escalation, "release: {timeout: 12s}"), &v1alpha1.APIGateway{}); err != nil {
		t.Fatal(err)
	}
	n.gateways.await(t, release, "evil", "failed", func(g *v1alpha1.APIGateway) error {
		c := condition(g, v1alpha1.ConditionReady)
		if c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "forbidden") || !strings.Contains(c.Message, "clusterrolebindings") {
			return fmt.Errorf("%s", describe(g))
		}
		return nil
	})
	if err := api.Get(t.Context(), client.ObjectKey{Name: "evil-settings"}, &rbacv1.ClusterRoleBinding{}); !apierrors.IsNotFound(err) {
		t.Errorf("the patch went through: %v", err)
	}
}

// deployer may do in its namespace what the chart needs, and nothing elsewhere.
const deployer = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: deployer, namespace: $TEAM}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: deployer, namespace: $TEAM}
rules:
- {apiGroups: ["", apps], resources: [configmaps, secrets, services, deployments, replicasets, pods], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer, namespace: $TEAM}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}
subjects: [{kind: ServiceAccount, name: deployer}]
`

// names of the objects of a list, sorted and joined.
func names(t *testing.T, list client.ObjectList, options ...client.ListOption) string {
	t.Helper()
	if err := api.List(context.WithoutCancel(t.Context()), list, options...); err != nil {
		t.Fatal(err)
	}
	items, err := apimeta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, item := range items {
		found = append(found, item.(client.Object).GetName())
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}
