// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestAClassInUseIsNotDeletedUnderItsGateways(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {size: 1}")
	w.awaitClass("is held", func(class *v1alpha1.APIGatewayClass) bool {
		return slices.Contains(class.Finalizers, v1alpha1.FinalizerInUse)
	})
	for _, name := range []string{"a", "b", "c"} {
		w.gateway(name, "values: {}")
		w.awaitRelease(name, "exists", nil)
	}
	w.deleteClass()
	w.awaitInUse(fmt.Sprintf("4 APIGateways use this class, which goes when none does: delete them, or name another class in their spec.className: "+
		"%[1]s/a, %[1]s/b, %[1]s/c and 1 more", w.ns))
	for _, name := range []string{"a", "b", "c"} {
		w.awaitGone(w.delete(name))
	}
	w.awaitInUse("1 APIGateway uses this class, which goes when none does: delete them, or name another class in their spec.className: " + w.ns + "/web")

	w.gateway("web", "values: {size: 2}") // it is served all the while
	w.awaitRelease("web", "follows its spec", hasValue("size: 2"))
	class := w.awaitClass("is accepted still", func(*v1alpha1.APIGatewayClass) bool { return true })
	equal(t, "Accepted", apimeta.IsStatusConditionTrue(class.Status.Conditions, v1alpha1.ConditionAccepted), true)

	w.awaitGone(w.delete("web"))
	w.awaitClassGone(w.class)
}

func TestAClassIsHeldOnlyWhileItIsUsed(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.gateway("web", "values: {}")
	held := func(class *v1alpha1.APIGatewayClass) bool {
		return slices.Contains(class.Finalizers, v1alpha1.FinalizerInUse)
	}
	w.awaitClass("is held", held)
	w.gatewayOf(other.class, "web", "values: {}")
	other.awaitClass("is held", held)
	w.awaitClass("is free again", func(class *v1alpha1.APIGatewayClass) bool { return !held(class) })
	w.deleteClass()
	w.awaitClassGone(w.class)
}

func TestAClassWhoseFinalizerWasTakenAwayByHandIsHeldAgain(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "values: {}")
	held := func(class *v1alpha1.APIGatewayClass) bool {
		return slices.Contains(class.Finalizers, v1alpha1.FinalizerInUse)
	}
	w.awaitClass("is held", held)
	w.patchClass(`{"metadata":{"finalizers":null}}`)
	w.awaitClass("is held again", held)
}

func TestAClassIsNotHeldByGatewaysThatAnotherOperatorServes(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	other.patchClass(`{"spec":{"controllerName":"example.com/other"}}`)
	w.running("web", "values: {}")
	w.gatewayOf(other.class, "web", "values: {}")
	w.deleteClass()
	w.awaitClassGone(w.class)
}

// Who serves the class that is named decides whether the one before is still in use.
func TestAClassThatGoesIsFreeOnceAnotherOperatorServesItsGateways(t *testing.T) {
	inUse := func(w *world) {
		w.deleteClass()
		w.awaitInUse("1 APIGateway uses this class, which goes when none does: delete them, or name another class in their spec.className: " + w.ns + "/web")
	}
	t.Run("by a class that there was", func(t *testing.T) {
		w, other := newWorld(t), newWorld(t)
		other.patchClass(`{"spec":{"controllerName":"example.com/other"}}`)
		w.running("web", "values: {}")
		inUse(w)
		w.gatewayOf(other.class, "web", "values: {}")
		w.awaitClassGone(w.class)
	})
	t.Run("by a class that comes only then", func(t *testing.T) {
		w := newWorld(t)
		later := "later-" + w.class
		t.Cleanup(func() {
			must(t, admin.Delete(context.Background(), &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: later}}))
		})
		w.running("web", "values: {}")
		w.gatewayOf(later, "web", "values: {}")
		w.awaitReason("web", "Accepted", v1alpha1.ReasonClassNotFound)
		inUse(w)
		w.apply(fmt.Sprintf("apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGatewayClass\nmetadata: {name: %s}\nspec:\n"+
			"  controllerName: example.com/other\n  chart: {url: oci://registry.example.com/charts/gateway, ref: {tag: 1.0.0}}\n", later))
		w.awaitClassGone(w.class)
	})
}

