// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/gitops"
)

const catalogue = "openshell sluice wso2"

// class and gateway are a team's.
const class = `
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: web}
spec:
  chart: {url: "%s", insecure: true, ref: {tag: 1.0.0}}
  valueMappings: [{field: infrastructure.replicas, paths: [replicas]}]
`

func gateway(namespace, name string, replicas int) string {
	return fmt.Sprintf(`
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata: {name: %s, namespace: %s}
spec: {className: web, infrastructure: {replicas: %d}}
`, name, namespace, replicas)
}

func apply(t *testing.T, manifests string) {
	t.Helper()
	require.NoError(t, local.Apply(t.Context(), manifests))
}

func TestSluiceComesIsUpgradedAndGoesByFluxAlone(t *testing.T) {
	chart := filepath.Join(root, "charts", "sluice")
	pushed, err := local.PushChart(t.Context(), chart, "0.1.0")
	require.NoError(t, err)
	web, err := local.PushChart(t.Context(), filepath.Join(root, "test", "flux", "testdata", "chart"), "1.0.0")
	require.NoError(t, err)
	for _, name := range []string{"team", "inside", "outside", "generated"} {
		kubectl(t, "create", "namespace", name)
	}
	installation := overlay(t, pushed.URL, "{}")
	var operator *cluster.Process
	var before facts

	step(t, "what sluice render prints runs where there is no operator, and goes with its commit", func(t *testing.T) {
		require.Empty(t, kubectl(t, "get", "crd", "--ignore-not-found", "apigateways.gateway.sluice.dev"))
		generated := commit(t, "generated", gitops.Files{
			"flux.yaml":  rendered(t, fmt.Sprintf(class, web.URL)+"---"+gateway("generated", "web", 2)),
			"other.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: generated}\n",
		})
		await(t, "HelmRelease generated/web is ready", func(ctx context.Context) error {
			hr := &helmv2.HelmRelease{}
			err := api.Get(ctx, client.ObjectKey{Namespace: "generated", Name: "web"}, hr)
			if err == nil && !apimeta.IsStatusConditionTrue(hr.Status.Conditions, meta.ReadyCondition) {
				err = fmt.Errorf("%+v", hr.Status)
			}
			return err
		})
		runs := factsOf(t, "generated", "web")
		require.Equal(t, "1 deployed", runs.Revisions)
		require.Len(t, strings.Fields(runs.Pods), 2)
		_, err := generated.Push(t.Context(), "Remove it", gitops.Files{"flux.yaml": gitops.Removed})
		require.NoError(t, err)
		kubectl(t, "wait", "--for=delete", "--timeout=2m", "-n", "generated", "helmrelease/web", "deployment/web")
	})

	step(t, "one kubectl apply brings the operator, its CRDs and the catalogue to a bare cluster", func(t *testing.T) {
		kubectl(t, "apply", "-k", installation)
		operator = startOperator(t) // Flux waits until it has looked at the classes
		kubectl(t, "wait", "--for=condition=Ready", "--timeout=2m", "-n", "flux-system", "helmrelease/sluice")
		awaitInstalled(t, "0.1.0")
		require.Equal(t, int32(2), operatorDeployment(t).Status.ReadyReplicas)
		require.Equal(t, catalogue, classes(t))
		await(t, "the catalogue is accepted", func(ctx context.Context) error {
			list := &v1alpha1.APIGatewayClassList{}
			err := api.List(ctx, list)
			for i := range list.Items {
				if !apimeta.IsStatusConditionTrue(list.Items[i].Status.Conditions, v1alpha1.ConditionAccepted) {
					return fmt.Errorf("%s: %+v", list.Items[i].Name, list.Items[i].Status)
				}
			}
			return err
		})
	})

	step(t, "gateways get ready with no more rights than these", func(t *testing.T) {
		golden(t, "rights.txt", rights(t, "team", system))
		apply(t, fmt.Sprintf(class, web.URL)+"---"+gateway("team", "web", 2))
		awaitGateway(t, "team", "web")
		before = factsOf(t, "team", "web")
		require.Equal(t, "1 deployed", before.Revisions)
	})

	step(t, "an upgrade of the operator brings its CRDs along, and touches no gateway", func(t *testing.T) {
		_, err := local.PushChart(t.Context(), chart, "0.1.1", later)
		require.NoError(t, err)
		reconcileSource(t)
		awaitInstalled(t, "0.1.1")
		require.Equal(t, "ghcr.io/sluice-gateway/sluice-controller:v0.1.1", operatorDeployment(t).Spec.Template.Spec.Containers[0].Image)
		require.Equal(t, "yes", kubectl(t, "get", "crd", "apigateways.gateway.sluice.dev", "-o", `jsonpath={.metadata.annotations.example\.com/later}`))
		require.NoError(t, operator.Stop())
		operator = startOperator(t)
		apply(t, gateway("team", "second", 1))
		awaitGateway(t, "team", "second") // so the new operator has looked around
		require.Equal(t, before, factsOf(t, "team", "web"))
		reconcileRelease(t)
		require.Empty(t, kubectl(t, "get", "events", "-A", "--ignore-not-found", "--field-selector=reason=DriftDetected"))
	})

	step(t, "one kubectl delete takes the operator away, and gateways run on", func(t *testing.T) {
		kubectl(t, "delete", "-k", installation, "--timeout=2m")
		require.NoError(t, operator.Stop())
		require.Equal(t, before, factsOf(t, "team", "web"))
		require.Equal(t, "openshell sluice web wso2", classes(t))
		require.Empty(t, leftovers(t))
		awaitGateway(t, "team", "web")

		// A class that nobody uses goes without the operator, a gateway waits for it.
		kubectl(t, "delete", "apigatewayclass", "openshell", "--timeout=1m")
		kubectl(t, "delete", "apigateway", "second", "-n", "team", "--wait=false")
		require.Equal(t, "1 deployed", factsOf(t, "team", "second").Revisions)
	})

	step(t, "an operator that is installed again takes them up, with no new revision", func(t *testing.T) {
		kubectl(t, "apply", "-k", installation)
		operator = startOperator(t)
		awaitInstalled(t, "0.1.1")
		apply(t, gateway("team", "third", 1))
		awaitGateway(t, "team", "third")
		require.Equal(t, before, factsOf(t, "team", "web"))
		require.Equal(t, "openshell sluice web wso2", classes(t))
		kubectl(t, "wait", "--for=delete", "--timeout=2m", "-n", "team", "apigateway/second", "deployment/second")

		apply(t, gateway("team", "web", 3))
		awaitGateway(t, "team", "web")
		after := factsOf(t, "team", "web")
		require.Equal(t, "1 superseded, 2 deployed", after.Revisions)
		require.Len(t, strings.Fields(after.Pods), 3)
	})

	step(t, "everything goes in the order that the chart's README tells", func(t *testing.T) {
		kubectl(t, "delete", "apigateways.gateway.sluice.dev", "--all", "-A", "--timeout=2m")
		kubectl(t, "delete", "apigatewayclasses.gateway.sluice.dev", "--all", "--timeout=2m")
		kubectl(t, "delete", "-k", installation, "--timeout=2m")
		require.NoError(t, operator.Stop())
		kubectl(t, "delete", "crd", "apigateways.gateway.sluice.dev", "apigatewayclasses.gateway.sluice.dev", "--timeout=2m")
		require.Empty(t, leftovers(t))
		await(t, "the garbage collector has taken away the pods too", func(ctx context.Context) error {
			for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.PodList{}} {
				if err := api.List(ctx, list, client.InNamespace("team")); err != nil {
					return err
				}
				if n := apimeta.LenList(list); n > 0 {
					return fmt.Errorf("%T has %d", list, n)
				}
			}
			return nil
		})
	})

	step(t, "in named namespaces it has rights in just these, and leaves the others alone", func(t *testing.T) {
		named := overlay(t, pushed.URL, "{watchNamespaces: [inside], watchChildren: [{apiVersion: apps/v1, kind: Deployment}]}")
		kubectl(t, "apply", "-k", named)
		operator = startOperator(t)
		awaitInstalled(t, "0.1.1")
		golden(t, "rights-named.txt", rights(t, "inside", "outside", "default", system))
		apply(t, fmt.Sprintf(class, web.URL)+"---"+gateway("outside", "web", 1))
		apply(t, gateway("inside", "web", 1))
		awaitGateway(t, "inside", "web")
		untouched := &v1alpha1.APIGateway{}
		require.NoError(t, api.Get(t.Context(), client.ObjectKey{Namespace: "outside", Name: "web"}, untouched))
		require.Empty(t, untouched.Finalizers)
		require.Equal(t, v1alpha1.APIGatewayStatus{ObservedGeneration: -1}, untouched.Status)

		was := factsOf(t, "inside", "web")
		kubectl(t, "delete", "deployment", "web", "-n", "inside")
		await(t, "the Deployment is there again", func(ctx context.Context) error {
			deployment := &appsv1.Deployment{}
			err := api.Get(ctx, client.ObjectKey{Namespace: "inside", Name: "web"}, deployment)
			if err == nil && strings.HasPrefix(was.Deployment, string(deployment.UID)) {
				err = fmt.Errorf("it is the old one")
			}
			return err
		})
	})

	step(t, "people may do with gateways what they may do in the namespace", func(t *testing.T) {
		kubectl(t, "create", "rolebinding", "ann", "--clusterrole=edit", "--user=ann", "-n", "inside")
		kubectl(t, "create", "rolebinding", "vic", "--clusterrole=view", "--user=vic", "-n", "inside")
		await(t, "Kubernetes has aggregated the ClusterRoles", func(ctx context.Context) error {
			for who, what := range map[string]string{"ann": "create", "vic": "list"} {
				if may(t, who, what, "apigateways.gateway.sluice.dev", "inside") != "yes" {
					return fmt.Errorf("not yet for %s", who)
				}
			}
			return nil
		})
		var got strings.Builder
		for _, who := range []string{"ann", "vic"} {
			for _, namespace := range []string{"inside", "outside"} {
				for _, what := range []string{"get", "create", "patch", "delete"} {
					fmt.Fprintln(&got, who, what, "apigateways in", namespace+":", may(t, who, what, "apigateways.gateway.sluice.dev", namespace))
				}
				fmt.Fprintln(&got, who, "update apigateways/status in", namespace+":", may(t, who, "update", "apigateways.gateway.sluice.dev", namespace, "--subresource=status"))
			}
			fmt.Fprintln(&got, who, "create apigatewayclasses:", may(t, who, "create", "apigatewayclasses.gateway.sluice.dev", ""))
		}
		golden(t, "people.txt", got.String())
	})

	step(t, "and goes again", func(t *testing.T) {
		kubectl(t, "delete", "apigateway", "web", "-n", "inside", "--timeout=2m")
		kubectl(t, "delete", "-k", installation, "--timeout=2m")
		require.NoError(t, operator.Stop())
		require.Empty(t, leftovers(t))
	})
}

