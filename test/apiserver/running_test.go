// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// running is an operator in this process, set up as the binary does it and with the rights of the chart's ServiceAccount.
type running struct {
	cancel context.CancelFunc
	ended  chan error
}

func start(o controller.Options) (*running, error) {
	log.SetLogger(logged.logger())
	options, err := o.Manager()
	if err != nil {
		return nil, err
	}
	unique := true
	options.Controller.SkipNameValidation = &unique // tests restart it in one process
	options.Metrics = metrics.Options{BindAddress: "0"}
	own := rest.CopyConfig(config)
	own.QPS = -1
	mgr, err := ctrl.NewManager(own, options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := controller.Setup(ctx, mgr, o); err != nil {
		cancel()
		return nil, err
	}
	r := &running{cancel: cancel, ended: make(chan error, 1)}
	go func() {
		r.ended <- mgr.Start(ctx)
		close(r.ended) // so that it can be stopped once more
	}()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, errors.Join(errors.New("the operator's cache does not fill"), r.stop())
	}
	return r, nil
}

func (r *running) stop() error {
	r.cancel()
	return <-r.ended
}

// restart replaces the shared operator.
func restart(t *testing.T, o controller.Options) {
	t.Helper()
	stop(t)
	begin(t, o)
}

func stop(t *testing.T) {
	t.Helper()
	must(t, sluice.stop())
}

func begin(t *testing.T, o controller.Options) {
	t.Helper()
	next, err := start(o)
	must(t, err)
	sluice = next
}

// writes are the operator's successful writes since a time in a namespace, as "update helmreleases web". Events are left
// out.
func writes(t *testing.T, since time.Time, namespace string) []string {
	t.Helper()
	var out []string
	for _, e := range requests(t, since, namespace) {
		if e.User == operator.User {
			out = append(out, describe(e))
		}
	}
	return out
}

// wrote awaits that these, and no others, are the operator's writes since a time.
func (w *world) wrote(since time.Time, want ...string) {
	w.Helper()
	w.awaitWrites(func() []string { return writes(w.T, since, w.ns) }, want)
}

// wroteOf is wrote for the writes to one kind of object.
func (w *world) wroteOf(resource string, since time.Time, want ...string) {
	w.Helper()
	w.awaitWrites(func() []string { return w.kept(since, resource) }, want)
}

// awaitWrites waits, since the API server puts a request on record once it is answered, and what came of it is seen before.
func (w *world) awaitWrites(read func() []string, want []string) {
	w.Helper()
	w.await("writes", func() error {
		if got := read(); !slices.Equal(got, want) {
			return fmt.Errorf("are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}

// soon fails the test if more than a moment lies between two requests of anybody, the first of their kind. It waits until both
// are on record.
func (w *world) soon(cause, effect string) {
	w.Helper()
	var begin, end time.Time
	w.await("both requests", func() error {
		begin, end = w.first(cause), w.first(effect)
		if begin.IsZero() || end.IsZero() {
			return fmt.Errorf("%q came at %s, %q at %s", cause, begin, effect, end)
		}
		return nil
	})
	if took := end.Sub(begin); took > within {
		w.Errorf("from %q to %q: %s", cause, effect, took)
	}
}

// first is when the first request of that kind came; zero if none is on record.
func (w *world) first(what string) time.Time {
	w.Helper()
	for _, e := range requests(w.T, w.since, w.ns) {
		if describe(e) == what {
			return e.Received
		}
	}
	return time.Time{}
}

// requests are the successful write requests since a time in a namespace, save those for events.
func requests(t *testing.T, since time.Time, namespace string) []cluster.AuditEvent {
	t.Helper()
	events, err := env.AuditEvents(since, func(e cluster.AuditEvent) bool {
		return e.IsWrite() && e.Code < 300 && e.Resource != "events" && e.Namespace == namespace
	})
	must(t, err)
	return events
}

func describe(e cluster.AuditEvent) string {
	what := e.Resource
	if e.Subresource != "" {
		what += "/" + e.Subresource
	}
	return e.Verb + " " + what + " " + e.Name
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
