// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fluxcd/cli-utils/pkg/object"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/story"
)

// Limits of what one story reads.
const (
	atOnce       = 10 // requests at a time
	maxPods      = 500
	maxSubjects  = 5 // unhealthy objects, and pods, whose events are read
	maxPodEvents = 100
)

// gathering collects what a story is told from. What may not be read becomes a gap.
type gathering struct {
	*cluster
	in story.Input
	mu sync.Mutex // guards in while requests run side by side
}

// gather reads all that there is to know of a gateway. Only the gateway itself must be readable.
func (c *cluster) gather(ctx context.Context, name, program string) (story.Input, error) {
	gateway, err := c.gateway(ctx, name)
	if err != nil {
		return story.Input{}, err
	}
	g := &gathering{cluster: c, in: story.Input{Gateway: gateway, Program: program}}
	g.kustomization(ctx)
	g.release(ctx)
	g.source(ctx)
	if hr := g.in.Release; hr != nil && story.Owns(gateway, hr) {
		g.inventory(ctx, hr)
	}
	g.in.Now = metav1.NewTime(time.Now())
	g.events(ctx)
	return g.in, ctx.Err()
}

// read gets an object; false when there is none, or it may not be read.
func (g *gathering) read(ctx context.Context, kind, namespace, name string, o client.Object) bool {
	err := g.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, o)
	if err != nil && !apierrors.IsNotFound(err) {
		g.gap(fmt.Sprintf("%s %s/%s", kind, namespace, name), err)
	}
	return err == nil
}

func (g *gathering) gap(what string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.in.Gaps = append(g.in.Gaps, story.Gap{What: what, Why: err.Error()})
}

// kustomizations are read in the version that Flux has served since 2.0.
var kustomizations = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}

// kustomization reads the one that applies the gateway.
func (g *gathering) kustomization(ctx context.Context) {
	namespace, name, applied := strings.Cut(story.AppliedBy(g.in.Gateway), "/")
	if !applied {
		return
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kustomizations)
	if g.read(ctx, kustomizations.Kind, namespace, name, found) {
		g.in.Kustomization = found
		g.kustomizationSource(ctx)
	}
}

// kustomizationSource reads what the Kustomization applies from.
func (g *gathering) kustomizationSource(ctx context.Context) {
	kind, namespace, name := story.KustomizationSource(g.in.Kustomization)
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(kind))
	if g.read(ctx, kind, namespace, name, found) {
		g.in.KustomizationSource = found
	}
}

func (g *gathering) release(ctx context.Context) {
	hr := &helmv2.HelmRelease{}
	if g.read(ctx, helmv2.HelmReleaseKind, g.in.Gateway.Namespace, g.in.Gateway.Name, hr) {
		g.in.Release = hr
	}
}

func (g *gathering) source(ctx context.Context) {
	wanted := g.in.Gateway.Status.Source
	if wanted == nil {
		return
	}
	source := &sourcev1.OCIRepository{}
	if g.read(ctx, sourcev1.OCIRepositoryKind, wanted.Namespace, wanted.Name, source) {
		g.in.Source = source
	}
}

// inventory reads the objects of the release, and the pods of its workloads.
func (g *gathering) inventory(ctx context.Context, hr *helmv2.HelmRelease) {
	if hr.Spec.KubeConfig != nil {
		g.in.Gaps = append(g.in.Gaps, story.Gap{What: "objects and pods", Why: "the release is on another cluster" + clusterName(g.in.Gateway)})
		return
	}
	if hr.Status.Inventory == nil {
		return
	}
	entries := hr.Status.Inventory.Entries
	g.in.Objects = make([]story.Live, len(entries))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, entry := range entries {
		group.Go(func() error {
			g.in.Objects[i] = g.live(ctx, entry)
			return nil
		})
	}
	_ = group.Wait() // what fails is told in the story
	g.pods(ctx)
}

func clusterName(gateway *v1alpha1.APIGateway) string {
	if gateway.Spec.Cluster == nil || gateway.Spec.Cluster.Name == nil {
		return ""
	}
	return ", " + *gateway.Spec.Cluster.Name
}

// live reads an object of the inventory. Of Secrets and ConfigMaps no more is read than that they exist.
func (g *gathering) live(ctx context.Context, entry helmv2.ResourceRef) story.Live {
	id, err := object.ParseObjMetadata(entry.ID)
	if err != nil {
		return story.Live{Name: entry.ID, Unread: err.Error()}
	}
	live := story.Live{Kind: id.GroupKind.Kind, Namespace: id.Namespace, Name: id.Name}
	kind := schema.GroupVersionKind{Group: id.GroupKind.Group, Version: entry.Version, Kind: id.GroupKind.Kind}
	found, err := g.whole(ctx, kind, types.NamespacedName{Namespace: id.Namespace, Name: id.Name})
	switch {
	case err == nil:
		live.Object = found
	case !apierrors.IsNotFound(err):
		live.Unread = err.Error()
	}
	return live
}