// step is a part of a story: what comes after one that failed would mean nothing.
func step(t *testing.T, what string, f func(t *testing.T)) {
	t.Helper()
	if !t.Run(what, f) {
		t.FailNow()
	}
}

// later makes another version of the operator's chart of its folder.
func later(dir string) error {
	if err := edit(filepath.Join(dir, "Chart.yaml"), "appVersion: 0.1.0", "appVersion: 0.1.1"); err != nil {
		return err
	}
	return edit(filepath.Join(dir, "crds", "gateway.sluice.dev_apigateways.yaml"), "  annotations:\n", "  annotations:\n    example.com/later: \"yes\"\n")
}

func edit(file, old, new string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), old) {
		return fmt.Errorf("%s holds no %q", file, old)
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o644)
}

// classes are the names of all, sorted.
func classes(t *testing.T) string {
	t.Helper()
	list := &v1alpha1.APIGatewayClassList{}
	require.NoError(t, api.List(t.Context(), list))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// leftovers of the operator, beside CRDs and classes.
func leftovers(t *testing.T) string {
	t.Helper()
	if err := api.Get(t.Context(), client.ObjectKey{Name: system}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		return fmt.Sprintf("namespace %s: %v", system, err)
	}
	return kubectl(t, "get", "clusterroles,clusterrolebindings,roles,rolebindings,deployments,services,secrets,helmreleases,ocirepositories",
		"-A", "-o", "name", "--ignore-not-found", "-l", "app.kubernetes.io/part-of=sluice") +
		kubectl(t, "get", "secrets", "-n", "flux-system", "-l", "owner=helm", "-o", "name", "--ignore-not-found")
}

func may(t *testing.T, who, verb, resource, namespace string, flags ...string) string {
	t.Helper()
	args := append([]string{"auth", "can-i", verb, resource, "--as=" + who}, flags...)
	if namespace != "" {
		args = append(args, "-n", namespace)
	}
	out, _ := local.Kubectl(t.Context(), args...) // exits with 1 where the answer is no
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}
