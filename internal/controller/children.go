// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	watches "sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// children knows what was done to the objects of releases, their children, by others than Flux, until Flux has been asked
// to look at it. Each deed is handed on once: a request that corrects nothing, since a drift rule says so, causes no other.
// It is remembered here alone; what happens while no operator runs is for Flux's interval.
type children struct {
	// objects that are there now, metadata alone; nil while no kinds are watched.
	objects cache.Cache
	// sources tell of deeds.
	sources []watches.Source

	mu    sync.Mutex
	deeds map[types.NamespacedName]map[child]*deed // by gateway
	asked map[types.NamespacedName]asked           // by gateway
}

// child is an object of a release.
type child struct {
	kind schema.GroupVersionKind
	name types.NamespacedName
}

// deed is what somebody did to a child.
type deed struct {
	child
	// taken are the fields that Flux had set and that somebody else has set or removed; nil where the child was deleted.
	taken *fieldpath.Set
}

// asked is what was asked of Flux for a gateway.
type asked struct {
	last  time.Time
	times int
}

func newChildren() *children {
	return &children{
		deeds: map[types.NamespacedName]map[child]*deed{},
		asked: map[types.NamespacedName]asked{},
	}
}

// note remembers a deed, and with it what was done to the same child before.
func (c *children) note(gateway types.NamespacedName, d *deed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deeds[gateway] == nil {
		c.deeds[gateway] = map[child]*deed{}
	}
	if before := c.deeds[gateway][d.child]; before != nil && before.taken != nil && d.taken != nil {
		d.taken = d.taken.Union(before.taken)
	}
	c.deeds[gateway][d.child] = d
}

// disturbed are the deeds that still stand and that Flux corrects when it looks; others are forgotten. It is for a
// HelmRelease that is settled: in the middle of an upgrade nobody knows what the release will consist of.
func (c *children) disturbed(ctx context.Context, hr *helmv2.HelmRelease) ([]*deed, error) {
	gateway := client.ObjectKeyFromObject(hr)
	var standing []*deed
	for _, d := range c.deedsTo(gateway) {
		stands, err := c.stands(ctx, d)
		if err != nil {
			return nil, err
		}
		if stands && corrects(hr) && consistsOf(hr, d.child) {
			standing = append(standing, d)
		} else {
			c.drop(gateway, d)
		}
	}
	return standing, nil
}

// deedsTo are sorted, so that what is said of them does not change by chance.
func (c *children) deedsTo(gateway types.NamespacedName) []*deed {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*deed
	for _, d := range c.deeds[gateway] {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *deed) int { return strings.Compare(a.child.String(), b.child.String()) })
	return all
}

// drop forgets just this deed, not a later one to the same child.
func (c *children) drop(gateway types.NamespacedName, d *deed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deeds[gateway][d.child] == d {
		delete(c.deeds[gateway], d.child)
	}
	if len(c.deeds[gateway]) == 0 {
		delete(c.deeds, gateway)
	}
}

// handedOn: Flux has been asked to correct these.
func (c *children) handedOn(gateway types.NamespacedName, deeds []*deed, now time.Time) {
	for _, d := range deeds {
		c.drop(gateway, d)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[gateway] = asked{last: now, times: c.asked[gateway].times + 1}
}

// requests that were made for the gateway, since this process serves it.
func (c *children) requests(gateway types.NamespacedName) asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[gateway]
}

func (c *children) forget(gateway types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.deeds, gateway)
	delete(c.asked, gateway)
}

// stands tells whether nobody has made up for the deed yet, as an upgrade does that happens to follow it.
func (c *children) stands(ctx context.Context, d *deed) (bool, error) {
	now := metadataOf(d.kind)
	found, err := exists(c.objects.Get(ctx, d.name, now))
	if err != nil {
		return false, err
	}
	if d.taken == nil || !found {
		return !found, nil
	}
	set, err := setByFlux(now)
	return err == nil && !d.taken.Difference(set).Empty(), err
}

// corrects tells whether Flux corrects drift in this cluster at all. (It does so where the release runs, and other clusters
// are not watched.)
func corrects(hr *helmv2.HelmRelease) bool {
	return hr.Spec.KubeConfig == nil && hr.GetDriftDetection().GetMode() == helmv2.DriftDetectionEnabled
}

// consistsOf tells whether the child is an object of the release. Labels alone prove nothing: hooks carry them, and so does
// what an upgrade took away.
func consistsOf(hr *helmv2.HelmRelease, c child) bool {
	return hr.Status.Inventory != nil && slices.ContainsFunc(hr.Status.Inventory.Entries, func(entry helmv2.ResourceRef) bool {
		return entry.ID == c.inventoryID()
	})
}

// inventoryID is the child's name in a HelmRelease's status.
func (c child) inventoryID() string {
	name := strings.ReplaceAll(c.name.Name, ":", "__") // as of RBAC's objects
	return strings.Join([]string{c.name.Namespace, name, c.kind.Group, c.kind.Kind}, "_")
}

func (c child) String() string {
	if c.name.Namespace == "" {
		return c.kind.Kind + " " + c.name.Name
	}
	return c.kind.Kind + " " + c.name.String()
}

// maxFields is how many fields of one child are told of.
const maxFields = 3

// String tells of the deed.
func (d *deed) String() string {
	if d.taken == nil {
		return fmt.Sprintf("%s was deleted", d.child)
	}
	return fmt.Sprintf("%s was changed at %s", d.child, d.fields())
}

// fields names what was changed, or some of it.
func (d *deed) fields() string {
	var fields []string
	d.taken.Leaves().Iterate(func(path fieldpath.Path) { fields = append(fields, strings.TrimPrefix(path.String(), ".")) })
	if len(fields) > maxFields {
		fields = append(fields[:maxFields], "…")
	}
	return strings.Join(fields, ", ")
}

// reference is what was deleted, or what of it was changed.
func (d *deed) reference() *corev1.ObjectReference {
	r := &corev1.ObjectReference{
		APIVersion: d.kind.GroupVersion().String(), Kind: d.kind.Kind, Namespace: d.name.Namespace, Name: d.name.Name,
	}
	if d.taken != nil {
		r.FieldPath = d.fields()
	}
	return r
}

func metadataOf(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}