func (g *gathering) whole(ctx context.Context, kind schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kind)
	if kind.Group != "" || kind.Kind != "Secret" && kind.Kind != "ConfigMap" {
		return found, g.Get(ctx, name, found)
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(kind)
	if err := g.Get(ctx, name, metadata); err != nil {
		return nil, err
	}
	found.SetNamespace(metadata.Namespace)
	found.SetName(metadata.Name)
	found.SetDeletionTimestamp(metadata.DeletionTimestamp)
	return found, nil
}

// pods reads those that the workloads select.
func (g *gathering) pods(ctx context.Context) {
	seen := map[types.UID]bool{}
	refused := map[string]bool{}
	for _, live := range g.in.Objects {
		selector := selectorOf(live)
		if selector == nil || refused[live.Namespace] {
			continue
		}
		list := &corev1.PodList{}
		err := g.List(ctx, list, client.InNamespace(live.Namespace), client.MatchingLabels(selector), client.Limit(maxPods))
		if err != nil {
			refused[live.Namespace] = true
			g.gap("pods in namespace "+live.Namespace, err)
		}
		for _, pod := range list.Items {
			if !seen[pod.UID] {
				seen[pod.UID] = true
				g.in.Pods = append(g.in.Pods, pod)
			}
		}
	}
}

// selectorOf is nil for what has no pods. Workloads of this kind select by labels, if at all.
func selectorOf(live story.Live) map[string]string {
	if live.Object == nil {
		return nil
	}
	switch live.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job":
		selector, _, _ := unstructured.NestedStringMap(live.Object.Object, "spec", "selector", "matchLabels")
		return selector
	}
	return nil
}

// subject is what events are about.
type subject struct{ namespace, kind, name string }

// events reads those of the gateway and of all that is not as it should be, which the story so far tells.
func (g *gathering) events(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, s := range g.subjects() {
		group.Go(func() error {
			g.eventsAbout(ctx, s)
			return nil
		})
	}
	_ = group.Wait() // what fails is told in the story
}

func (g *gathering) subjects() []subject {
	gateway := g.in.Gateway
	all := []subject{{gateway.Namespace, v1alpha1.APIGatewayKind, gateway.Name}}
	if g.in.Release != nil {
		all = append(all, subject{g.in.Release.Namespace, helmv2.HelmReleaseKind, g.in.Release.Name})
	}
	if g.in.Source != nil {
		all = append(all, subject{g.in.Source.Namespace, sourcev1.OCIRepositoryKind, g.in.Source.Name})
	}
	told := story.Tell(g.in)
	if told.Verdict.Behind != "" {
		all = append(all, subject{told.Kustomization.Namespace, kustomizations.Kind, told.Kustomization.Name})
	}
	for _, o := range told.Objects[:min(len(told.Objects), maxSubjects)] {
		if o.Unhealthy() && o.Namespace != "" {
			all = append(all, subject{o.Namespace, o.Kind, o.Name})
		}
	}
	pods := told.Pods.NotReady
	for _, pod := range pods[:min(len(pods), maxSubjects)] {
		all = append(all, subject{pod.Namespace, "Pod", pod.Name})
	}
	return append(all, g.gonePods()...)
}

// gonePods: after a failure, what kept pods from running that a rollback has removed, or from coming to be, is left in events
// alone.
func (g *gathering) gonePods() []subject {
	if g.in.Gateway.Status.Failures == 0 || g.in.Release == nil || g.in.Release.Spec.KubeConfig != nil {
		return nil
	}
	var all []subject
	for _, kind := range []string{"Pod", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"} {
		all = append(all, subject{g.in.Release.GetReleaseNamespace(), kind, ""})
	}
	return all
}

func (g *gathering) eventsAbout(ctx context.Context, s subject) {
	fields := client.MatchingFields{"involvedObject.kind": s.kind, "involvedObject.name": s.name}
	if s.name == "" {
		fields = client.MatchingFields{"involvedObject.kind": s.kind, "type": corev1.EventTypeWarning}
	}
	list := &corev1.EventList{}
	if err := g.List(ctx, list, client.InNamespace(s.namespace), fields, client.Limit(maxPodEvents)); err != nil {
		g.refusedEvents(s.namespace, err)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range list.Items {
		if s.name != "" || g.isOfRelease(e.InvolvedObject.Name) {
			g.in.Events = append(g.in.Events, e)
		}
	}
}

// refusedEvents is one gap a namespace.
func (g *gathering) refusedEvents(namespace string, err error) {
	what := "events in namespace " + namespace
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, gap := range g.in.Gaps {
		if gap.What == what {
			return
		}
	}
	g.in.Gaps = append(g.in.Gaps, story.Gap{What: what, Why: err.Error()})
}

// isOfRelease: a pod's name, and a ReplicaSet's, begins with that of the workload that made it.
func (g *gathering) isOfRelease(pod string) bool {
	if release := g.in.Release.GetReleaseName(); pod == release || hasOwner(pod, release) {
		return true
	}
	for _, live := range g.in.Objects {
		if selectorOf(live) != nil && hasOwner(pod, live.Name) {
			return true
		}
	}
	return false
}

func hasOwner(pod, owner string) bool {
	return len(pod) > len(owner) && pod[:len(owner)] == owner && pod[len(owner)] == '-'
}
