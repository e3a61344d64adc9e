// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	sources "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Indexes of the cache.
const (
	byConfig      = "configRef"   // gateways by their ConfigMap's name
	byHelmRelease = "helmRelease" // gateways by releaseKeys, and HelmReleases of others by the same
	byClass       = "class"       // gateways by the classes they name and run on
	byChartSource = "chartSource" // HelmReleases by namespace/name of their OCIRepository
	byWanted      = "wanted"      // gateways by namespace/name of the OCIRepository that they want
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &v1alpha1.APIGateway{}, byConfig, configKeys); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1alpha1.APIGateway{}, byHelmRelease, func(o client.Object) []string {
		return releaseKeys(o.(*v1alpha1.APIGateway))
	}); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1alpha1.APIGateway{}, byClass, classesOf); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1alpha1.APIGateway{}, byWanted, wantedSourceKeys); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &helmv2.HelmRelease{}, byHelmRelease, foreignReleaseKeys); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &helmv2.HelmRelease{}, byChartSource, chartSourceKeys)
}

func configKeys(o client.Object) []string {
	if ref := o.(*v1alpha1.APIGateway).Spec.ConfigRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}

func chartSourceKeys(o client.Object) []string {
	var keys []string
	for _, source := range sourcesOf(o) {
		keys = append(keys, source.String())
	}
	return keys
}

func setupGateways(mgr ctrl.Manager, o Options, demand *demand, environment *environment, children *children, recorder *recorder) error {
	r := &gatewayReconciler{
		Client:          mgr.GetClient(),
		live:            mgr.GetAPIReader(),
		configs:         &configs{versions: mgr.GetClient(), live: mgr.GetAPIReader()},
		demand:          demand,
		environment:     environment,
		children:        children,
		written:         newWritten(),
		events:          recorder,
		now:             o.Now,
		controllerName:  o.ControllerName,
		watchNamespaces: o.WatchNamespaces,
		selector:        o.WatchLabelSelector,
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.APIGateway{}, builder.WithPredicates(changedByPeople())).
		Watches(&v1alpha1.APIGateway{}, handler.EnqueueRequestsFromMapFunc(r.rivalsOf), builder.WithPredicates(claimChanged())).
		Watches(&v1alpha1.APIGatewayClass{}, handler.EnqueueRequestsFromMapFunc(r.gatewaysOfClass), builder.WithPredicates(changedByPeople())).
		Watches(&helmv2.HelmRelease{}, handler.EnqueueRequestsFromMapFunc(sameName), builder.WithPredicates(r.written.byOthers())).
		Watches(&helmv2.HelmRelease{}, handler.EnqueueRequestsFromMapFunc(r.claimantsOf), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&sourcev1.OCIRepository{}, handler.EnqueueRequestsFromMapFunc(r.gatewaysOfSource)).
		WatchesMetadata(configMapMetadata(), handler.EnqueueRequestsFromMapFunc(r.gatewaysOfConfig)).
		WatchesRawSource(sources.Func(environment.wakes(r.Client, r.gatewaysOfClass))).
		WithOptions(controllerOptions(o.Concurrent))
	for _, source := range children.sources {
		b = b.WatchesRawSource(source)
	}
	return b.Complete(r)
}

// changedByPeople passes what people change, deletion included (it raises the generation), and not our own writes of status.
func changedByPeople() predicate.Predicate {
	return predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{},
	)
}

// claimChanged passes what may decide a conflict over a Helm release: that a gateway comes, is about to go, goes, or is
// accepted or not.
func claimChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1alpha1.APIGateway), e.ObjectNew.(*v1alpha1.APIGateway)
		return refusedElsewise(before) != refusedElsewise(after) ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			news(v1alpha1.ConditionAccepted, before.Status.Conditions, after.Status.Conditions) != nil
	}}
}

func (r *gatewayReconciler) rivalsOf(ctx context.Context, o client.Object) []ctrl.Request {
	rivals, err := sameReleaseAs(ctx, r.Client, o.(*v1alpha1.APIGateway))
	return r.requests(ctx, rivals, err)
}

// gatewaysOfClass are those that name the class, and those that name none: any class may be, or cease to be, a default.
func (r *gatewayReconciler) gatewaysOfClass(ctx context.Context, class client.Object) []ctrl.Request {
	list := &v1alpha1.APIGatewayList{}
	err := r.List(ctx, list, client.UnsafeDisableDeepCopy) // only names are taken
	var found []v1alpha1.APIGateway
	for _, g := range list.Items {
		if name := orDefault(g.Spec.ClassName, ""); name == "" || name == class.GetName() {
			found = append(found, g)
		}
	}
	return r.requests(ctx, found, err)
}

func (r *gatewayReconciler) gatewaysOfConfig(ctx context.Context, config client.Object) []ctrl.Request {
	list := &v1alpha1.APIGatewayList{}
	err := r.List(ctx, list, client.InNamespace(config.GetNamespace()), client.MatchingFields{byConfig: config.GetName()})
	return r.requests(ctx, list.Items, err)
}

func (r *gatewayReconciler) gatewaysOfSource(_ context.Context, source client.Object) []ctrl.Request {
	return requestsFor(r.demand.gatewaysOf(client.ObjectKeyFromObject(source)))
}

// sameName: a HelmRelease has its gateway's name. One that has no gateway costs a look into the cache.
func sameName(_ context.Context, hr client.Object) []ctrl.Request {
	return requestsFor([]types.NamespacedName{client.ObjectKeyFromObject(hr)})
}

func (r *gatewayReconciler) requests(ctx context.Context, gateways []v1alpha1.APIGateway, err error) []ctrl.Request {
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list gateways in the cache")
		return nil
	}
	names := make([]types.NamespacedName, len(gateways))
	for i := range gateways {
		names[i] = client.ObjectKeyFromObject(&gateways[i])
	}
	return requestsFor(names)
}

func requestsFor(names []types.NamespacedName) []ctrl.Request {
	requests := make([]ctrl.Request, len(names))
	for i, name := range names {
		requests[i].NamespacedName = name
	}
	return requests
}
