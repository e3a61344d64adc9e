// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// written remembers what this process last wrote to each HelmRelease, so that it takes no earlier state in the cache for the
// present one. Watches of gateways and of HelmReleases lag behind on their own: after a change and its revert the cache may
// hold a HelmRelease that carries what is desired again, and is Ready, while the API server has the change.
type written struct {
	mu sync.Mutex
	at map[types.NamespacedName]version
}

// version of a HelmRelease that was written.
type version struct {
	resource string
	// tried: a write to this version has no known end.
	tried bool
}

func newWritten() *written { return &written{at: map[types.NamespacedName]version{}} }

// try notes that the HelmRelease, as it is, is about to be written.
func (w *written) try(hr *helmv2.HelmRelease) { w.note(hr, true) }

// know notes the HelmRelease as the API server has just returned it.
func (w *written) know(hr *helmv2.HelmRelease) { w.note(hr, false) }

func (w *written) note(hr *helmv2.HelmRelease, tried bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[client.ObjectKeyFromObject(hr)] = version{hr.ResourceVersion, tried}
}

func (w *written) forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.at, name)
}

// isEcho tells whether the HelmRelease is just what this process wrote: the reconcile that wrote it has judged it already.
func (w *written) isEcho(o client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, known := w.at[client.ObjectKeyFromObject(o)]
	return known && !last.tried && last.resource == o.GetResourceVersion()
}

// byOthers passes the news of HelmReleases that are no echoes; without it each write would be followed by a reconcile that
// finds nothing to do.
func (w *written) byOthers() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !w.isEcho(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return !w.isEcho(e.ObjectNew) },
	}
}

// outdates tells whether a HelmRelease from the cache is older than what was written, or may be. What cannot be compared is not.
func (w *written) outdates(hr *helmv2.HelmRelease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, known := w.at[client.ObjectKeyFromObject(hr)]
	if !known {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(hr.ResourceVersion, last.resource)
	return err == nil && (order < 0 || order == 0 && last.tried)
}
