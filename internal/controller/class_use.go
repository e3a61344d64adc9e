// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// classesOf are the classes that a gateway uses: the one it names, and the one that it runs on. They may differ while an
// edit of className is not accepted. A gateway that never was accepted uses none.
func classesOf(o client.Object) []string {
	gateway := o.(*v1alpha1.APIGateway)
	if !controllerutil.ContainsFinalizer(gateway, v1alpha1.Finalizer) {
		return nil
	}
	var classes []string
	for _, name := range []string{orDefault(gateway.Spec.ClassName, ""), gateway.Status.ClassName} {
		if name != "" && !slices.Contains(classes, name) {
			classes = append(classes, name)
		}
	}
	return classes
}

// useChanges asks for a look at a class that a gateway comes to use or uses no more.
func (r *classReconciler) useChanges() handler.EventHandler {
	return changes(classNamesOf, func(ctx context.Context, class types.NamespacedName) bool { return !r.settled(ctx, class) }, nil)
}

func classNamesOf(o client.Object) []types.NamespacedName {
	var names []types.NamespacedName
	for _, class := range classesOf(o) {
		names = append(names, types.NamespacedName{Name: class})
	}
	return names
}

// usedBeside are the other classes of gateways that use this one: whether it exists, and whose it is, decides whether those
// that name it still use the class that they run on (see servedElsewhere).
func (r *classReconciler) usedBeside(ctx context.Context, class client.Object) []ctrl.Request {
	list := &v1alpha1.APIGatewayList{}
	if err := r.List(ctx, list, client.MatchingFields{byClass: class.GetName()}, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list gateways in the cache")
		return nil
	}
	var others []types.NamespacedName
	for i := range list.Items {
		for _, name := range classNamesOf(&list.Items[i]) {
			if name.Name != class.GetName() && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	return requestsFor(others)
}

// settled: one gateway more changes nothing about the class. Should it lose its protection at this very moment, protectionLost has
// it looked at.
func (r *classReconciler) settled(ctx context.Context, name types.NamespacedName) bool {
	class := &v1alpha1.APIGatewayClass{}
	return r.Get(ctx, name, class) == nil && class.DeletionTimestamp == nil &&
		(!r.protects || controllerutil.ContainsFinalizer(class, v1alpha1.FinalizerInUse))
}

// protectionLost passes a class whose finalizer somebody has taken away: a gateway that has just come may need it, and so may those
// under whom it was taken away by hand. Who protects none passes none: it takes the finalizer away itself, and would do so again each
// time that another operator has put it back.
func (r *classReconciler) protectionLost() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return r.protects && controllerutil.ContainsFinalizer(e.ObjectOld, v1alpha1.FinalizerInUse) &&
				!controllerutil.ContainsFinalizer(e.ObjectNew, v1alpha1.FinalizerInUse)
		},
	}
}

// users are the gateways that use the class, as namespace/name, sorted. Of a class that stays one is enough, and so is mostly
// the first that is found: each of a thousand gateways has the question asked when it goes.
func (r *classReconciler) users(ctx context.Context, class *v1alpha1.APIGatewayClass) ([]string, error) {
	if class.DeletionTimestamp == nil {
		if first, err := r.usersAmong(ctx, class, client.Limit(1)); err != nil || len(first) > 0 {
			return first, err
		}
	}
	return r.usersAmong(ctx, class)
}

func (r *classReconciler) usersAmong(ctx context.Context, class *v1alpha1.APIGatewayClass, which ...client.ListOption) ([]string, error) {
	list := &v1alpha1.APIGatewayList{}
	if err := r.List(ctx, list, append(which, client.MatchingFields{byClass: class.Name}, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, err
	}
	var users []string
	for i := range list.Items {
		elsewhere, err := r.servedElsewhere(ctx, class, &list.Items[i])
		if err != nil {
			return nil, err
		}
		if !elsewhere {
			users = append(users, client.ObjectKeyFromObject(&list.Items[i]).String())
		}
		if len(users) > 0 && class.DeletionTimestamp == nil {
			break
		}
	}
	slices.Sort(users)
	return users, nil
}

// servedElsewhere: the gateway names another class by now, which another operator serves, so that its status still tells of
// this one.
func (r *classReconciler) servedElsewhere(ctx context.Context, class *v1alpha1.APIGatewayClass, gateway *v1alpha1.APIGateway) (bool, error) {
	name := orDefault(gateway.Spec.ClassName, class.Name)
	if name == class.Name {
		return false, nil
	}
	other := &v1alpha1.APIGatewayClass{}
	found, err := exists(r.Get(ctx, types.NamespacedName{Name: name}, other))
	return found && orDefault(other.Spec.ControllerName, v1alpha1.DefaultControllerName) != r.controllerName, err
}

// protect has the class carry the finalizer for as long as it is used. It patches the finalizers alone: an update would send
// the spec back as our types hold it.
func (r *classReconciler) protect(ctx context.Context, class *v1alpha1.APIGatewayClass, users []string) error {
	before := class.DeepCopy()
	change := controllerutil.RemoveFinalizer
	if r.protects && len(users) > 0 {
		change = controllerutil.AddFinalizer
	}
	if class.DeletionTimestamp != nil && r.protects && len(users) > 0 || !change(class, v1alpha1.FinalizerInUse) {
		return nil // a finalizer cannot be added any more
	}
	return r.Patch(ctx, class, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// letGo frees a deleted class of another operator that no gateway uses. It may have been ours once, and the other may not
// run; if it does, it comes to the same end.
func (r *classReconciler) letGo(ctx context.Context, class *v1alpha1.APIGatewayClass) error {
	if class.DeletionTimestamp == nil || !r.protects || !controllerutil.ContainsFinalizer(class, v1alpha1.FinalizerInUse) {
		return nil
	}
	users, err := r.users(ctx, class)
	if err != nil || len(users) > 0 {
		return err
	}
	return r.protect(ctx, class, nil)
}

// maxNamed is how many gateways a message names.
const maxNamed = 3

func inUse(users []string) string {
	subject, more := fmt.Sprintf("%d APIGateways use this class", len(users)), ""
	if len(users) == 1 {
		subject = "1 APIGateway uses this class"
	}
	named := users
	if len(users) > maxNamed {
		named, more = users[:maxNamed], fmt.Sprintf(" and %d more", len(users)-maxNamed)
	}
	return fmt.Sprintf("%s, which goes when none does: delete them, or name another class in their spec.className: %s%s",
		subject, strings.Join(named, ", "), more)
}
