// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// This test runs alone: it measures time, and starts the operator with other arguments.
func TestOneWorkerServesOthersWhileARolloutHangs(t *testing.T) {
	restartOperator(t, "--concurrent=1")
	t.Cleanup(func() { restartOperator(t) })
	m := newTeam(t, "hangs")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.commit("Upgrade it to what hangs", files{"web.yaml": gateway("web", brokenImage, "release: {timeout: 5m}")})
	m.gateways.await(t, release, "web", "progressing", both(
		says(v1alpha1.ConditionReady, metav1.ConditionUnknown, "Progressing", "Running 'upgrade' action"), inPhase(v1alpha1.PhaseProgressing)))

	m.commit("Add another", files{"other.yaml": gateway("other")})
	hr := m.releases.await(t, soon, "other", "there", func(*helmv2.HelmRelease) error { return nil })
	if took := hr.seen.Sub(m.sawGeneration("other", 1)); took > 2*time.Second {
		t.Errorf("it took %s from the gateway to its HelmRelease", took)
	}
	m.gateways.await(t, release, "other", "ready", isReady(1))
	equal(m, "phase of the one that hangs", m.gateways.latest()["web"].Status.Phase, v1alpha1.PhaseProgressing)

	// Flux would look at the release again only after the timeout, also to uninstall it.
	restart(t, cluster.HelmController)
}

// restartOperator also works in a clean-up.
func restartOperator(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := local.Process(operator.ProcessName).Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Start(ctx, local, operatorBinary(), args...); err != nil {
		t.Fatal(err)
	}
}

// restart kills a process of the cluster, and starts it again.
func restart(t *testing.T, name string) {
	t.Helper()
	process := local.Process(name)
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := process.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}
