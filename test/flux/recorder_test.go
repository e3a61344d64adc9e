// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recorder keeps every state of some objects of one kind, in the order in which the API server made them.
type recorder[T client.Object] struct {
	mu     sync.Mutex
	states []state[T]
	news   chan struct{} // closed, and replaced, when there is one more
	marked int           // states before the last mark
	ended  error
}

// state of an object from one moment on.
type state[T client.Object] struct {
	seen   time.Time
	object T
	gone   bool // this is the last state of an object that was deleted
}

// record begins to record, with what there is, and goes on until the context ends.
func record[T client.Object](ctx context.Context, t *testing.T, list client.ObjectList, which ...client.ListOption) *recorder[T] {
	t.Helper()
	events, err := api.Watch(ctx, list, which...)
	if err != nil {
		t.Fatalf("watch %T: %v", list, err)
	}
	r := &recorder[T]{news: make(chan struct{})}
	go func() {
		defer events.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case event, ok := <-events.ResultChan():
				if !r.add(event, ok) {
					return
				}
			}
		}
	}()
	return r
}

func (r *recorder[T]) add(event watch.Event, ok bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	object, is := event.Object.(T)
	switch {
	case !ok:
		r.ended = errors.New("the watch ended before its time")
	case !is:
		r.ended = fmt.Errorf("the watch said: %v", event.Object)
	default:
		r.states = append(r.states, state[T]{time.Now(), object, event.Type == watch.Deleted})
	}
	close(r.news)
	r.news = make(chan struct{})
	return r.ended == nil
}

// mark makes all that follows begin here.
func (r *recorder[T]) mark() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marked = len(r.states)
}

// all are the states of an object, or of all objects (""), from the beginning.
func (r *recorder[T]) all(name string) []state[T] {
	states, _, _ := r.from(0)
	return of(states, name)
}

// sinceMark are the states of an object since the last mark.
func (r *recorder[T]) sinceMark(name string) []state[T] {
	states, _, _ := r.from(r.start())
	return of(states, name)
}

func of[T client.Object](states []state[T], name string) []state[T] {
	var found []state[T]
	for _, s := range states {
		if name == "" || s.object.GetName() == name {
			found = append(found, s)
		}
	}
	return found
}

func (r *recorder[T]) start() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.marked
}

func (r *recorder[T]) from(first int) ([]state[T], <-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.states[first:len(r.states):len(r.states)], r.news, r.ended
}

// latest are the objects that there are, as they are, by name.
func (r *recorder[T]) latest() map[string]T {
	states, _, _ := r.from(0)
	objects := map[string]T{}
	for _, s := range states {
		if s.gone {
			delete(objects, s.object.GetName())
		} else {
			objects[s.object.GetName()] = s.object
		}
	}
	return objects
}

// await returns the first state since the mark that passes the check, and waits for it. Without one the test ends, with what
// the check said last.
func (r *recorder[T]) await(t *testing.T, timeout time.Duration, name, what string, check func(T) error) state[T] {
	t.Helper()
	last := errors.New("there was no new state of it")
	return r.awaitState(t, timeout, name+" "+what, func(s state[T]) error {
		if s.object.GetName() != name {
			return last
		}
		if s.gone {
			last = errors.New("it is gone")
		} else {
			last = check(s.object)
		}
		return last
	})
}

// awaitGone waits until the object has been deleted.
func (r *recorder[T]) awaitGone(t *testing.T, timeout time.Duration, name string) state[T] {
	t.Helper()
	return r.awaitState(t, timeout, name+" gone", func(s state[T]) error {
		if s.object.GetName() != name || !s.gone {
			return errors.New("it is there")
		}
		return nil
	})
}

func (r *recorder[T]) awaitState(t *testing.T, timeout time.Duration, what string, check func(state[T]) error) state[T] {
	t.Helper()
	last := errors.New("nothing happened")
	deadline := time.After(timeout)
	for next := r.start(); ; {
		states, news, ended := r.from(next)
		for _, s := range states {
			if last = check(s); last == nil {
				return s
			}
		}
		if ended != nil {
			t.Fatalf("%T: %v", *new(T), ended)
		}
		next += len(states)
		select {
		case <-news:
		case <-deadline:
			t.Fatalf("%T: awaited %s for %s; last: %v", *new(T), what, timeout, last)
		}
	}
}

// version is the resourceVersion, which here orders the states of all objects of all kinds.
func version(t *testing.T, object client.Object) int {
	t.Helper()
	n, err := strconv.Atoi(object.GetResourceVersion())
	if err != nil {
		t.Fatal(err)
	}
	return n
}
