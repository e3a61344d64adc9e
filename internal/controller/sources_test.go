// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// sourceWorld is a reconciler of sources whose cache and API server may differ, at a time of the test's choosing.
type sourceWorld struct {
	t           *testing.T
	r           *sourceReconciler
	cache, live client.Client
	now         time.Time
}

var oldSource = types.NamespacedName{Namespace: "apis", Name: "old"}

func newSourceWorld(t *testing.T, objects ...client.Object) *sourceWorld {
	t.Helper()
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	made := source("old", true)
	made.Annotations = map[string]string{v1alpha1.AnnotationMadeBy: "us"}
	build := func(objects ...client.Object) client.Client {
		return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
			WithIndex(&helmv2.HelmRelease{}, byChartSource, chartSourceKeys).WithIndex(&v1alpha1.APIGateway{}, byWanted, wantedSourceKeys).
			WithStatusSubresource(&v1alpha1.APIGateway{}).Build()
	}
	w := &sourceWorld{t: t, cache: build(made), live: build(objects...), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.r = &sourceReconciler{
		Client: w.cache, live: w.live, demand: newDemand(), unused: since{at: map[types.NamespacedName]time.Time{}},
		now: func() time.Time { return w.now }, controllerName: "us", selector: labels.Everything(),
		grace: time.Minute,
	}
	return w
}

// after lets time pass and looks at the source; it returns when to look again and whether the source is still there.
func (w *sourceWorld) after(d time.Duration) (time.Duration, bool) {
	w.t.Helper()
	w.now = w.now.Add(d)
	result, err := w.r.Reconcile(context.Background(), ctrl.Request{NamespacedName: oldSource})
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := exists(w.cache.Get(context.Background(), oldSource, &sourcev1.OCIRepository{}))
	if err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter, found
}

func (w *sourceWorld) expect(after, again time.Duration, there bool) {
	w.t.Helper()
	if gotAgain, gotThere := w.after(after); gotAgain != again || gotThere != there {
		w.t.Errorf("look again after %s, there: %v; want %s, %v", gotAgain, gotThere, again, there)
	}
}

func TestUnusedSourceIsRemovedAfterItsGrace(t *testing.T) {
	w := newSourceWorld(t)
	w.expect(0, time.Minute, true)
	w.expect(45*time.Second, 15*time.Second, true)
	w.expect(15*time.Second, time.Minute, false)
}

func TestSourceInUseIsKept(t *testing.T) {
	w := newSourceWorld(t)
	w.expect(0, time.Minute, true)
	if err := w.cache.Create(context.Background(), wantedRelease("old", "{}")); err != nil {
		t.Fatal(err)
	}
	w.expect(time.Hour, 0, true)
}

func TestSourceThatAGatewayWaitsForIsKept(t *testing.T) {
	w := newSourceWorld(t)
	web := types.NamespacedName{Namespace: "apis", Name: "web"}
	w.r.demand.enter(web, need{wanted: oldSource})
	w.expect(time.Hour, time.Minute, true)
	w.r.demand.forget(web)
	w.expect(time.Minute, time.Minute, true) // only now is it unused
	w.expect(time.Minute, time.Minute, false)
}

// In another shard another operator's demand decides, of which the status tells.
func TestSourceThatAGatewayOfAnotherShardWaitsForIsKept(t *testing.T) {
	w := newSourceWorld(t)
	w.r.selector = selector(t, "team=bank")
	g := gateway()
	g.Labels = map[string]string{"team": "shop"}
	g.Status.Source = &v1alpha1.SourceStatus{Name: "old"}
	if err := w.cache.Create(context.Background(), g); err != nil {
		t.Fatal(err)
	}
	w.expect(time.Hour, time.Minute, true)
	g.Labels["team"] = "bank" // by now its own operator's demand counts, which has no such gateway
	if err := w.cache.Update(context.Background(), g); err != nil {
		t.Fatal(err)
	}
	w.expect(time.Minute, time.Minute, true)
	w.expect(time.Minute, time.Minute, false)
}

func TestSourceOfAnotherShardIsKept(t *testing.T) {
	w := newSourceWorld(t)
	w.r.selector = selector(t, v1alpha1.LabelShard+"=shard1")
	w.expect(time.Hour, 0, true)
}

func TestSourceThatTheAPIServerKnowsToBeInUseIsKept(t *testing.T) {
	w := newSourceWorld(t, wantedRelease("old", "{}")) // the cache does not have it yet
	w.expect(0, time.Minute, true)
	w.expect(time.Minute, time.Minute, true)
	if w.r.demand.isDoomed(oldSource, "s") {
		t.Error("it is still marked")
	}
}

func TestSourceOfSomebodyElseIsKept(t *testing.T) {
	w := newSourceWorld(t)
	w.r.controllerName = "them"
	w.expect(time.Hour, 0, true)
}

func TestDemand(t *testing.T) {
	d := newDemand()
	web, api := types.NamespacedName{Name: "web"}, types.NamespacedName{Name: "api"}
	a, b := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	d.enter(web, need{wanted: b, present: a})
	d.enter(api, need{wanted: b, present: b})
	if n := len(d.gatewaysOf(b)); n != 2 {
		t.Errorf("%d gateways need b", n)
	}
	if d.wants(a) || !d.wants(b) || len(d.gatewaysOf(a)) != 1 {
		t.Error("a is not wanted, just referred to; b is wanted")
	}
	if d.doom(b, "1") || !d.doom(a, "1") {
		t.Error("a wanted source cannot be doomed, another can")
	}
	d.enter(web, need{wanted: a})
	if !d.isDoomed(a, "1") || d.isDoomed(a, "2") {
		t.Error("just that very object is doomed")
	}
	d.spare(a)
	d.forget(web)
	d.forget(api)
	if d.isDoomed(a, "1") || len(d.users)+len(d.needs)+len(d.doomed) != 0 {
		t.Errorf("something stays: %+v", d)
	}
}
