// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// classReconciler says in an APIGatewayClass's status whether the class is valid.
type classReconciler struct {
	client.Client
	now            func() time.Time
	controllerName string
}

func setupClasses(mgr ctrl.Manager, o Options) error {
	r := &classReconciler{Client: mgr.GetClient(), now: time.Now, controllerName: o.ControllerName}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.APIGatewayClass{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controllerOptions(1)).
		Complete(r)
}

// Reconcile writes the status of a class of ours if it differs.
func (r *classReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	class := &v1alpha1.APIGatewayClass{}
	if err := r.Get(ctx, req.NamespacedName, class); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if orDefault(class.Spec.ControllerName, v1alpha1.DefaultControllerName) != r.controllerName {
		return ctrl.Result{}, nil
	}
	status := classStatus(class, metav1.NewTime(r.now()))
	if apiequality.Semantic.DeepEqual(class.Status, status) {
		return ctrl.Result{}, nil
	}
	class.Status = status
	err := r.Status().Update(ctx, class)
	if isConflict(err) {
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func classStatus(class *v1alpha1.APIGatewayClass, now metav1.Time) v1alpha1.APIGatewayClassStatus {
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
	status := *class.Status.DeepCopy()
	status.ObservedGeneration = class.Generation
	apimeta.SetStatusCondition(&status.Conditions, accepted)
	return status
}
