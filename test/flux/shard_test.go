// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// These shards' sources the suite's source-controller leaves alone. No HelmRelease of any shard is served by the suite's
// helm-controller.
const (
	withOwnSources = "outage"
	firstShard     = "shard1"
)

// startShard starts a controller of Flux that serves one shard alone, so that a test may set its feature gates or kill it
// beside other tests. To be started before the team, since it has to outlive the team's gateways.
func startShard(t *testing.T, shard, controller string, args ...string) *cluster.Process {
	t.Helper()
	args = append(args, "--watch-label-selector="+v1alpha1.LabelShard+"="+shard)
	process, err := local.StartFluxController(t.Context(), controller, controller+"-"+shard, args...)
	return untilTheEnd(t, process, err)
}

// startOperator starts an operator that serves only the classes of its controller name, for the same purpose.
func startOperator(t *testing.T, process, controllerName string, args ...string) *cluster.Process {
	t.Helper()
	args = append(args, "--controller-name="+controllerName)
	started, err := operator.StartAs(t.Context(), local, process, operatorBinary(), args...)
	return untilTheEnd(t, started, err)
}

func untilTheEnd(t *testing.T, process *cluster.Process, err error) *cluster.Process {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	return process
}

// killAndStart is a crash.
func (m *team) killAndStart(process *cluster.Process) {
	m.Helper()
	m.kill(process)
	m.start(process)
}

func (m *team) kill(process *cluster.Process) {
	m.Helper()
	if err := process.Kill(); err != nil {
		m.Fatal(err)
	}
}

func (m *team) start(process *cluster.Process) {
	m.Helper()
	if err := process.Start(m.Context()); err != nil {
		m.Fatal(err)
	}
}

// inShard puts a gateway's manifest into a shard.
func inShard(shard, manifest string) string {
	return strings.Replace(manifest, "namespace: $TEAM}", "namespace: $TEAM, labels: {"+v1alpha1.LabelShard+": "+shard+"}}", 1)
}
