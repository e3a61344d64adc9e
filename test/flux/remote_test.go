// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// elsewhere is a second cluster, that knows nothing of Flux.
type elsewhere struct {
	cluster *cluster.Cluster
	api     client.Client
}

func startElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	there, err := cluster.Start(t.Context(), cluster.Options{Dir: t.TempDir(), Parts: cluster.KubernetesOnly, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := there.Stop(); err != nil {
			t.Error(err)
		}
	})
	reader, err := client.New(there.RESTConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &elsewhere{cluster: there, api: reader}
}

// kubeconfig is a Secret that lets Flux reach the cluster.
func (e *elsewhere) kubeconfig(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(e.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: $TEAM}\nstringData:\n  value: |\n    %s\n",
		name, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    "))
}

func (e *elsewhere) namespace(t *testing.T, name string) {
	t.Helper()
	if err := e.api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

// settings is the message that the chart's ConfigMap holds there.
func (e *elsewhere) settings(ctx context.Context, namespace, name string) (string, error) {
	config := &corev1.ConfigMap{}
	err := e.api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name + "-settings"}, config)
	return config.Data["message"], err
}

// Two remote clusters carry a gateway each, beside one here. One of them goes down: its gateway says so, the others' work on,
// and it heals when the cluster comes back.
func TestGatewaysOfTwoRemoteClustersAndTheOutageOfOne(t *testing.T) {
	t.Parallel()
	east, west := startElsewhere(t), startElsewhere(t)
	m := newTeam(t, "remote")
	for name, there := range map[string]*elsewhere{"east": east, "west": west} {
		there.namespace(t, m.name)
		m.create(there.kubeconfig(t, name))
	}
	inParis := func(more ...string) string {
		return gateway("web", append([]string{"infrastructure: {replicas: 2}",
			"cluster: {name: paris, apiVersions: [things.example.com/v1], kubeConfig: {secretRef: {name: east}}}"}, more...)...)
	}
	inOslo := func(message string) string {
		return gateway("shop", "cluster: {name: oslo, apiVersions: [v1], kubeConfig: {secretRef: {name: west}}}", "values: {message: "+message+"}",
			"release: {timeout: 12s}", "remediation: {backoff: {initial: 2s, max: 2s}}")
	}
	m.commit("Add two gateways elsewhere, and one of the same release here", files{
		"class.yaml": webClass(
			"policy: {allowRemoteClusters: true}",
			"capabilityValues: [{apiVersion: things.example.com/v1, present: {message: things are served}, absent: {message: no things}}]",
		),
		"web.yaml":  inParis(),
		"shop.yaml": inOslo("one"),
		"here.yaml": gateway("here", "release: {name: web}"),
	})
	for name, message := range map[string]string{
		"web": "chart web 1.0.0 is deployed as revision 1 on cluster paris", "shop": "chart web 1.0.0 is deployed as revision 1 on cluster oslo",
		// A release of one name here and there is no conflict.
		"here": "chart web 1.0.0 is deployed as revision 1",
	} {
		g := m.gateways.await(t, release, name, "ready", isReady(1)).object
		equal(m, "message", condition(g, v1alpha1.ConditionReady).Message, message)
	}
	// What this cluster serves says nothing of that one.
	equal(m, "settings here", m.configs.latest()["web-settings"].Data["message"], "no things")
	m.settingsAre(east, "web", "things are served")
	m.settingsAre(west, "shop", "one")
	deployment := &appsv1.Deployment{}
	if err := east.api.Get(t.Context(), client.ObjectKey{Namespace: m.name, Name: "web"}, deployment); err != nil {
		t.Fatal(err)
	}
	equal(m, "pods there", deployment.Status.ReadyReplicas, int32(2))

	m.kill(west.cluster.Process(cluster.APIServer))
	m.commit("Change all", files{"web.yaml": inParis("values: {message: two}"), "shop.yaml": inOslo("two"), "here.yaml": gateway("here", "release: {name: web}", "values: {message: two}")})
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.gateways.await(t, release, "here", "ready", isReady(2))
	m.settingsAre(east, "web", "two")
	m.gateways.await(t, time.Minute, "shop", "not ready", func(g *v1alpha1.APIGateway) error {
		if c := condition(g, v1alpha1.ConditionReady); c.Status == metav1.ConditionFalse && strings.Contains(c.Message, "connection refused") {
			return nil
		}
		return fmt.Errorf("%s", describe(g))
	})
	for _, name := range []string{"web", "here"} {
		for _, state := range m.gateways.sinceMark(name) {
			if c := condition(state.object, v1alpha1.ConditionReady); c.Status == metav1.ConditionFalse {
				t.Errorf("while the other cluster was down %s was %s: %s", name, c.Reason, c.Message)
			}
		}
	}
	m.start(west.cluster.Process(cluster.APIServer))
	m.gateways.await(t, release, "shop", "ready again", isReady(2))
	m.settingsAre(west, "shop", "two")

	m.commit("Remove one", files{"web.yaml": removed})
	m.gateways.awaitGone(t, soon, "web")
	if _, err := east.settings(t.Context(), m.name, "web"); !apierrors.IsNotFound(err) {
		t.Errorf("the release is there still: %v", err)
	}
	equal(m, "settings here", m.configs.latest()["web-settings"].Data["message"], "two")
}

func (m *team) settingsAre(there *elsewhere, name, want string) {
	m.Helper()
	message, err := there.settings(m.Context(), m.name, name)
	equal(m, "settings of "+name+" there", fmt.Sprint(message, err), want+"<nil>")
}
