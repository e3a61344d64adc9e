// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTheExampleOfARemoteCluster(t *testing.T) {
	t.Parallel()
	there := startElsewhere(t)
	m := newTeamWithoutNamespace(t, "fleet", waits("2m"))
	manifests := withLocalRegistry(t, "remote-cluster")
	m.create(manifests["namespace.yaml"])
	m.create(there.kubeconfig(t, "edge-eu-kubeconfig"))
	m.runExample("remote-cluster", manifests, 2)

	name := client.ObjectKey{Namespace: "fleet", Name: "edge-gateway"}
	deployment := &appsv1.Deployment{}
	if err := there.api.Get(t.Context(), name, deployment); err != nil {
		t.Fatal(err)
	}
	equal(m, "pods there", deployment.Status.ReadyReplicas, int32(2))
	if err := there.api.Get(t.Context(), name, &networkingv1.NetworkPolicy{}); err != nil {
		t.Errorf("what depends on cilium.io/v2 there: %v", err)
	}
	equal(m, "Deployments here", len(m.deployments.latest()), 0)

	// As gateway.yaml says: the gateway goes before its Secret, which goes with the namespace.
	m.commit("Remove the gateway", files{
		"gateway.yaml":       removed,
		"kustomization.yaml": strings.Replace(manifests["kustomization.yaml"], "  - gateway.yaml\n", "", 1),
	})
	m.gateways.awaitGone(t, release, "edge")
	if err := there.api.Get(t.Context(), name, deployment); !apierrors.IsNotFound(err) {
		t.Errorf("the release is there still: %v", err)
	}
}
