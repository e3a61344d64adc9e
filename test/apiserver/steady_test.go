// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// quiet is how long the operator is watched for writes that it has no reason for.
const quiet = 5 * time.Second

func TestNoWritesInSteadyStateNorAfterARestart(t *testing.T) {
	w := newWorld(t)
	w.running("ready", "values: {size: 1, gone: null, big: 9007199254740993, float: 1.0}\ninfrastructure: {replicas: 0}\n"+
		"release: {timeout: 90s, maxHistory: 0, test: {enable: true}, driftDetection: {ignore: [{paths: [/spec/replicas]}]}}")
	w.running("orphan", "deletionPolicy: Orphan\nsuspend: false")
	w.running("retries", "remediation: {strategy: Retry}")
	w.gateway("waits", "chart: {semver: \">=1.0.0\"}")
	w.settled("waits")
	w.running("suspended", "suspend: true")
	w.gateway("refused", "storage: {type: sqlite}")
	w.awaitReason("refused", "Accepted", v1alpha1.ReasonUnmappedField)
	w.running("switches", "values: {}")
	w.gateway("switches", "chart: {tag: 4.0.0}")
	w.awaitReason("switches", "Ready", v1alpha1.ReasonPending)

	w.expectQuiet("running")
	restart(t, options())
	w.expectQuiet("restarted")
}

// expectQuiet first lets go by what is still under way, then counts every write request, also failed ones and events.
func (w *world) expectQuiet(when string) {
	w.Helper()
	since := time.Now()
	w.awaitWithin(4*quiet, "nothing to be written", func() error {
		events, err := env.AuditEvents(since, func(e cluster.AuditEvent) bool { return e.User == operator.User && e.IsWrite() })
		if err != nil || time.Since(since) < quiet {
			return fmt.Errorf("watching (%v)", err)
		}
		if len(events) > 0 && when == "restarted" {
			w.Fatalf("%s: it wrote %v", when, events)
		}
		if len(events) > 0 {
			since = events[len(events)-1].Received.Add(time.Millisecond)
			return fmt.Errorf("%s: it wrote %v", when, events)
		}
		return nil
	})
}

func TestOneWorkerServesASecondGatewayWhileTheFirstHangs(t *testing.T) {
	w := newWorld(t)
	one := options()
	one.Concurrent = 1
	restart(t, one)
	t.Cleanup(func() { restart(t, options()) })

	w.running("hangs", "values: {size: 1}")
	w.gateway("hangs", "chart: {tag: 9.9.9}\nvalues: {size: 2}")
	w.awaitReason("hangs", "Ready", v1alpha1.ReasonPending)
	w.gateway("deleting", "values: {}")
	w.settled("deleting")
	w.uninstalls("deleting")
	w.delete("deleting")
	w.awaitDeleting("deleting")

	w.gateway("second", "values: {}")
	w.awaitRelease("second", "exists", nil)
	w.soon("patch apigateways second", "create helmreleases second")
	w.uninstalled("deleting")
}

func TestPreflightIsContentWithWhatTheChartsInstall(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	must(t, err)
	w := newWorld(t)
	w.awaitWithin(patience, "the API server publishes its schemas", func() error { return controller.Preflight(client.OpenAPIV3()) })
}

func TestWithWatchNamespacesOthersAreLeftAlone(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	o := options()
	o.WatchNamespaces = []string{w.ns}
	restart(t, o)
	t.Cleanup(func() { restart(t, options()) })
	other.gateway("web", "values: {}")
	w.gateway("web", "values: {}")
	w.awaitRelease("web", "exists", nil)
	equal(t, "HelmReleases elsewhere", len(other.releases()), 0)

	if strings.Contains(fmt.Sprint(writes(t, other.since, other.ns)), "create") {
		t.Error("it wrote elsewhere")
	}
}
