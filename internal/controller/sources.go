// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// sourceReconciler removes the sources that this operator made and that nobody has used for a while. Gateways share
// sources, so that none of them could own one. Since when a source is unused is remembered here alone: after a restart the
// time starts anew.
type sourceReconciler struct {
	client.Client               // reads from the cache
	live          client.Reader // reads from the API server
	demand        *demand
	unused        since
	now           func() time.Time

	controllerName string
	selector       labels.Selector
	grace          time.Duration
}

func setupSources(mgr ctrl.Manager, o Options, demand *demand) error {
	r := &sourceReconciler{
		Client:         mgr.GetClient(),
		live:           mgr.GetAPIReader(),
		demand:         demand,
		unused:         since{at: map[types.NamespacedName]time.Time{}},
		now:            o.Now,
		controllerName: o.ControllerName,
		selector:       o.WatchLabelSelector,
		grace:          o.SourceGrace,
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&sourcev1.OCIRepository{}, builder.WithPredicates(changedByPeople())).
		Watches(&helmv2.HelmRelease{}, r.useChanges()).
		WithOptions(controllerOptions(1)).
		Complete(r)
}

// useChanges asks for a look at a source that a HelmRelease comes to refer to, if its time runs, or refers to no more.
func (r *sourceReconciler) useChanges() handler.EventHandler {
	return changes(sourcesOf, func(_ context.Context, source types.NamespacedName) bool { return r.unused.knows(source) }, r.unused.forget)
}

func sourcesOf(o client.Object) []types.NamespacedName {
	if source := chartSource(o.(*helmv2.HelmRelease)); source.Name != "" {
		return []types.NamespacedName{source}
	}
	return nil
}

// Reconcile removes the source if it has been unused for long enough, and else says when to look again.
func (r *sourceReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	name := req.NamespacedName
	source := &sourcev1.OCIRepository{}
	found, err := exists(r.Get(ctx, name, source))
	if err != nil {
		return ctrl.Result{}, err
	}
	if !found || source.DeletionTimestamp != nil || !madeBy(source, r.controllerName) || !looksAfter(r.selector, source.Labels) {
		r.unused.forget(name)
		r.demand.spare(name)
		return ctrl.Result{}, nil
	}
	used, err := r.used(ctx, name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if used {
		r.unused.forget(name)
		return ctrl.Result{}, nil
	}
	wanted, err := r.wanted(ctx, name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if wanted {
		r.unused.forget(name) // a gateway waits to switch to it; should it change its mind, nothing wakes us up
		return ctrl.Result{RequeueAfter: r.grace}, nil
	}
	if left := r.grace - r.now().Sub(r.unused.since(name, r.now())); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	return ctrl.Result{RequeueAfter: r.grace}, r.remove(ctx, source)
}

// remove deletes the source just as it was judged. The mark in demand keeps gateways from turning to it meanwhile, and the
// look at the API server itself finds a HelmRelease that the cache does not have yet.
func (r *sourceReconciler) remove(ctx context.Context, source *sourcev1.OCIRepository) error {
	name := client.ObjectKeyFromObject(source)
	if !r.demand.doom(name, source.UID) {
		return nil
	}
	used, err := r.usedLive(ctx, name)
	if err == nil && !used {
		err = r.Delete(ctx, source, client.Preconditions{UID: &source.UID, ResourceVersion: &source.ResourceVersion})
	}
	if err != nil || used {
		r.demand.spare(name)
		r.unused.forget(name)
	}
	if isConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// used tells whether a HelmRelease, in whatever namespace and whoever made it, refers to the source. One is enough: each of a
// thousand that share it has the question asked when it goes.
func (r *sourceReconciler) used(ctx context.Context, source types.NamespacedName) (bool, error) {
	list := &helmv2.HelmReleaseList{}
	err := r.List(ctx, list, client.MatchingFields{byChartSource: source.String()}, client.Limit(1), client.UnsafeDisableDeepCopy)
	return len(list.Items) > 0, err
}

// wanted tells whether some gateway's plan wants the source. Of gateways that another operator serves their status says so.
func (r *sourceReconciler) wanted(ctx context.Context, source types.NamespacedName) (bool, error) {
	if r.demand.wants(source) {
		return true, nil
	}
	list := &v1alpha1.APIGatewayList{}
	err := r.List(ctx, list, client.MatchingFields{byWanted: source.String()}, client.UnsafeDisableDeepCopy)
	return slices.ContainsFunc(list.Items, func(g v1alpha1.APIGateway) bool { return !serves(r.selector, &g) }), err
}

// atATime is how many HelmReleases are held in memory besides the cache.
const atATime = 500

// usedLive asks the API server itself.
func (r *sourceReconciler) usedLive(ctx context.Context, source types.NamespacedName) (bool, error) {
	list := &helmv2.HelmReleaseList{}
	for {
		if err := r.live.List(ctx, list, client.Limit(atATime), client.Continue(list.Continue)); err != nil {
			return false, err
		}
		if refersTo(list, source) || list.Continue == "" {
			return refersTo(list, source), nil
		}
	}
}

func refersTo(list *helmv2.HelmReleaseList, source types.NamespacedName) bool {
	for i := range list.Items {
		if chartSource(&list.Items[i]) == source {
			return true
		}
	}
	return false
}

// since remembers when something was first seen to be so.
type since struct {
	mu sync.Mutex
	at map[types.NamespacedName]time.Time
}

func (s *since) since(name types.NamespacedName, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[name]; !ok {
		s.at[name] = now
	}
	return s.at[name]
}

func (s *since) knows(name types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.at[name]
	return ok
}

func (s *since) forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, name)
}