func TestAClassThatGoesTakesNoNewGateways(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	w.awaitClass("is held", func(class *v1alpha1.APIGatewayClass) bool {
		return slices.Contains(class.Finalizers, v1alpha1.FinalizerInUse)
	})
	w.deleteClass()
	w.awaitInUse("1 APIGateway uses this class, which goes when none does: delete them, or name another class in their spec.className: " + w.ns + "/web")
	w.gateway("late", "values: {}") // the operator knows by now that the class goes
	equal(t, "message", w.awaitReason("late", "Accepted", v1alpha1.ReasonClassNotFound),
		"spec.className: the APIGatewayClass "+w.class+" is being deleted and takes no new gateways; name another")
	w.awaitGone(w.delete("web"))
	w.awaitClassGone(w.class) // which the late one does not hold up
}

func TestAClassThatNobodyUsesGoesWithoutTheOperator(t *testing.T) {
	w := newWorld(t)
	w.awaitAccepted()
	stop(t)
	defer begin(t, options())
	w.deleteClass()
	w.awaitClassGone(w.class)
}

// Every fault of a class is in its status, and its gateways say ClassNotAccepted with the same words.
func TestEveryFaultOfAClassIsInItsStatusAndItsGateways(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	before := w.release("web")
	w.patchClass(`{"spec":{"chart":{"ref":{"tag":null,"semver":"1.x.y.z"},"allowedVersions":"newest"},"valueMappings":[
		{"field":"infrastructure.replica","paths":["a"]},
		{"field":"storage.type","paths":["b..c","d"]},
		{"field":"storage.sqlitePath","paths":["d.e"]}]}}`)
	words := []string{
		`spec.chart.ref.semver: "1.x.y.z" is not a semver range`,
		`spec.chart.allowedVersions: "newest" is not a semver range`,
		`spec.valueMappings[0].field: "infrastructure.replica" is no field that can be mapped; did you mean infrastructure.replicas?`,
		`spec.valueMappings[1].paths[0]: "b..c" is not a path`,
		"spec.valueMappings[2].paths[0]: d.e lies within d, which spec.valueMappings[1].paths[1] sets",
	}
	class := w.awaitClass("is not accepted", func(class *v1alpha1.APIGatewayClass) bool {
		return apimeta.IsStatusConditionFalse(class.Status.Conditions, v1alpha1.ConditionAccepted)
	})
	accepted := apimeta.FindStatusCondition(class.Status.Conditions, v1alpha1.ConditionAccepted)
	equal(t, "reason", accepted.Reason, v1alpha1.ReasonInvalidSpec)
	contains(t, accepted.Message, words...)
	contains(t, w.awaitReason("web", "Accepted", v1alpha1.ReasonClassNotAccepted), words...)
	equal(t, "HelmRelease", w.release("web").ResourceVersion, before.ResourceVersion)
}

func (w *world) deleteClass() {
	w.Helper()
	w.must(admin.Delete(w.ctx, &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.class}}))
}

func (w *world) awaitClass(what string, check func(*v1alpha1.APIGatewayClass) bool) *v1alpha1.APIGatewayClass {
	w.Helper()
	class := &v1alpha1.APIGatewayClass{}
	w.await("class "+w.class+" "+what, func() error {
		if err := admin.Get(w.ctx, types.NamespacedName{Name: w.class}, class); err != nil {
			return err
		}
		if !check(class) {
			return errors.New(inYAML(class))
		}
		return nil
	})
	return class
}

func (w *world) awaitAccepted() {
	w.Helper()
	w.awaitClass("is accepted", func(class *v1alpha1.APIGatewayClass) bool {
		return apimeta.IsStatusConditionTrue(class.Status.Conditions, v1alpha1.ConditionAccepted)
	})
}

func (w *world) awaitInUse(message string) {
	w.Helper()
	w.awaitClass("says: "+message, func(class *v1alpha1.APIGatewayClass) bool {
		c := apimeta.FindStatusCondition(class.Status.Conditions, v1alpha1.ConditionInUse)
		return c != nil && c.Reason == v1alpha1.ReasonGatewaysRemain && c.Message == message
	})
}

func (w *world) awaitClassGone(name string) {
	w.Helper()
	w.await("class "+name+" is gone", func() error {
		class := &v1alpha1.APIGatewayClass{}
		err := admin.Get(w.ctx, types.NamespacedName{Name: name}, class)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New(inYAML(class)))
	})
}
