// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	watches "sigs.k8s.io/controller-runtime/pkg/source"
)

// Labels that helm-controller puts on all objects of a release: the HelmRelease's name and namespace.
const (
	labelRelease          = "helm.toolkit.fluxcd.io/name"
	labelReleaseNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// childKind is group/version/Kind, or version/Kind of the core group.
var childKind = regexp.MustCompile(`^(?:([a-z0-9.-]+)/)?(v[0-9]+(?:(?:alpha|beta)[0-9]+)?)/([A-Z][A-Za-z0-9]*)$`)

// ParseChildKinds reads the kinds that --watch-children names.
func ParseChildKinds(names []string) ([]schema.GroupVersionKind, error) {
	var kinds []schema.GroupVersionKind
	for _, name := range names {
		parts := childKind.FindStringSubmatch(name)
		if parts == nil {
			return nil, fmt.Errorf("--watch-children: %q is neither group/version/Kind nor, of the core group, version/Kind, "+
				"such as apps/v1/Deployment and v1/Service", name)
		}
		kind := schema.GroupVersionKind{Group: parts[1], Version: parts[2], Kind: parts[3]}
		if kind.GroupKind() == (schema.GroupKind{Kind: "Secret"}) {
			return nil, fmt.Errorf("--watch-children: %s: Secrets are never watched, leave it out: Flux corrects them at its interval", name)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// watchChildren watches the kinds. It fails where one cannot be watched. These objects have a cache of their own: it holds
// what carries Flux's labels, in the namespaces that are served (all, if none is named), and of that the metadata alone.
func watchChildren(ctx context.Context, mgr ctrl.Manager, o Options) (*children, error) {
	c := newChildren()
	if len(o.WatchChildren) == 0 {
		return c, nil
	}
	for _, kind := range o.WatchChildren {
		if err := checkChildKind(ctx, mgr, kind, o.WatchNamespaces); err != nil {
			return nil, err
		}
	}
	selector, err := ofReleases(o.WatchNamespaces)
	if err != nil {
		return nil, err
	}
	objects, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:           mgr.GetHTTPClient(),
		Scheme:               mgr.GetScheme(),
		Mapper:               mgr.GetRESTMapper(),
		DefaultLabelSelector: selector,
		DefaultNamespaces:    namespaces(o.WatchNamespaces),
		DefaultTransform:     nameAndFields,
	})
	if err != nil {
		return nil, err
	}
	c.objects = objects
	for _, kind := range o.WatchChildren {
		c.sources = append(c.sources, watches.Kind(objects, metadataOf(kind), c.handler(kind)))
	}
	return c, mgr.Add(objects)
}

// caches are those that it reads from, beside the manager's.
func (c *children) caches() []cache.Cache {
	if c.objects == nil {
		return nil
	}
	return []cache.Cache{c.objects}
}

// checkChildKind lists the kind as the watch will: in each of the namespaces, or in all if there are none.
func checkChildKind(ctx context.Context, mgr ctrl.Manager, kind schema.GroupVersionKind, namespaces []string) error {
	if len(namespaces) == 0 {
		return listChildKind(ctx, mgr.GetAPIReader(), kind, metav1.NamespaceAll)
	}
	inNamespaces, err := apiutil.IsGVKNamespaced(kind, mgr.GetRESTMapper())
	if err == nil && !inNamespaces { // an error is told by the list
		return fmt.Errorf("--watch-children: %s lies in no namespace, and --watch-namespaces names those to look at: leave one of the two out",
			inFlag(kind))
	}
	for _, namespace := range namespaces {
		if err := listChildKind(ctx, mgr.GetAPIReader(), kind, namespace); err != nil {
			return err
		}
	}
	return nil
}

func listChildKind(ctx context.Context, live client.Reader, kind schema.GroupVersionKind, namespace string) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := live.List(ctx, list, client.Limit(1), client.InNamespace(namespace))
	switch {
	case apimeta.IsNoMatchError(err):
		return fmt.Errorf("--watch-children: %s is not served by this cluster", inFlag(kind))
	case apierrors.IsForbidden(err):
		return fmt.Errorf("--watch-children: %s: %w: grant list and watch, as the chart does by its value watchChildren", inFlag(kind), err)
	case err != nil:
		return fmt.Errorf("--watch-children: %s: %w", inFlag(kind), err)
	}
	return nil
}

// inFlag is the kind as --watch-children names it.
func inFlag(kind schema.GroupVersionKind) string {
	return kind.GroupVersion().String() + "/" + kind.Kind
}

// ofReleases selects the objects of releases whose HelmRelease lies in one of the namespaces, or in any.
func ofReleases(namespaces []string) (labels.Selector, error) {
	name, err := labels.NewRequirement(labelRelease, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	operator := selection.Exists
	if len(namespaces) > 0 {
		operator = selection.In
	}
	namespace, err := labels.NewRequirement(labelReleaseNamespace, operator, namespaces)
	if err != nil {
		return nil, err
	}
	return labels.NewSelector().Add(*name, *namespace), nil
}

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// handler notes deeds, and has the gateway look at them. A HelmRelease has its gateway's name.
func (c *children) handler(kind schema.GroupVersionKind) handler.TypedFuncs[*metav1.PartialObjectMetadata, ctrl.Request] {
	return handler.TypedFuncs[*metav1.PartialObjectMetadata, ctrl.Request]{
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*metav1.PartialObjectMetadata], q queue) {
			taken, err := takenFrom(e.ObjectOld, e.ObjectNew)
			if err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "cannot tell who changed an object; it is left to Flux's interval")
			}
			if taken != nil {
				c.disturb(q, e.ObjectOld, &deed{child: childOf(kind, e.ObjectOld), taken: taken})
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*metav1.PartialObjectMetadata], q queue) {
			c.disturb(q, e.Object, &deed{child: childOf(kind, e.Object)})
		},
	}
}

func (c *children) disturb(q queue, o *metav1.PartialObjectMetadata, d *deed) {
	gateway := types.NamespacedName{Namespace: o.Labels[labelReleaseNamespace], Name: o.Labels[labelRelease]}
	c.note(gateway, d)
	q.Add(ctrl.Request{NamespacedName: gateway})
}

func childOf(kind schema.GroupVersionKind, o *metav1.PartialObjectMetadata) child {
	return child{kind: kind, name: client.ObjectKeyFromObject(o)}
}
