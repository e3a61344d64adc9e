// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// classReconciler says in an APIGatewayClass's status whether the class is valid, and keeps a class that gateways use from
// being deleted under them.
type classReconciler struct {
	client.Client
	events         events.EventRecorder
	now            func() time.Time
	controllerName string
	// protects: we see every gateway, and so know whether a class is used.
	protects bool
}

func setupClasses(mgr ctrl.Manager, o Options, recorder *recorder) error {
	r := &classReconciler{
		Client:         mgr.GetClient(),
		events:         recorder,
		now:            o.Now,
		controllerName: o.ControllerName,
		protects:       len(o.WatchNamespaces) == 0,
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.APIGatewayClass{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, r.protectionLost()))).
		Watches(&v1alpha1.APIGateway{}, r.useChanges()).
		Watches(&v1alpha1.APIGatewayClass{}, handler.EnqueueRequestsFromMapFunc(r.usedBeside), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controllerOptions(1)).
		Complete(r)
}

// Reconcile brings the finalizer and the status of a class of ours up to date.
func (r *classReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	class := &v1alpha1.APIGatewayClass{}
	if err := r.Get(ctx, req.NamespacedName, class); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if orDefault(class.Spec.ControllerName, v1alpha1.DefaultControllerName) != r.controllerName {
		return r.result(r.letGo(ctx, class))
	}
	users, err := r.users(ctx, class)
	if err != nil {
		return ctrl.Result{}, err
	}
	err = r.protect(ctx, class, users)
	if err == nil {
		err = r.report(ctx, class, users)
	}
	return r.result(err)
}

func (r *classReconciler) result(err error) (ctrl.Result, error) {
	if isConflict(err) {
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// report writes the status if it differs, and announces that a deletion waits.
func (r *classReconciler) report(ctx context.Context, class *v1alpha1.APIGatewayClass, users []string) error {
	before, status := class.Status, classStatus(class, users, metav1.NewTime(r.now()))
	if apiequality.Semantic.DeepEqual(before, status) {
		return nil
	}
	class.Status = status
	if err := r.Status().Update(ctx, class); err != nil {
		return err
	}
	for _, kind := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionInUse} {
		if c := news(kind, before.Conditions, status.Conditions); c != nil {
			send(r.events, class, c)
		}
	}
	return nil
}

func classStatus(class *v1alpha1.APIGatewayClass, users []string, now metav1.Time) v1alpha1.APIGatewayClassStatus {
	accepted := metav1.Condition{
		Type:               v1alpha1.ConditionAccepted,
		Status:             metav1.ConditionTrue,
		Reason:             v1alpha1.ReasonAccepted,
		Message:            "the class is valid",
		ObservedGeneration: class.Generation,
		LastTransitionTime: now,
	}
	if faults := plan.ClassFaults(class); len(faults) > 0 {
		fault := &plan.Error{Faults: faults}
		accepted.Status, accepted.Reason, accepted.Message = metav1.ConditionFalse, fault.Reason(), fault.Error()
	}
	waits := class.DeletionTimestamp != nil && len(users) > 0
	if waits { // the one message that a table shows
		accepted.Message += "; it is being deleted, and waits: " + inUse(users)
	}
	status := *class.Status.DeepCopy()
	status.ObservedGeneration = class.Generation
	apimeta.SetStatusCondition(&status.Conditions, accepted)
	if !waits {
		apimeta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionInUse)
		return status
	}
	apimeta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type:               v1alpha1.ConditionInUse,
		Status:             metav1.ConditionTrue,
		Reason:             v1alpha1.ReasonGatewaysRemain,
		Message:            inUse(users),
		ObservedGeneration: class.Generation,
		LastTransitionTime: now,
	})
	return status
}
