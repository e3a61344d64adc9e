// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// bare is a client that makes the operator's writes, as the operator's ServiceAccount, and nothing else: it reads nothing,
// watches nothing, decides nothing, and what it writes lies ready before the clock runs.
type bare struct {
	people client.Client // make the gateways
	api    client.Client
	naming fluxobjects.Naming

	works  []work // by gateway
	events chan *eventsv1.Event

	mu      sync.Mutex
	sources map[string]bool // made already
}

// work is what is written for one gateway.
type work struct {
	gateway *v1alpha1.APIGateway
	objects fluxobjects.Objects
	status  v1alpha1.APIGatewayStatus
}

func newBare(s *stage, n int, naming fluxobjects.Naming) (*bare, error) {
	b := &bare{people: s.api, api: s.acting, naming: naming, events: make(chan *eventsv1.Event, 2*n), sources: map[string]bool{}}
	for i := range n {
		g := newGateway(gatewayName(i))
		g.UID, g.Generation = "to-be-known", 1
		p, err := plan.Make(plan.Input{Gateway: g, Classes: []v1alpha1.APIGatewayClass{*s.class}})
		if err != nil {
			return nil, err
		}
		objects := fluxobjects.Make(p, naming)
		status := gatewaystatus.Compute(gatewaystatus.Input{
			Gateway: g, Plan: p, Desired: objects.Release, Release: objects.Release, Source: objects.Source, Now: metav1.Now(),
		})
		b.works = append(b.works, work{newGateway(g.Name), objects, status})
	}
	return b, nil
}

// write makes the writes of the operator for a gateway that people have just made, in its order: the finalizer (here an
// annotation, which nobody has to take away again), the source, the HelmRelease, the status, and two events.
func (b *bare) write(ctx context.Context, w work) error {
	g := w.gateway
	before := g.DeepCopy()
	g.Annotations = map[string]string{"bench": "in place of the finalizer"}
	if err := b.api.Patch(ctx, g, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if b.first(w.objects.Source.Name) {
		if err := b.api.Create(ctx, w.objects.Source); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	hr := w.objects.Release
	hr.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(g, v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayKind))}
	if err := b.api.Create(ctx, hr); err != nil {
		return err
	}
	g.Status = w.status
	if err := b.api.Status().Update(ctx, g); err != nil {
		return err
	}
	for _, reason := range []string{v1alpha1.ReasonAccepted, v1alpha1.ReasonPending} {
		b.events <- event(g, reason)
	}
	return nil
}

// sendEvents sends them one after the other beside all else, as the operator's recorder does.
func (b *bare) sendEvents(ctx context.Context) error {
	for e := range b.events {
		if err := b.api.Create(ctx, e); err != nil {
			return fmt.Errorf("the bare client's event: %w", err)
		}
	}
	return nil
}

// first says whether nobody has made that source yet.
func (b *bare) first(source string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.sources[source]
	b.sources[source] = true
	return !known
}

func event(g *v1alpha1.APIGateway, reason string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: g.Namespace, GenerateName: g.Name + "-"},
		Regarding:           corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.APIGatewayKind, Namespace: g.Namespace, Name: g.Name, UID: g.UID},
		Type:                corev1.EventTypeNormal,
		Reason:              reason,
		Note:                "the bare client's event",
		Action:              "Reconcile",
		EventTime:           metav1.NowMicro(),
		ReportingController: "sluice-bench",
		ReportingInstance:   "bench",
	}
}

// run makes the gateways as people do, and the writes for each as soon as it is there. Events may still be on their way then:
// rest awaits them.
func (b *bare) run(ctx context.Context) error {
	made := make(chan work, len(b.works))
	group, ctx := errgroup.WithContext(ctx)
	for range concurrent {
		group.Go(func() error {
			for w := range made {
				if err := b.write(ctx, w); err != nil {
					return fmt.Errorf("the bare client, for %s: %w", w.gateway.Name, err)
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(made)
		return each(ctx, len(b.works), func(ctx context.Context, i int) error {
			if err := b.people.Create(ctx, b.works[i].gateway); err != nil {
				return err
			}
			made <- b.works[i]
			return nil
		})
	})
	return group.Wait()
}
