// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/gitops"
)

var update = flag.Bool("update", false, "write testdata anew")

// patience bounds every wait.
const patience = 2 * time.Minute

const (
	system = "sluice-system"
	user   = "system:serviceaccount:" + system + ":sluice"
)

// overlay is what a cluster's repository has: a kustomization that lists flux/install and says where the chart is. More values
// are given to the operator's HelmRelease. It returns the folder.
func overlay(t *testing.T, url, values string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-overlay-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	base, err := filepath.Rel(dir, filepath.Join(root, "flux", "install"))
	require.NoError(t, err)
	text := fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [%s]
patches:
- patch: |
    apiVersion: source.toolkit.fluxcd.io/v1
    kind: OCIRepository
    metadata: {name: sluice, namespace: flux-system}
    spec: {url: "%s", insecure: true}
- patch: |
    apiVersion: helm.toolkit.fluxcd.io/v2
    kind: HelmRelease
    metadata: {name: sluice, namespace: flux-system}
    spec: {values: %s}
`, base, url, values)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o644))
	return dir
}

// commit makes a git repository that Flux applies.
func commit(t *testing.T, name string, files gitops.Files) *gitops.Repository {
	t.Helper()
	repository, err := gitops.New(t.Context(), local, name, filepath.Join(t.TempDir(), "clone"), gitops.Options{})
	require.NoError(t, err)
	_, err = repository.Push(t.Context(), "Add "+name, files)
	require.NoError(t, err)
	return repository
}

// rendered is what `sluice render` prints of manifests.
func rendered(t *testing.T, manifests string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "sluice"), "render", "-f", "-")
	command.Stdin, command.Stderr = strings.NewReader(manifests), os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	return string(out)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := local.Kubectl(t.Context(), args...)
	require.NoError(t, err)
	return out
}

// awaitInstalled waits until Flux has the operator's chart of that version with the HelmRelease's present spec deployed.
func awaitInstalled(t *testing.T, version string) {
	t.Helper()
	await(t, "HelmRelease flux-system/sluice has chart "+version, func(ctx context.Context) error {
		hr := &helmv2.HelmRelease{}
		if err := api.Get(ctx, client.ObjectKey{Namespace: "flux-system", Name: "sluice"}, hr); err != nil {
			return err
		}
		latest := hr.Status.History.Latest()
		if !apimeta.IsStatusConditionTrue(hr.Status.Conditions, "Ready") || hr.Status.ObservedGeneration != hr.Generation ||
			latest == nil || !strings.HasPrefix(latest.ChartVersion, version+"+") {
			return fmt.Errorf("%+v, history %+v", hr.Status.Conditions, latest)
		}
		return nil
	})
}

func operatorDeployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(t, api.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "sluice"}, deployment))
	return deployment
}

// startOperator starts the binary as the pods of the Deployment would, once they run: with their arguments, save the
// addresses, and as their ServiceAccount.
func startOperator(t *testing.T) *cluster.Process {
	t.Helper()
	await(t, "the operator's pods run", func(ctx context.Context) error {
		deployment := &appsv1.Deployment{}
		err := api.Get(ctx, client.ObjectKey{Namespace: system, Name: "sluice"}, deployment)
		if err == nil && deployment.Status.ReadyReplicas != *deployment.Spec.Replicas {
			err = fmt.Errorf("%+v", deployment.Status)
		}
		return err
	})
	kubeconfig, err := local.KubeconfigFor(t.Context(), system, operatorDeployment(t).Spec.Template.Spec.ServiceAccountName)
	require.NoError(t, err)
	health, err := cluster.FreeAddress()
	require.NoError(t, err)
	args := slices.Concat(operatorDeployment(t).Spec.Template.Spec.Containers[0].Args, []string{"--health-addr=" + health, "--metrics-addr=0"})
	process, err := local.StartProcess(t.Context(), cluster.ProcessSpec{
		Name: "sluice-controller", Path: operatorBinary(), Args: args,
		Env:      []string{"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + system},
		ReadyURL: "http://" + health + "/readyz", Grace: 10 * time.Second,
	})
	require.NoError(t, err)
	return process
}

// facts are what must not change of a gateway that runs on.
type facts struct {
	HelmRelease, Deployment string // UID and generation
	Pods                    string
	Revisions               string // of Helm
}

func factsOf(t *testing.T, namespace, name string) facts {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: name}
	hr, deployment := &helmv2.HelmRelease{}, &appsv1.Deployment{}
	require.NoError(t, api.Get(t.Context(), key, hr))
	require.NoError(t, api.Get(t.Context(), key, deployment))
	pods, secrets := &corev1.PodList{}, &corev1.SecretList{}
	require.NoError(t, api.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingLabels{"app": name}))
	require.NoError(t, api.List(t.Context(), secrets, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm", "name": name}))
	var uids, revisions []string
	for _, pod := range pods.Items {
		uids = append(uids, string(pod.UID))
	}
	for _, secret := range secrets.Items {
		revisions = append(revisions, secret.Labels["version"]+" "+secret.Labels["status"])
	}
	slices.Sort(uids)
	slices.Sort(revisions)
	return facts{
		HelmRelease: fmt.Sprint(hr.UID, " ", hr.Generation),
		Deployment:  fmt.Sprint(deployment.UID, " ", deployment.Generation),
		Pods:        strings.Join(uids, " "),
		Revisions:   strings.Join(revisions, ", "),
	}
}

// awaitGateway waits until the gateway's status, written by the operator that runs, says that its present spec is ready.
func awaitGateway(t *testing.T, namespace, name string) *v1alpha1.APIGateway {
	t.Helper()
	gateway := &v1alpha1.APIGateway{}
	await(t, "APIGateway "+namespace+"/"+name+" is ready", func(ctx context.Context) error {
		if err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, gateway); err != nil {
			return err
		}
		if gateway.Status.ObservedGeneration != gateway.Generation || !apimeta.IsStatusConditionTrue(gateway.Status.Conditions, v1alpha1.ConditionReady) {
			return fmt.Errorf("%+v", gateway.Status)
		}
		return nil
	})
	return gateway
}

func await(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	require.NoError(t, cluster.Await(t.Context(), patience, what, check))
}

// reconcileSource has Flux look for a new chart.
func reconcileSource(t *testing.T) {
	t.Helper()
	request(t, &sourcev1.OCIRepository{})
}

// reconcileRelease has Flux look whether anybody changed what it installed.
func reconcileRelease(t *testing.T) {
	t.Helper()
	hr := &helmv2.HelmRelease{}
	request(t, hr)
	await(t, "Flux has looked", func(ctx context.Context) error {
		asked := hr.Annotations[meta.ReconcileRequestAnnotation]
		if err := api.Get(ctx, client.ObjectKeyFromObject(hr), hr); err != nil {
			return err
		}
		if hr.Status.LastHandledReconcileAt != asked || !apimeta.IsStatusConditionTrue(hr.Status.Conditions, meta.ReadyCondition) {
			return fmt.Errorf("asked at %s: %+v", asked, hr.Status)
		}
		return nil
	})
}

// request is what `flux reconcile` writes on the operator's object of that kind.
func request(t *testing.T, object client.Object) {
	t.Helper()
	object.SetNamespace("flux-system")
	object.SetName("sluice")
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	require.NoError(t, api.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, patch)))
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// rights are what `kubectl auth can-i --list` says of the operator in each of the namespaces.
func rights(t *testing.T, namespaces ...string) string {
	t.Helper()
	var all strings.Builder
	for _, namespace := range namespaces {
		out := kubectl(t, "auth", "can-i", "--list", "--as="+user, "-n", namespace)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(lines[1:])
		fmt.Fprintf(&all, "in namespace %s\n", namespace)
		for _, line := range lines {
			all.WriteString("  " + strings.TrimRight(line, " ") + "\n")
		}
	}
	return all.String()
}
