// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// lookedAt tells the handler of an object that was before and is after, nil where there was or is none, and returns the names of
// what it asks to look at, sorted.
func lookedAt(t *testing.T, h handler.EventHandler, before, after client.Object) []string {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	defer queue.ShutDown()
	switch {
	case before == nil:
		h.Create(t.Context(), event.CreateEvent{Object: after}, queue)
	case after == nil:
		h.Delete(t.Context(), event.DeleteEvent{Object: before}, queue)
	default:
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, queue)
	}
	var names []string
	for queue.Len() > 0 {
		request, _ := queue.Get()
		names = append(names, request.Name)
		queue.Done(request)
	}
	slices.Sort(names)
	return names
}

func TestAClassIsLookedAtWhenItsUseMayChange(t *testing.T) {
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	class := func(name string, finalizers ...string) *v1alpha1.APIGatewayClass {
		c := &v1alpha1.APIGatewayClass{}
		c.Name, c.Finalizers = name, finalizers
		return c
	}
	going := class("going", v1alpha1.FinalizerInUse)
	going.DeletionTimestamp = new(metav1.Now())
	r := &classReconciler{
		Client: fake.NewClientBuilder().WithScheme(scheme).
			WithObjects(class("new"), class("protected", v1alpha1.FinalizerInUse), class("protected2", v1alpha1.FinalizerInUse), going).Build(),
		protects: true,
	}
	of := func(name string) client.Object {
		g := gateway()
		g.Finalizers = []string{v1alpha1.Finalizer}
		g.Spec.ClassName = &name
		return g
	}
	refused := gateway() // it was never accepted
	refused.Spec.ClassName = of("new").(*v1alpha1.APIGateway).Spec.ClassName
	moving := of("protected2").(*v1alpha1.APIGateway) // its release runs on the old class still
	moving.Status.ClassName = "protected"

	for what, c := range map[string]struct {
		before, after client.Object
		want          []string
	}{
		"comes to a class that nobody used":            {nil, of("new"), []string{"new"}},
		"comes to one that is protected":               {nil, of("protected"), nil},
		"comes to one that is being deleted":           {nil, of("going"), []string{"going"}},
		"comes to one that there is not":               {nil, of("missing"), []string{"missing"}},
		"comes, and is not accepted":                   {nil, refused, nil},
		"is accepted":                                  {refused, of("new"), []string{"new"}},
		"is edited":                                    {of("new"), of("new"), nil},
		"turns to a class that nobody used":            {of("protected"), of("new"), []string{"new", "protected"}},
		"turns to one that is protected":               {of("protected"), of("protected2"), []string{"protected"}},
		"names another, and has not left its class":    {of("protected"), moving, []string{"protected"}},
		"names its class again":                        {moving, of("protected"), []string{"protected", "protected2"}},
		"has left its old class":                       {moving, of("protected2"), []string{"protected"}},
		"goes":                                         {of("protected"), nil, []string{"protected"}},
		"goes from a class that is being deleted":      {of("going"), nil, []string{"going"}},
		"goes, and never was accepted":                 {refused, nil, nil},
		"goes while it is on its way to another class": {moving, nil, []string{"protected", "protected2"}},
	} {
		if got := lookedAt(t, r.useChanges(), c.before, c.after); !slices.Equal(got, c.want) {
			t.Errorf("a gateway %s: %q are looked at, want %q", what, got, c.want)
		}
	}

	r.protects = false // who does not see all gateways protects none
	if got := lookedAt(t, r.useChanges(), nil, of("new")); got != nil {
		t.Errorf("unprotected: %q are looked at", got)
	}
	if got := lookedAt(t, r.useChanges(), nil, of("going")); !slices.Equal(got, []string{"going"}) {
		t.Errorf("unprotected, in deletion: %q are looked at", got)
	}
}

