// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/history"
)

// Describe tells in a line what there is to know of a state.
func Describe(c history.Change) string {
	text := strings.TrimPrefix(fmt.Sprintf("%T %s generation %d", c.Object, c.Name, c.Object.GetGeneration()), "*")
	if c.Object.GetDeletionTimestamp() != nil {
		text += " (deleting)"
	}
	if c.Gone {
		return text + " IS GONE"
	}
	return text + more(c)
}

func more(c history.Change) string {
	switch o := c.Object.(type) {
	case *v1alpha1.APIGateway:
		return fmt.Sprintf(" %s observed %d phase %s failures %d %s", asked(o), o.Status.ObservedGeneration, o.Status.Phase, o.Status.Failures,
			Conditions(o.Status.Conditions))
	case *helmv2.HelmRelease:
		return fmt.Sprintf(" of %s values %s observed %d attempted %d history %s %s", owner(o), raw(o.Spec.Values), o.Status.ObservedGeneration,
			o.Status.LastAttemptedGeneration, snapshots(o.Status.History), Conditions(o.Status.Conditions))
	case *corev1.ConfigMap:
		return fmt.Sprintf(" %v", o.Data)
	case *appsv1.Deployment:
		return fmt.Sprintf(" observed %d updated %d ready %d", o.Status.ObservedGeneration, o.Status.UpdatedReplicas, o.Status.ReadyReplicas)
	case *corev1.Secret:
		return " " + o.Labels["status"]
	}
	return ""
}

func asked(g *v1alpha1.APIGateway) string {
	want := wanted(g)
	return fmt.Sprintf("%v", want.data)
}

func raw(values *apiextensionsv1.JSON) string {
	if values == nil {
		return "none"
	}
	return string(values.Raw)
}

func snapshots(history helmv2.Snapshots) []string {
	var all []string
	for _, s := range history {
		all = append(all, fmt.Sprintf("%d %s by %s", s.Version, s.Status, s.Action))
	}
	return all
}

// Conditions in a line.
func Conditions(conditions []metav1.Condition) string {
	var all []string
	for _, c := range conditions {
		message := c.Message
		if len(message) > 200 {
			message = message[:200] + "…"
		}
		all = append(all, fmt.Sprintf("%s=%s/%d %s %q", c.Type, c.Status, c.ObservedGeneration, c.Reason, message))
	}
	return strings.Join(all, "; ")
}
