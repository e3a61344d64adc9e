// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// maxNote is the API's limit on an event's note, in bytes.
const maxNote = 1024

// action is what events say that we were doing.
const action = "Reconcile"

// announce sends an event for each change of what Accepted and Ready say, and none otherwise.
func (r *gatewayReconciler) announce(gateway *v1alpha1.APIGateway, before, after v1alpha1.APIGatewayStatus) {
	accepted := news(v1alpha1.ConditionAccepted, before.Conditions, after.Conditions)
	ready := news(v1alpha1.ConditionReady, before.Conditions, after.Conditions)
	if accepted != nil && (ready == nil || ready.Reason != accepted.Reason) {
		r.send(gateway, accepted)
	}
	if ready != nil {
		r.send(gateway, ready)
	}
}

// news is the condition if its status or reason changed.
func news(kind string, before, after []metav1.Condition) *metav1.Condition {
	old, now := apimeta.FindStatusCondition(before, kind), apimeta.FindStatusCondition(after, kind)
	if now == nil || old != nil && old.Status == now.Status && old.Reason == now.Reason {
		return nil
	}
	return now
}

func (r *gatewayReconciler) send(gateway *v1alpha1.APIGateway, c *metav1.Condition) {
	kind := corev1.EventTypeNormal
	if c.Status == metav1.ConditionFalse && !intended(c.Reason) {
		kind = corev1.EventTypeWarning
	}
	r.events.Eventf(gateway, nil, kind, c.Reason, action, "%s", cut(c.Message))
}

// intended: people asked for it.
func intended(reason string) bool {
	return reason == v1alpha1.ReasonSuspended || reason == v1alpha1.ReasonDeleting || reason == v1alpha1.ReasonPending
}

// warnOfRemains tells what a namespace's deletion may leave in other namespaces: nobody waited for an uninstall. The event is
// about the namespace, since nothing can be made in one that terminates.
func (r *gatewayReconciler) warnOfRemains(gateway *v1alpha1.APIGateway) {
	release := placesOf(gateway).Release
	if release.TargetNamespace == gateway.Namespace && release.StorageNamespace == gateway.Namespace {
		return
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gateway.Namespace}}
	r.events.Eventf(namespace, nil, corev1.EventTypeWarning, "ReleaseMayRemain", action,
		"APIGateway %s/%s went with its namespace: objects of Helm release %s may remain in namespace %s, and its record in namespace %s",
		gateway.Namespace, gateway.Name, release.Name, release.TargetNamespace, release.StorageNamespace)
}

func cut(message string) string {
	if len(message) <= maxNote {
		return message
	}
	const mark = "…"
	end := maxNote - len(mark)
	for end > 0 && !isRuneStart(message[end]) {
		end--
	}
	return message[:end] + mark
}

func isRuneStart(b byte) bool { return b&0xC0 != 0x80 }
