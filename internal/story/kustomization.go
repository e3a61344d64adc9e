// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// reasonHealthCheckFailed is kustomize-controller's reason for what was applied and does not get ready, as a gateway that fails: it
// tells of the gateway nothing that its own status does not.
const reasonHealthCheckFailed = meta.HealthCheckFailedReason

// Kustomization is the Flux Kustomization that applies the gateway.
type Kustomization struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Applied is the revision that was applied last, Attempted the one that Flux last tried to apply.
	Applied    string             `json:"lastAppliedRevision,omitempty"`
	Attempted  string             `json:"lastAttemptedRevision,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func kustomizationOf(o *unstructured.Unstructured) *Kustomization {
	if o == nil {
		return nil
	}
	k := &Kustomization{Name: o.GetName(), Namespace: o.GetNamespace()}
	var known struct {
		Status struct {
			Applied    string             `json:"lastAppliedRevision"`
			Attempted  string             `json:"lastAttemptedRevision"`
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	// What another version of Flux writes otherwise is not told.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &known); err == nil {
		k.Applied, k.Attempted, k.Conditions = known.Status.Applied, known.Status.Attempted, known.Status.Conditions
	}
	return k
}

// notApplied says why the last commit does not arrive; empty when nothing is known to be in its way.
func (k *Kustomization) notApplied() string {
	if k == nil {
		return ""
	}
	ready := apimeta.FindStatusCondition(k.Conditions, meta.ReadyCondition)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason == reasonHealthCheckFailed {
		return ""
	}
	return fmt.Sprintf("Kustomization %s/%s, which applies this gateway, is not ready, and what was committed since may not be in the cluster: %s: %s",
		k.Namespace, k.Name, ready.Reason, oneLine(ready.Message))
}

// advice is what to do about a Kustomization that is in the way.
func (k *Kustomization) advice() Advice {
	return Advice{"Correct what the Kustomization's message names, and commit.", fmt.Sprintf("kubectl describe kustomization %s -n %s", k.Name, k.Namespace)}
}
