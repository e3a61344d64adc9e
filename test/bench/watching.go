// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	retry "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watching knows when objects first passed a check.
type watching[T client.Object] struct {
	stop func()

	mu     sync.Mutex
	passes func(T) bool
	at     map[string]time.Time // by name
	news   chan struct{}        // closed, and replaced, when one more passed
	failed error
}

// watchFor watches for objects of the namespace that pass, those that exist included. The API server ends a watch that falls
// behind, as with thousands of changes at a time; it goes on from where it was.
func watchFor[T client.Object](
	ctx context.Context, api client.WithWatch, list client.ObjectList, passes func(T) bool, which ...client.ListOption,
) (*watching[T], error) {
	which = append(which, client.InNamespace(namespace))
	ctx, stop := context.WithCancel(ctx)
	w := &watching[T]{stop: stop, passes: passes, at: map[string]time.Time{}, news: make(chan struct{})}
	if err := w.takeAll(ctx, api, list, which); err != nil {
		stop()
		return nil, err
	}
	events, err := retry.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return api.Watch(ctx, list, slices.Concat(which, []client.ListOption{&client.ListOptions{Raw: &options}})...)
		},
	})
	if err != nil {
		stop()
		return nil, err
	}
	go func() {
		for event := range events.ResultChan() {
			w.take(event)
		}
		w.fail(errors.New("the watch has ended"))
	}()
	return w, nil
}

// takeAll takes what exists.
func (w *watching[T]) takeAll(ctx context.Context, api client.Reader, list client.ObjectList, which []client.ListOption) error {
	if err := api.List(ctx, list, which...); err != nil {
		return err
	}
	return meta.EachListItem(list, func(object runtime.Object) error {
		w.take(watch.Event{Type: watch.Added, Object: object})
		return nil
	})
}

func (w *watching[T]) take(event watch.Event) {
	now := time.Now()
	object, is := event.Object.(T)
	if !is {
		w.fail(fmt.Errorf("the watch says: %v", event.Object))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.at[object.GetName()]; known || event.Type == watch.Deleted || !w.passes(object) {
		return
	}
	w.at[object.GetName()] = now
	w.wake()
}

func (w *watching[T]) wake() {
	close(w.news)
	w.news = make(chan struct{})
}

func (w *watching[T]) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = errors.Join(w.failed, err)
	w.wake()
}

// await returns when each that is named has passed, in their order; at once if they have all done so already.
func (w *watching[T]) await(ctx context.Context, what string, names ...string) ([]time.Time, error) {
	deadline := time.After(patience)
	times := make([]time.Time, 0, len(names))
	for {
		var news <-chan struct{}
		var err error
		if times, news, err = w.more(times, names); len(times) == len(names) {
			return times, nil
		}
		missing := names[len(times)]
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline:
			return nil, fmt.Errorf("%s: %s has not in %s", what, missing, patience)
		case <-news:
		}
	}
}

// more adds the times of those that have passed, up to the first that has not.
func (w *watching[T]) more(times []time.Time, names []string) ([]time.Time, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(times) < len(names) {
		at, passed := w.at[names[len(times)]]
		if !passed {
			break
		}
		times = append(times, at)
	}
	return times, w.news, w.failed
}

// namesOf are the names of the first n gateways.
func namesOf(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = gatewayName(i)
	}
	return names
}

func latest(times []time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
