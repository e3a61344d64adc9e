// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	eventsv1 "k8s.io/api/events/v1"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
)

// reporter is the name under which events are told.
const reporter = "sluice-controller"

// recorder sends events, all of them one after the other. The library's sender starts a request for each at once, and so the
// events of a thousand new gateways, two each, would take the API server's time from their HelmReleases.
type recorder struct {
	events.EventRecorder
	broadcaster events.EventBroadcaster
}

// newRecorder is to be added to the manager, which starts it: events that are told before that are dropped.
func newRecorder(mgr ctrl.Manager) (*recorder, error) {
	client, err := eventsclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	broadcaster := events.NewBroadcaster(&oneByOne{EventSink: &events.EventSinkImpl{Interface: client}})
	return &recorder{EventRecorder: broadcaster.NewRecorder(mgr.GetScheme(), reporter), broadcaster: broadcaster}, nil
}

// Start sends until the context ends.
func (r *recorder) Start(ctx context.Context) error {
	if err := r.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	r.broadcaster.Shutdown()
	return nil
}

// NeedLeaderElection is false, so that it is started before the controllers.
func (r *recorder) NeedLeaderElection() bool { return false }

// oneByOne makes one request at a time.
type oneByOne struct {
	events.EventSink
	mu sync.Mutex
}

func (s *oneByOne) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.EventSink.Create(ctx, event)
}

func (s *oneByOne) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.EventSink.Update(ctx, event)
}

func (s *oneByOne) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.EventSink.Patch(ctx, event, data)
}
