// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// demand knows which sources the gateways need, so that a source's events reach them and that nobody removes a source to
// which a gateway is about to point. It is filled as gateways are reconciled, thus complete soon after a start; a gateway
// is entered before its source is read, so that no event of the source falls between.
type demand struct {
	mu     sync.Mutex
	needs  map[types.NamespacedName]need                              // by gateway
	users  map[types.NamespacedName]map[types.NamespacedName]struct{} // gateways by source
	doomed map[types.NamespacedName]types.UID                         // sources that are being removed
}

// need is what one gateway needs: the source that its plan wants, and the one that its HelmRelease refers to now. Either
// may be empty.
type need struct {
	wanted, present types.NamespacedName
}

func newDemand() *demand {
	return &demand{
		needs:  map[types.NamespacedName]need{},
		users:  map[types.NamespacedName]map[types.NamespacedName]struct{}{},
		doomed: map[types.NamespacedName]types.UID{},
	}
}

// enter replaces what the gateway needs.
func (d *demand) enter(gateway types.NamespacedName, n need) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, source := range d.needs[gateway].sources() {
		delete(d.users[source], gateway)
		if len(d.users[source]) == 0 {
			delete(d.users, source)
		}
	}
	delete(d.needs, gateway)
	for _, source := range n.sources() {
		if d.users[source] == nil {
			d.users[source] = map[types.NamespacedName]struct{}{}
		}
		d.users[source][gateway] = struct{}{}
		d.needs[gateway] = n
	}
}

// forget removes the gateway.
func (d *demand) forget(gateway types.NamespacedName) { d.enter(gateway, need{}) }

// gatewaysOf are the gateways that need the source.
func (d *demand) gatewaysOf(source types.NamespacedName) []types.NamespacedName {
	d.mu.Lock()
	defer d.mu.Unlock()
	var gateways []types.NamespacedName
	for gateway := range d.users[source] {
		gateways = append(gateways, gateway)
	}
	return gateways
}

// wants tells whether some gateway's plan wants the source.
func (d *demand) wants(source types.NamespacedName) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wantsLocked(source)
}

func (d *demand) wantsLocked(source types.NamespacedName) bool {
	for gateway := range d.users[source] {
		if d.needs[gateway].wanted == source {
			return true
		}
	}
	return false
}

// doom marks a source as being removed, unless a gateway wants it. Gateways that come to want it from now on see the mark.
func (d *demand) doom(source types.NamespacedName, uid types.UID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wantsLocked(source) {
		return false
	}
	d.doomed[source] = uid
	return true
}

// spare takes the mark away: the source stays, or is gone.
func (d *demand) spare(source types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.doomed, source)
}

// isDoomed tells whether this very source is being removed.
func (d *demand) isDoomed(source types.NamespacedName, uid types.UID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.doomed[source] == uid && uid != ""
}

func (n need) sources() []types.NamespacedName {
	var sources []types.NamespacedName
	for _, s := range []types.NamespacedName{n.wanted, n.present} {
		if s.Name != "" {
			sources = append(sources, s)
		}
	}
	return sources
}
