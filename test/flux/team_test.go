// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/gitops"
)

// Timeouts, long enough for a machine that does much else: the first for what takes milliseconds in an operator at rest, the
// second for a release.
const (
	soon    = 20 * time.Second
	release = 3 * time.Minute
)

// team has a namespace, a git repository that Flux applies to it, and recordings of all that happens there.
type team struct {
	*testing.T
	name string // of the namespace, the git repository and the team's class
	git  *gitops.Repository

	gateways       *recorder[*v1alpha1.APIGateway]
	releases       *recorder[*helmv2.HelmRelease]
	sources        *recorder[*sourcev1.OCIRepository]
	configs        *recorder[*corev1.ConfigMap]
	deployments    *recorder[*appsv1.Deployment]
	kustomizations *recorder[*unstructured.Unstructured]
}

var kustomizationKind = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}

// newTeam makes a team and its namespace. What it commits is gone when the test ends, which is a part of the test.
func newTeam(t *testing.T, name string, options ...option) *team {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := api.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return newTeamWithoutNamespace(t, name, options...)
}

// newTeamWithoutNamespace makes a team that commits its namespace too.
func newTeamWithoutNamespace(t *testing.T, name string, options ...option) *team {
	t.Helper()
	// Recordings outlive the test's context, for the clean-up and for what is printed after a failure.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	m := &team{T: t, name: name}
	m.gateways = record[*v1alpha1.APIGateway](ctx, t, &v1alpha1.APIGatewayList{}, client.InNamespace(name))
	m.releases = record[*helmv2.HelmRelease](ctx, t, &helmv2.HelmReleaseList{}, client.InNamespace(name))
	m.sources = record[*sourcev1.OCIRepository](ctx, t, &sourcev1.OCIRepositoryList{}, client.InNamespace(name))
	m.configs = record[*corev1.ConfigMap](ctx, t, &corev1.ConfigMapList{}, client.InNamespace(name))
	m.deployments = record[*appsv1.Deployment](ctx, t, &appsv1.DeploymentList{}, client.InNamespace(name))
	kustomizations := &unstructured.UnstructuredList{}
	kustomizations.SetGroupVersionKind(kustomizationKind)
	m.kustomizations = record[*unstructured.Unstructured](ctx, t, kustomizations,
		client.InNamespace(cluster.FluxNamespace), client.MatchingFields{"metadata.name": name})
	m.git = newRepository(t, name, options...)
	t.Cleanup(func() {
		defer stop()
		m.disband()
	})
	return m
}

// disband judges what was recorded, removes what the team committed, by deleting its Kustomization, and sees that no gateway
// stays.
func (m *team) disband() {
	m.soundness()
	if m.Failed() {
		m.Logf("what happened in %s:\n%s", m.name, m.story())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*release)
	defer cancel()
	if err := client.IgnoreNotFound(api.Delete(ctx, m.kustomization())); err != nil {
		m.Error(err)
	}
	err := cluster.Await(ctx, release, "the end of all gateways in "+m.name, func(ctx context.Context) error {
		left := &v1alpha1.APIGatewayList{}
		if err := api.List(ctx, left, client.InNamespace(m.name)); err != nil {
			return err
		}
		for i := range left.Items {
			return fmt.Errorf("%s", describe(&left.Items[i]))
		}
		return nil
	})
	if err != nil && !m.Failed() {
		m.Errorf("%v\n%s", err, m.story())
	}
}

func (m *team) kustomization() *unstructured.Unstructured {
	kustomization := &unstructured.Unstructured{}
	kustomization.SetGroupVersionKind(kustomizationKind)
	kustomization.SetNamespace(cluster.FluxNamespace)
	kustomization.SetName(m.name)
	return kustomization
}

// mark makes all that is awaited from now on begin here.
func (m *team) mark() {
	m.gateways.mark()
	m.releases.mark()
	m.sources.mark()
	m.configs.mark()
	m.deployments.mark()
	m.kustomizations.mark()
}

// commit pushes changes, waits until Flux has applied them, and returns the revision. Everything that is awaited next
// begins just before the push.
func (m *team) commit(message string, changes files) string {
	m.Helper()
	revision := m.push(message, changes)
	m.kustomizations.await(m.T, release, m.name, "applied "+revision, func(k *unstructured.Unstructured) error {
		if statusOf(k).LastAppliedRevision != revision {
			return fmt.Errorf("%s", describe(k))
		}
		return nil
	})
	return revision
}

// push is commit without the wait.
func (m *team) push(message string, changes files) string {
	m.Helper()
	m.mark()
	expanded := files{}
	for path, text := range changes {
		expanded[path] = m.expand(text)
	}
	revision, err := m.git.Push(m.Context(), message, gitops.Files(expanded))
	if err != nil {
		m.Fatal(err)
	}
	return revision
}

// expand puts the team's names into a manifest.
func (m *team) expand(text string) string {
	return strings.NewReplacer("$TEAM", m.name, "$CHART", webV1.URL).Replace(text)
}

// get reads an object of the team's namespace.
func get[T client.Object](m *team, name string, object T) T {
	m.Helper()
	if err := api.Get(m.Context(), client.ObjectKey{Namespace: m.name, Name: name}, object); err != nil {
		m.Fatalf("%T %s/%s: %v", object, m.name, name, err)
	}
	return object
}

// create makes objects that are in no git repository.
func (m *team) create(manifests string) {
	m.Helper()
	if err := local.Apply(m.Context(), m.expand(manifests)); err != nil {
		m.Fatal(err)
	}
}

// eventually awaits what no recording shows.
func (m *team) eventually(timeout time.Duration, what string, check func(context.Context) error) {
	m.Helper()
	if err := cluster.Await(m.Context(), timeout, what, check); err != nil {
		m.Fatal(err)
	}
}
