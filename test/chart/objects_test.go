// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// objects are what one render made, at most one of a kind. A kind that was not rendered is nil.
type objects struct {
	ConfigMap      *corev1.ConfigMap
	Service        *corev1.Service
	ServiceAccount *corev1.ServiceAccount
	Deployment     *appsv1.Deployment
	Autoscaler     *autoscalingv2.HorizontalPodAutoscaler
	Disruption     *policyv1.PodDisruptionBudget
	NetworkPolicy  *networkingv1.NetworkPolicy
	Test           *batchv1.Job
}

// decode reads a render strictly: a field that Kubernetes does not know, or a key given twice, is a failure.
func decode(t *testing.T, rendered string) objects {
	t.Helper()
	var o objects
	for _, doc := range strings.Split(rendered, "\n---\n") {
		var meta metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(doc), &meta))
		switch meta.Kind {
		case "ConfigMap":
			o.ConfigMap = strictly[corev1.ConfigMap](t, doc)
		case "Service":
			o.Service = strictly[corev1.Service](t, doc)
		case "ServiceAccount":
			o.ServiceAccount = strictly[corev1.ServiceAccount](t, doc)
		case "Deployment":
			o.Deployment = strictly[appsv1.Deployment](t, doc)
		case "HorizontalPodAutoscaler":
			o.Autoscaler = strictly[autoscalingv2.HorizontalPodAutoscaler](t, doc)
		case "PodDisruptionBudget":
			o.Disruption = strictly[policyv1.PodDisruptionBudget](t, doc)
		case "NetworkPolicy":
			o.NetworkPolicy = strictly[networkingv1.NetworkPolicy](t, doc)
		case "Job":
			o.Test = strictly[batchv1.Job](t, doc)
		default:
			require.Fail(t, "an object that this test does not know", doc)
		}
	}
	return o
}

func strictly[T any](t *testing.T, doc string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(doc), object), doc)
	return object
}

func renderObjects(t *testing.T, values string) objects {
	t.Helper()
	return decode(t, render(t, values))
}
