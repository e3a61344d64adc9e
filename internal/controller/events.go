// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// maxNote is the API's limit on an event's note, in bytes.
const maxNote = 1024

// action is what events say that we were doing.
const action = "Reconcile"

// announce sends an event, and logs a line, for each change of what Accepted and Ready say, and none otherwise.
func (r *gatewayReconciler) announce(ctx context.Context, gateway *v1alpha1.APIGateway, before, after v1alpha1.APIGatewayStatus) {
	accepted := news(v1alpha1.ConditionAccepted, before.Conditions, after.Conditions)
	ready := news(v1alpha1.ConditionReady, before.Conditions, after.Conditions)
	if accepted != nil && (ready == nil || ready.Reason != accepted.Reason) {
		r.tell(ctx, gateway, accepted)
	}
	if ready != nil {
		r.tell(ctx, gateway, ready)
	}
}

func (r *gatewayReconciler) tell(ctx context.Context, gateway *v1alpha1.APIGateway, c *metav1.Condition) {
	send(r.events, gateway, c)
	ctrl.LoggerFrom(ctx).Info(c.Type+" is "+string(c.Status), "reason", c.Reason, "message", cut(c.Message), "phase", gateway.Status.Phase)
}

// news is the condition if its status or reason changed.
func news(kind string, before, after []metav1.Condition) *metav1.Condition {
	old, now := apimeta.FindStatusCondition(before, kind), apimeta.FindStatusCondition(after, kind)
	if now == nil || old != nil && old.Status == now.Status && old.Reason == now.Reason {
		return nil
	}
	return now
}

func send(recorder events.EventRecorder, about client.Object, c *metav1.Condition) {
	kind := corev1.EventTypeNormal
	if c.Status == metav1.ConditionFalse && !intended(c.Reason) || c.Type == v1alpha1.ConditionInUse {
		kind = corev1.EventTypeWarning
	}
	recorder.Eventf(about, nil, kind, c.Reason, action, "%s", cut(c.Message))
}

// intended: people asked for it, and nothing failed.
func intended(reason string) bool {
	switch reason {
	case v1alpha1.ReasonSuspended, v1alpha1.ReasonDeleting, v1alpha1.ReasonPending, helmv2.DependencyNotReadyReason:
		return true
	}
	return false
}

// announceCorrection tells what somebody did to the release's objects, of which status says nothing. Each deed has an event
// that is related to its object: the library takes events for one that differ in their notes alone, and sends the first.
func (r *gatewayReconciler) announceCorrection(gateway *v1alpha1.APIGateway, deeds []*deed) {
	for _, d := range deeds {
		r.events.Eventf(gateway, d.reference(), corev1.EventTypeNormal, "CorrectionRequested", action, "%s",
			cut(d.String()+": Flux was asked to correct it"))
	}
}

// warnOfRemains tells what a namespace's deletion may leave in other namespaces: nobody waited for an uninstall. The event is
// about the namespace, since nothing can be made in one that terminates, and related to the gateway, since others may go too.
func (r *gatewayReconciler) warnOfRemains(gateway *v1alpha1.APIGateway) {
	release := placesOf(gateway).Release
	if release.Cluster == nil && release.TargetNamespace == gateway.Namespace && release.StorageNamespace == gateway.Namespace {
		return
	}
	where := ""
	if release.Cluster != nil {
		where = " of cluster " + release.Cluster.Name
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gateway.Namespace}}
	r.events.Eventf(namespace, gateway, corev1.EventTypeWarning, "ReleaseMayRemain", action,
		"APIGateway %s/%s went with its namespace: objects of Helm release %s may remain in namespace %s, and its record in namespace %s%s",
		gateway.Namespace, gateway.Name, release.Name, release.TargetNamespace, release.StorageNamespace, where)
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
