// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// told hands on the notes of events.
type told chan string

func (n told) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	n <- event.Note
	return event, nil
}

func (n told) Update(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	n <- "again: " + event.Note
	return event, nil
}

func (n told) Patch(_ context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	n <- "again: " + event.Note
	return event, nil
}

// notes are those of so many events, which are sent in any order.
func (n told) notes(t *testing.T, number int) []string {
	t.Helper()
	var all []string
	for range number {
		select {
		case note := <-n:
			all = append(all, note)
		case <-time.After(10 * time.Second):
			t.Fatalf("only %q came", all)
		}
	}
	return all
}

// telling is a reconciler whose events are told.
func telling(t *testing.T) (*gatewayReconciler, told) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	sink := make(told, 10)
	broadcaster := events.NewBroadcaster(sink)
	require.NoError(t, broadcaster.StartRecordingToSinkWithContext(t.Context()))
	t.Cleanup(broadcaster.Shutdown)
	return &gatewayReconciler{events: broadcaster.NewRecorder(scheme, reporter)}, sink
}

// The library sends events that differ in their notes alone as one.
func TestEachCorrectionIsTold(t *testing.T) {
	r, sink := telling(t)
	gateway := &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Namespace: "orders", Name: "web", ResourceVersion: "1"}}
	of := func(kind, name string, fields ...string) *deed {
		d := &deed{child: child{kind: schema.GroupVersionKind{Version: "v1", Kind: kind}, name: types.NamespacedName{Namespace: "orders", Name: name}}}
		if len(fields) > 0 {
			d.taken = &fieldpath.Set{}
		}
		for _, field := range fields {
			d.taken.Insert(fieldpath.MakePathOrDie("data", field))
		}
		return d
	}
	r.announceCorrection(gateway, []*deed{of("Service", "web"), of("ConfigMap", "web", "a", "b", "c", "d")})
	r.announceCorrection(gateway, []*deed{of("ConfigMap", "web", "b")})
	r.announceCorrection(gateway, []*deed{of("ConfigMap", "web")})
	require.ElementsMatch(t, []string{
		"Service orders/web was deleted: Flux was asked to correct it",
		"ConfigMap orders/web was changed at data.a, data.b, data.c, …: Flux was asked to correct it",
		"ConfigMap orders/web was changed at data.b: Flux was asked to correct it",
		"ConfigMap orders/web was deleted: Flux was asked to correct it",
	}, sink.notes(t, 4))

	r.announceCorrection(gateway, []*deed{of("Service", "web")})
	require.Equal(t, []string{"again: Service orders/web was deleted: Flux was asked to correct it"}, sink.notes(t, 1))
}

func TestOfEachGatewayThatGoesWithItsNamespaceTheRemainsAreTold(t *testing.T) {
	r, sink := telling(t)
	for _, name := range []string{"a", "b"} {
		r.warnOfRemains(&v1alpha1.APIGateway{
			ObjectMeta: metav1.ObjectMeta{Namespace: "orders", Name: name, UID: types.UID(name)},
			Spec:       v1alpha1.APIGatewaySpec{Release: &v1alpha1.GatewayRelease{TargetNamespace: new("shared")}},
		})
	}
	require.ElementsMatch(t, []string{
		"APIGateway orders/a went with its namespace: objects of Helm release a may remain in namespace shared, and its record in namespace shared",
		"APIGateway orders/b went with its namespace: objects of Helm release b may remain in namespace shared, and its record in namespace shared",
	}, sink.notes(t, 2))
}
