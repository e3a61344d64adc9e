// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestAGatewayRemovedFromGitLeavesNothing(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "removal")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {extra: true}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	if len(m.contents()) < 10 {
		t.Fatalf("contents misses kinds: %v", m.contents())
	}

	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.await(t, soon, "web", "in phase Deleting", both(inPhase(v1alpha1.PhaseDeleting),
		notReady("Deleting", "waiting for Flux to uninstall HelmRelease removal/web")))
	hr := m.releases.awaitGone(t, release, "web")
	gateway := m.gateways.awaitGone(t, release, "web")
	if version(t, gateway.object) < version(t, hr.object) {
		t.Error("the gateway went before its release")
	}
	// The source stays for a minute.
	m.eventually(90*time.Second, "an empty namespace", func(context.Context) error {
		if left := m.contents(); len(left) > 0 {
			return fmt.Errorf("it holds %v", left)
		}
		return nil
	})
}

// contents are all objects in the namespace of the kinds that a gateway consists of.
func (m *team) contents() []string {
	m.Helper()
	var found []string
	for _, list := range []client.ObjectList{
		&v1alpha1.APIGatewayList{}, &helmv2.HelmReleaseList{}, &sourcev1.OCIRepositoryList{},
		&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &corev1.SecretList{},
	} {
		if err := api.List(m.Context(), list, client.InNamespace(m.name)); err != nil {
			m.Fatal(err)
		}
		items, err := apimeta.ExtractList(list)
		if err != nil {
			m.Fatal(err)
		}
		for _, item := range items {
			if name := item.(client.Object).GetName(); name != "kube-root-ca.crt" {
				found = append(found, fmt.Sprintf("%s %s", strings.TrimPrefix(fmt.Sprintf("%T", item), "*"), name))
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestAnOrphanedReleaseRunsOnAndIsTakenOverWithItsPods(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "orphan")
	web := gateway("web", "infrastructure: {replicas: 2}", "deletionPolicy: Orphan")
	m.commit("Add a gateway whose release outlives it", files{"class.yaml": webClass(), "web.yaml": web})
	first := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	pods := m.pods("web")
	equal(m, "number of pods", len(pods), 2)
	equal(m, "owners of the HelmRelease", m.releases.latest()["web"].OwnerReferences, nil)

	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.await(t, soon, "web", "in phase Deleting", both(inPhase(v1alpha1.PhaseDeleting), notReady("Deleting",
		"waiting for HelmRelease orphan/web to go without an uninstall: deletionPolicy is Orphan, and the release runs on")))
	m.gateways.awaitGone(t, soon, "web")
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: "orphan", Name: "web"}, &helmv2.HelmRelease{}); !apierrors.IsNotFound(err) {
		t.Errorf("the HelmRelease: %v", err)
	}
	equal(m, "pods", m.pods("web"), pods)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})

	m.commit("Add it again", files{"web.yaml": web})
	again := m.gateways.await(t, release, "web", "ready", isReady(2)).object
	if again.UID == first.UID {
		t.Error("it is the same gateway")
	}
	equal(m, "pods, taken over", m.pods("web"), pods)
	equal(m, "Helm's revisions, taken over", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})
	equal(m, "suspend", m.releases.latest()["web"].Spec.Suspend, false)
}
