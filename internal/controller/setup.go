// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the operator's I/O: it reads what people wrote and what Flux reports, has the pure stages of the
// flow say what is wanted and what the status is, and writes what differs. It never waits for anything: whatever has to
// happen first wakes it up by a watch.
package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	// SourceGrace is how long a source must have been unused before it is removed. 0: one minute.
	SourceGrace time.Duration
}

func (o Options) withDefaults() Options {
	if o.ControllerName == "" {
		o.ControllerName = v1alpha1.DefaultControllerName
	}
	if o.Concurrent == 0 {
		o.Concurrent = 4
	}
	if o.SourceGrace == 0 {
		o.SourceGrace = time.Minute
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
			ByObject:          map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Transform: nameAndVersion}},
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

// Setup adds the operator's controllers to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) error {
	o := options.withDefaults()
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	demand := newDemand()
	if err := setupGateways(mgr, o, demand); err != nil {
		return fmt.Errorf("controller of gateways: %w", err)
	}
	if err := setupClasses(mgr, o); err != nil {
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

// LeaseName of leader election: operators with different controller names work side by side.
func (o Options) LeaseName() string {
	return strings.ToLower(strings.ReplaceAll(o.withDefaults().ControllerName, "/", "-"))
}
