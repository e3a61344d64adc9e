// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// checkKstatus: kubectl wait, kustomize-controller and flux read a gateway as kstatus does. It is Current only when Ready is
// True, Failed when Stalled is, InProgress otherwise, and Terminating while it is deleted.
func checkKstatus(t *testing.T, what string, gateway v1alpha1.APIGateway, after v1alpha1.APIGatewayStatus) {
	t.Helper()
	gateway.Status = after
	want := status.InProgressStatus
	switch {
	case gateway.DeletionTimestamp != nil:
		want = status.TerminatingStatus
	case apimeta.IsStatusConditionTrue(after.Conditions, v1alpha1.ConditionStalled):
		want = status.FailedStatus
	case apimeta.IsStatusConditionTrue(after.Conditions, v1alpha1.ConditionReconciling):
		want = status.InProgressStatus
	case apimeta.IsStatusConditionTrue(after.Conditions, v1alpha1.ConditionReady):
		want = status.CurrentStatus
	}
	if got := kstatusOf(t, gateway); got != want {
		t.Fatalf("%s: kstatus reads %s, want %s:\n%s", what, got, want, summary(after))
	}
	checkPairs(t, what, after)
}

// checkPairs: Reconciling and Stalled exclude one another, and Stalled never goes with Ready=True.
func checkPairs(t *testing.T, what string, after v1alpha1.APIGatewayStatus) {
	t.Helper()
	is := func(kind string) bool { return apimeta.IsStatusConditionTrue(after.Conditions, kind) }
	if is(v1alpha1.ConditionStalled) && (is(v1alpha1.ConditionReconciling) || is(v1alpha1.ConditionReady)) {
		t.Fatalf("%s: conditions that exclude one another:\n%s", what, summary(after))
	}
	if is(v1alpha1.ConditionReady) != is(v1alpha1.ConditionProgrammed) || is(v1alpha1.ConditionReady) != (after.Phase == v1alpha1.PhaseReady) {
		t.Fatalf("%s: Ready, Programmed and the phase disagree:\n%s", what, summary(after))
	}
}

func kstatusOf(t *testing.T, gateway v1alpha1.APIGateway) status.Status {
	t.Helper()
	gateway.APIVersion, gateway.Kind = v1alpha1.GroupVersion.String(), v1alpha1.APIGatewayKind
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&gateway)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}
