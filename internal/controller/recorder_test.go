// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
)

// crowd counts the requests that are under way at the same time.
type crowd struct{ now, most, all atomic.Int32 }

func (c *crowd) request() (*eventsv1.Event, error) {
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	runtime.Gosched() // others may come now
	c.now.Add(-1)
	c.all.Add(1)
	return &eventsv1.Event{}, nil
}

func (c *crowd) Create(context.Context, *eventsv1.Event) (*eventsv1.Event, error) { return c.request() }

func (c *crowd) Update(context.Context, *eventsv1.Event) (*eventsv1.Event, error) { return c.request() }

func (c *crowd) Patch(context.Context, *eventsv1.Event, []byte) (*eventsv1.Event, error) {
	return c.request()
}

func TestEventsAreSentOneAfterTheOther(t *testing.T) {
	sink := &crowd{}
	sender := &oneByOne{EventSink: sink}
	var group sync.WaitGroup
	for range 1000 {
		for _, send := range []func() (*eventsv1.Event, error){
			func() (*eventsv1.Event, error) { return sender.Create(t.Context(), &eventsv1.Event{}) },
			func() (*eventsv1.Event, error) { return sender.Update(t.Context(), &eventsv1.Event{}) },
			func() (*eventsv1.Event, error) { return sender.Patch(t.Context(), &eventsv1.Event{}, nil) },
		} {
			group.Go(func() {
				_, err := send()
				assert.NoError(t, err)
			})
		}
	}
	group.Wait()
	require.Equal(t, int32(3000), sink.all.Load())
	require.Equal(t, int32(1), sink.most.Load(), "requests at the same time")
}
