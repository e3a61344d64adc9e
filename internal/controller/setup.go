// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the operator's I/O: it reads what people wrote and what Flux reports, has the pure stages of the
// flow say what is wanted and what the status is, and writes what differs. It never waits for anything: whatever has to
// happen first wakes it up by a watch.
//
// Its cost is that of its writes. What it reads lies in the cache, of ConfigMaps only names and versions; a ConfigMap that a
// gateway refers to is read once for each version. A reconcile that finds nothing to do makes no request, so that rest costs
// nothing, and a restart the lists that fill the cache. What thousands of gateways have in common, a class or a source, is not
// looked at because one more comes (see changes): whether anybody uses it is a question whose cost grows with their number,
// since the cache names all of them before the first is taken. Events, of which each new gateway has two, go one after the
// other, so that those of a thousand do not hold up their HelmReleases (see recorder). And what the cache holds is never taken
// for newer than what this process wrote (see written).
package controller

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// FieldOwner is the field manager of everything that the operator writes.
const FieldOwner = "sluice"

// Failed reconciles are tried again after minRetryDelay, doubled each time up to maxRetryDelay.
const (
	minRetryDelay = 500 * time.Millisecond
	maxRetryDelay = 5 * time.Minute
)

// Options of the operator.
type Options struct {
	// ControllerName says which classes are ours. Empty: v1alpha1.DefaultControllerName.
	ControllerName string
	// Concurrent reconciles of gateways. 0: 4.
	Concurrent int
	// WatchNamespaces are the namespaces whose gateways are served. Empty: all.
	WatchNamespaces []string
	// WatchLabelSelector chooses the gateways that are served, by their labels. nil: all.
	WatchLabelSelector labels.Selector
	// SourceGrace is how long a source must have been unused before it is removed. 0: one minute.
	SourceGrace time.Duration
	// ClusterName of the operator's own cluster, for messages. Empty: v1alpha1.DefaultClusterName.
	ClusterName string
	// ExposureMode of gateways. Empty: none.
	ExposureMode v1alpha1.ExposureMode
	// ExternalCAIssuerName is needed in mode route.
	ExternalCAIssuerName string
	// DiscoveryInterval is how often the API server is asked what it serves. 0: 30 s.
	DiscoveryInterval time.Duration
	// WatchChildren are the kinds of a release's objects whose deletion or change by hand is corrected at once.
	WatchChildren []schema.GroupVersionKind
	// Now is the clock of all that is decided and written. nil: time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.ControllerName == "" {
		o.ControllerName = v1alpha1.DefaultControllerName
	}
	if o.Concurrent == 0 {
		o.Concurrent = 4
	}
	if o.WatchLabelSelector == nil {
		o.WatchLabelSelector = labels.Everything()
	}
	if o.SourceGrace == 0 {
		o.SourceGrace = time.Minute
	}
	if o.ClusterName == "" {
		o.ClusterName = v1alpha1.DefaultClusterName
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.DiscoveryInterval == 0 {
		o.DiscoveryInterval = 30 * time.Second
	}
	return o
}

// Manager returns the options of a manager that Setup can work with; the caller adds addresses and leader election.
func (o Options) Manager() (ctrl.Options, error) {
	scheme, err := NewScheme()
	if err != nil {
		return ctrl.Options{}, err
	}
	return ctrl.Options{
		Scheme: scheme,
		Client: client.Options{FieldOwner: FieldOwner},
		Cache: cache.Options{
			DefaultNamespaces: namespaces(o.WatchNamespaces),
			DefaultTransform:  cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&corev1.ConfigMap{}:   {Transform: nameAndVersion},
				&helmv2.HelmRelease{}: {Transform: o.leanRelease},
			},
		},
	}, nil
}

// NewScheme knows every kind that the operator reads or writes.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, helmv2.AddToScheme, sourcev1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

func namespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	configs := map[string]cache.Config{}
	for _, name := range names {
		configs[name] = cache.Config{}
	}
	return configs
}

// nameAndVersion drops all that is not needed to know that a ConfigMap changed: its annotations may hold its whole data.
func nameAndVersion(in any) (any, error) {
	full, ok := in.(*metav1.PartialObjectMetadata)
	if !ok {
		return in, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name:            full.Name,
		Namespace:       full.Namespace,
		UID:             full.UID,
		ResourceVersion: full.ResourceVersion,
	}}, nil
}

// leanRelease drops what nothing here asks of a HelmRelease: who set which field, and, unless the objects of releases are
// watched, the list of them, which grows with the chart. Neither is lost: updates of a HelmRelease do not touch its status.
func (o Options) leanRelease(in any) (any, error) {
	if hr, is := in.(*helmv2.HelmRelease); is {
		hr.ManagedFields = nil
		if len(o.WatchChildren) == 0 {
			hr.Status.Inventory = nil
		}
	}
	return in, nil
}

// Setup adds the operator's controllers, and when it is ready, to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) error {
	o := options.withDefaults()
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	environment, err := newEnvironment(mgr, o)
	if err != nil {
		return err
	}
	if err := mgr.Add(environment); err != nil {
		return err
	}
	children, err := watchChildren(ctx, mgr, o)
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("readyz", synced(append(children.caches(), mgr.GetCache())...)); err != nil {
		return err
	}
	recorder, err := newRecorder(mgr)
	if err != nil {
		return err
	}
	if err := mgr.Add(recorder); err != nil {
		return err
	}
	demand := newDemand()
	if err := setupGateways(mgr, o, demand, environment, children, recorder); err != nil {
		return fmt.Errorf("controller of gateways: %w", err)
	}
	if err := mgr.Add(&gatewayMetrics{
		gateways: mgr.GetCache(), children: children, controllerName: o.ControllerName, selector: o.WatchLabelSelector,
	}); err != nil {
		return err
	}
	if err := setupClasses(mgr, o, recorder); err != nil {
		return fmt.Errorf("controller of classes: %w", err)
	}
	// Who does not see every namespace cannot know that a source is unused.
	if len(o.WatchNamespaces) > 0 {
		return nil
	}
	if err := setupSources(mgr, o, demand); err != nil {
		return fmt.Errorf("controller of sources: %w", err)
	}
	return nil
}

func controllerOptions(concurrent int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrent,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minRetryDelay, maxRetryDelay),
	}
}

// LeaseName of leader election: operators with different controller names work side by side, and so do those with different
// selectors or namespaces, however these are spelt. One that waited for the lease of another would serve nobody, and look well.
func (o Options) LeaseName() string {
	o = o.withDefaults()
	name := strings.ToLower(strings.ReplaceAll(o.ControllerName, "/", "-"))
	if len(validation.IsDNS1123Subdomain(name+"-00000000")) > 0 { // a controllerName may have _ and ~, and be as long as a name
		name = fmt.Sprintf("sluice-%x", sha256.Sum256([]byte(o.ControllerName)))[:len("sluice-")+8]
	}
	part := o.WatchLabelSelector.String()
	if namespaces := slices.Compact(slices.Sorted(slices.Values(o.WatchNamespaces))); len(namespaces) > 0 {
		part += " in " + strings.Join(namespaces, ",")
	}
	if part == "" {
		return name
	}
	return fmt.Sprintf("%s-%x", name, sha256.Sum256([]byte(part)))[:len(name)+9]
}