// A gateway names a class that another operator serves, which does not take it, and then its old class again: that is free
// meanwhile, and held before and after.
func TestAClassIsFreeWhileItsGatewayNamesAnotherOperatorsClass(t *testing.T) {
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := &v1alpha1.APIGatewayClass{}, &v1alpha1.APIGatewayClass{}
	ours.Name, theirs.Name = "ours", "theirs"
	theirs.Spec.ControllerName = new("example.com/other")
	at := gateway()
	at.Finalizers = []string{v1alpha1.Finalizer}
	at.Spec.ClassName, at.Status.ClassName = new("ours"), "ours"
	r := &classReconciler{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(ours, theirs, at).
			WithStatusSubresource(&v1alpha1.APIGatewayClass{}, &v1alpha1.APIGateway{}).
			WithIndex(&v1alpha1.APIGateway{}, byClass, classesOf).Build(),
		events: events.NewFakeRecorder(9), now: time.Now, controllerName: v1alpha1.DefaultControllerName, protects: true,
	}
	expect := func(when string, before, after client.Object, held bool) {
		t.Helper()
		for _, name := range lookedAt(t, r.useChanges(), before, after) {
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}); err != nil {
				t.Fatal(err)
			}
		}
		class := &v1alpha1.APIGatewayClass{}
		if err := r.Get(t.Context(), client.ObjectKeyFromObject(ours), class); err != nil {
			t.Fatal(err)
		}
		if got := controllerutil.ContainsFinalizer(class, v1alpha1.FinalizerInUse); got != held {
			t.Errorf("%s the class is held: %v", when, got)
		}
	}
	name := func(class string) (before, after *v1alpha1.APIGateway) {
		before = at.DeepCopy()
		at.Spec.ClassName = &class
		if err := r.Update(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		return before, at
	}

	expect("before", nil, at, true)
	before, after := name("theirs")
	expect("meanwhile", before, after, false)
	// Were it not theirs, ours would be in use: whatever becomes of it, ours is looked at.
	if got := r.usedBeside(t.Context(), theirs); !slices.Equal(got, []ctrl.Request{{NamespacedName: client.ObjectKeyFromObject(ours)}}) {
		t.Errorf("when the other operator's class changes, %v are looked at", got)
	}
	before, after = name("ours")
	expect("after that", before, after, true)
	if got := r.usedBeside(t.Context(), ours); len(got) > 0 {
		t.Errorf("when the one class changes that the gateway uses, %v are looked at", got)
	}
}

func TestAClassThatLosesItsProtectionIsLookedAt(t *testing.T) {
	held, free := &v1alpha1.APIGatewayClass{}, &v1alpha1.APIGatewayClass{}
	held.Finalizers = []string{"example.com/other", v1alpha1.FinalizerInUse}
	free.Finalizers = []string{"example.com/other"}
	p := (&classReconciler{protects: true}).protectionLost()
	for what, c := range map[string]struct {
		before, after client.Object
		want          bool
	}{
		"loses it": {held, free, true},
		"gets it":  {free, held, false}, // two operators, of which one sees part of the gateways, would take turns for ever
		"keeps it": {held, held, false},
		"has none": {free, free, false},
	} {
		if got := p.Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after}); got != c.want {
			t.Errorf("a class that %s: %v", what, got)
		}
	}
	if p.Create(event.CreateEvent{Object: held}) || p.Delete(event.DeleteEvent{Object: held}) {
		t.Error("a class that comes or goes has lost nothing")
	}
	if (&classReconciler{}).protectionLost().Update(event.UpdateEvent{ObjectOld: held, ObjectNew: free}) {
		t.Error("who protects no class takes turns with who does")
	}
}

func TestASourceIsLookedAtWhenItsUseMayChange(t *testing.T) {
	w := newSourceWorld(t)
	of := func(source string) *helmv2.HelmRelease { return wantedRelease(source, "{}") }
	without := of("old")
	without.Spec.ChartRef = nil
	reported := of("old")
	reported.Status.ObservedGeneration = 1

	for what, c := range map[string]struct {
		unused        bool // the time of the source old runs
		before, after client.Object
		want          []string
		runs          bool // it still does, until the look
	}{
		"comes":                             {false, nil, of("old"), nil, false},
		"comes to one whose time runs":      {true, nil, of("old"), []string{"old"}, true},
		"comes to another":                  {true, nil, of("other"), nil, true},
		"comes without any":                 {true, nil, without, nil, true},
		"has news of Flux":                  {true, of("old"), reported, nil, true},
		"turns to another":                  {false, of("old"), of("other"), []string{"old"}, false},
		"turns to another as the time runs": {true, of("old"), of("other"), []string{"old"}, false}, // that time is not its own
		"turns to one whose time runs":      {true, of("other"), of("old"), []string{"old", "other"}, true},
		"goes":                              {false, of("old"), nil, []string{"old"}, false},
		"goes as the time runs":             {true, of("old"), nil, []string{"old"}, false},
		"goes, and had none":                {true, without, nil, nil, true},
	} {
		w.r.unused.forget(oldSource)
		if c.unused {
			w.r.unused.since(oldSource, w.now)
		}
		before, after := c.before, c.after
		if got := lookedAt(t, w.r.useChanges(), before, after); !slices.Equal(got, c.want) {
			t.Errorf("a HelmRelease that %s: %q are looked at, want %q", what, got, c.want)
		}
		if got := w.r.unused.knows(oldSource); got != c.runs {
			t.Errorf("a HelmRelease that %s: the source's time runs: %v", what, got)
		}
	}
}

// A HelmRelease that comes just between the look at the cache and the mark that the source is unused has nobody look; its going
// starts the source's time anew all the same.
func TestTheTimeOfASourceRunsFromItsLastUse(t *testing.T) {
	w := newSourceWorld(t)
	w.expect(0, time.Minute, true)
	passing := wantedRelease("old", "{}")
	w.now = w.now.Add(50 * time.Second)
	lookedAt(t, w.r.useChanges(), passing, nil)
	w.expect(0, time.Minute, true)
	w.expect(time.Minute, time.Minute, false)
}
