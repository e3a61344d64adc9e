// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestWhatIsAppliedIsWhatRenderPrints(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "rich")
	m.create("apiVersion: v1\nkind: Secret\nmetadata: {name: values, namespace: $TEAM}\nstringData: {values.yaml: 'message: lowest'}\n")
	m.commit("Add a gateway that sets all it can", files{
		"class.yaml": webClass(
			"values: {message: of the class, extra: true, podLabels: {tier: class}, nodeSelector: {a: b}}",
			"release: {interval: 7m, maxHistory: 3, driftDetection: {ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]}}",
			"remediation: {retries: 1}",
		),
		"config.yaml": configMap("config", "values.yaml: |", "  extra: no", "  quoted: \"0644\"", "  number: 9007199254740993", "  nothing: null"),
		"web.yaml": gateway("web",
			"chart: {semver: '>=1.0.0 <2.0.0'}",
			"infrastructure:",
			"  replicas: 2",
			"  images: {web: 'registry.example.com:5000/team/web:1.1'}",
			"  labels: {team: shop}",
			"  annotations: {note: 'yes'}",
			"  resources: {requests: {cpu: 1, memory: 64Mi}, limits: {cpu: 500m}}",
			"  nodeSelector: {kubernetes.io/os: linux}",
			"  tolerations: [{key: gpu, operator: Exists}]",
			"  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}",
			"storage: {type: back}",
			"configRef: {name: config}",
			"values: {minReadySeconds: null, free: {list: [1, two, 3.5, true, null], none: null}}",
			"valuesFrom: [{kind: Secret, name: values}]",
			"release: {timeout: 90s, crds: Skip, test: {enable: true}, name: shop, createNamespace: true}",
			"remediation: {strategy: Uninstall}",
			"suspend: false",
		),
	})
	m.gateways.await(t, release, "web", "accepted", says(v1alpha1.ConditionAccepted, "True", "Accepted"))
	m.appliedWhatIsRendered(2)
}

// appliedWhatIsRendered compares what `sluice render --share-sources` prints of the team's files with what is in the cluster.
func (m *team) appliedWhatIsRendered(count int) {
	m.Helper()
	m.applied(printed(m.T, m.git.Dir(), "--share-sources"), count)
}

// applied compares what was printed with what is in the cluster: all of it, but ownerReferences, the operator's own marks, and
// what the API server and Flux add to metadata.
func (m *team) applied(objects []unstructured.Unstructured, count int) {
	m.Helper()
	equal(m, "number of objects", len(objects), count)
	for _, want := range objects {
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(want.GroupVersionKind())
		if err := api.Get(m.Context(), client.ObjectKeyFromObject(&want), got); err != nil {
			m.Errorf("printed, and not in the cluster: %v", err)
			continue
		}
		equal(m, want.GetKind()+" "+want.GetName(), withoutMarks(got), want.Object)
	}
}

func withoutMarks(live *unstructured.Unstructured) map[string]any {
	plain := &unstructured.Unstructured{Object: map[string]any{"spec": live.Object["spec"]}}
	plain.SetGroupVersionKind(live.GroupVersionKind())
	plain.SetNamespace(live.GetNamespace())
	plain.SetName(live.GetName())
	plain.SetLabels(live.GetLabels())
	annotations := live.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, "gateway.sluice.dev/") })
	if len(annotations) > 0 {
		plain.SetAnnotations(annotations)
	}
	return plain.Object
}

// printed are the objects that `sluice render` prints of a folder or a file.
func printed(t *testing.T, path string, flags ...string) []unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON(rendered(t, path, append(flags, "--output", "json")...)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// rendered is what `sluice render` prints of a folder or a file.
func rendered(t *testing.T, path string, flags ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), sluice, append([]string{"render", "--filename", path}, flags...)...)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, complaints.String())
	}
	return out
}

func TestRenderedObjectsRunWithoutAGateway(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "rendered")
	folder := t.TempDir()
	for path, text := range (files{"class.yaml": webClass(), "web.yaml": gateway("web", "infrastructure: {replicas: 2}", "values: {message: rendered}")}) {
		if err := os.WriteFile(filepath.Join(folder, path), []byte(m.expand(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	m.commit("Add what was rendered", files{"flux.yaml": string(rendered(t, folder))})
	hr := m.releases.await(t, release, "web", "ready", helmReady).object
	if !regexp.MustCompile(`^web-[0-9a-f]{8}$`).MatchString(hr.Spec.ChartRef.Name) {
		t.Errorf("the source is named %s", hr.Spec.ChartRef.Name)
	}
	equal(m, "ready pods", len(m.pods("web")), 2)
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "rendered"})
	equal(m, "gateways", len(m.gateways.all("")), 0)
	m.nothingWasWritten(begin)
}
