// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/monitoring"
)

// This test runs alone: it starts the operator with other arguments.
func TestMetricsTellOfGatewaysAndAlertsAndDashboardFindThem(t *testing.T) {
	address := freeAddress(t)
	watchingChildren(t, "--metrics-addr="+address)
	m := newTeam(t, "metrics")
	m.commit("Add gateways", files{
		"class.yaml":   webClass("remediation: {failureThreshold: 1, backoff: {afterThreshold: 1h}}"),
		"ready.yaml":   gateway("ready"),
		"failing.yaml": gateway("failing", shortTimeout),
		"refused.yaml": gateway("refused", "controlPlane: {host: example.com}"),
	})
	m.gateways.await(t, release, "ready", "ready", isReady(1))
	m.looked("ready")
	installed := m.gateways.await(t, release, "failing", "ready", isReady(1)).object
	m.gateways.await(t, soon, "refused", "refused", notReady("UnmappedField"))
	m.commit("Break one", files{"failing.yaml": gateway("failing", brokenImage, shortTimeout)})
	failed := m.gateways.await(t, release, "failing", "degraded, with a next attempt", func(g *v1alpha1.APIGateway) error {
		if g.Status.NextRetryTime == nil || g.Status.Release.Revision != 3 {
			return fmt.Errorf("%s", describe(g))
		}
		return nil
	}).object
	m.mark()
	m.deleteByHand(&appsv1.Deployment{}, "ready")
	m.releases.await(t, soon, "ready", "asked", wasAsked)
	m.awaitHandled("ready")

	m.tells(address, "ready", append(states("True", "Ready"),
		`corrections_total{} 1`, `failures{} 0`, `info{chart_version="1.0.0",revision="1"} 1`,
		lastSuccess(m.gateways.latest()["ready"].Status.History[0].Deployed), `stalled{} 0`))
	m.tells(address, "failing", append(states("False", "Degraded"),
		`corrections_total{} 0`, `failures{} 1`, `info{chart_version="1.0.0",revision="3"} 1`,
		lastSuccess(installed.Status.History[0].Deployed), `stalled{} 1`,
		fmt.Sprintf("next_retry_timestamp_seconds{} %d", failed.Status.NextRetryTime.Unix())))
	m.tells(address, "refused", append(states("False", "Failed"), `corrections_total{} 0`, `failures{} 0`, `stalled{} 1`))

	queries, err := monitoring.Queries(filepath.Join(root, "flux", "monitoring"))
	if err != nil {
		t.Fatal(err)
	}
	metrics := scrape(t, address)
	for _, q := range queries {
		for _, wrong := range metrics.Check(q) {
			t.Error(wrong)
		}
	}

	m.atRest()
	m.commit("Remove one", files{"ready.yaml": removed})
	m.gateways.awaitGone(t, release, "ready")
	m.eventually(soon, "its series to go", func(context.Context) error {
		if left := scrape(t, address).Lines("sluice_", map[string]string{"namespace": "metrics", "name": "ready"}); len(left) > 0 {
			return fmt.Errorf("there are %q", left)
		}
		return nil
	})
}

// states are the series of which one is 1.
func states(ready, phase string) []string {
	var lines []string
	for label, all := range map[string][]string{
		`ready{status=%q} %d`: {"False", "True", "Unknown"},
		`phase{phase=%q} %d`:  {"Degraded", "Deleting", "Failed", "Pending", "Progressing", "Ready", "Suspended"},
	} {
		for _, each := range all {
			value := 0
			if label[0] == 'r' && each == ready || label[0] == 'p' && each == phase {
				value = 1
			}
			lines = append(lines, fmt.Sprintf(label, each, value))
		}
	}
	return lines
}

func lastSuccess(at *metav1.Time) string {
	return fmt.Sprintf("last_success_timestamp_seconds{} %d", at.Unix())
}

// tells compares all series of a gateway.
func (m *team) tells(address, gateway string, want []string) {
	m.Helper()
	slices.Sort(want)
	const prefix = "sluice_apigateway_"
	m.eventually(soon, "metrics of "+gateway, func(context.Context) error {
		got := scrape(m.T, address).Lines(prefix, map[string]string{"namespace": m.name, "name": gateway, "class": m.name})
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], prefix)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}

func scrape(t *testing.T, address string) monitoring.Metrics {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	metrics, err := monitoring.Parse(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := cluster.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
