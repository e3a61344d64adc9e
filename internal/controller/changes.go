// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// changes asks for a look at what objects come to refer to, or refer to no more. Thousands refer to the same, and to find out
// whether anybody does costs the more the more they are: what is come to is looked at only where matters says so. Whatever is
// left is told to leaves first, if that is given. What an object refers to besides its first may count or not by what that is
// (see servedElsewhere), and so is looked at with each change of the first.
func changes(
	refersTo func(client.Object) []types.NamespacedName,
	matters func(context.Context, types.NamespacedName) bool,
	leaves func(types.NamespacedName),
) handler.EventHandler {
	change := func(ctx context.Context, before, after []types.NamespacedName, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
		for _, name := range before {
			stays := slices.Contains(after, name)
			if stays && before[0] == after[0] {
				continue
			}
			if !stays && leaves != nil {
				leaves(name)
			}
			queue.Add(ctrl.Request{NamespacedName: name})
		}
		for _, name := range after {
			if !slices.Contains(before, name) && matters(ctx, name) {
				queue.Add(ctrl.Request{NamespacedName: name})
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			change(ctx, nil, refersTo(e.Object), queue)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			change(ctx, refersTo(e.ObjectOld), refersTo(e.ObjectNew), queue)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			change(ctx, refersTo(e.Object), nil, queue)
		},
	}
}
