// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// This test runs alone.
func TestAtRestTheOperatorWritesNothing(t *testing.T) {
	m := newTeam(t, "rest")
	m.commit("Add gateways in all states that last", files{
		"class.yaml":     webClass("release: {interval: 5s}"), // Flux looks often, and finds nothing
		"config.yaml":    configMap("config", "values.yaml: 'message: from the ConfigMap'"),
		"one.yaml":       gateway("one", "infrastructure: {replicas: 2}"),
		"two.yaml":       gateway("two", "configRef: {name: config}"),
		"three.yaml":     gateway("three", "values: {extra: true, minReadySeconds: null}"),
		"orphan.yaml":    gateway("orphan", "deletionPolicy: Orphan"),
		"suspended.yaml": gateway("suspended", "suspend: true"),
		"refused.yaml":   gateway("refused", "controlPlane: {host: example.com}"),
	})
	for _, name := range []string{"one", "two", "three", "orphan"} {
		m.gateways.await(t, release, name, "ready", isReady(1))
	}
	m.gateways.await(t, soon, "suspended", "suspended", inPhase(v1alpha1.PhaseSuspended))
	m.gateways.await(t, soon, "refused", "refused", notReady("UnmappedField"))

	time.Sleep(2 * time.Second) // what those states were about to cause
	m.noWritesFor(time.Minute)

	process := local.Process(operator.ProcessName)
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := process.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.noWritesSince(begin, 30*time.Second)
	// It reads that ConfigMap when it first looks at the gateway that refers to it.
	if reads := m.requests(begin, func(e cluster.AuditEvent) bool {
		return e.Verb == "get" && e.Resource == "configmaps" && e.Name == "config"
	}); len(reads) == 0 {
		t.Error("after the restart the operator did not look at its gateways: the count means nothing")
	}
}

func (m *team) noWritesFor(duration time.Duration) {
	m.Helper()
	m.noWritesSince(time.Now(), duration)
}

// noWritesSince waits until the time is over, and counts the operator's requests that change something, leases aside.
func (m *team) noWritesSince(begin time.Time, duration time.Duration) {
	m.Helper()
	time.Sleep(time.Until(begin.Add(duration)))
	writes := m.requests(begin, func(e cluster.AuditEvent) bool { return e.IsWrite() && e.Resource != "leases" })
	for _, w := range writes {
		m.Errorf("the operator wrote: %s %s %s/%s %s at %s: %d", w.Verb, w.Resource, w.Namespace, w.Name, w.Subresource, w.Received, w.Code)
	}
}

// requests are the operator's that pass the filter.
func (m *team) requests(since time.Time, keep func(cluster.AuditEvent) bool) []cluster.AuditEvent {
	m.Helper()
	events, err := local.AuditEvents(since, func(e cluster.AuditEvent) bool { return e.User == operator.User && keep(e) })
	if err != nil {
		m.Fatal(err)
	}
	return events
}
