// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestNotAcceptedLeavesTheObjectsAlone(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {size: 1}")
	source := w.sources()[0]
	since := time.Now()
	w.gateway("web", "values: {size: 2}\ninfrastructure: {labels: {a: b}}\nsuspend: true")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonUnmappedField), "spec.infrastructure.labels")
	after := w.release("web")
	equal(t, "HelmRelease", after.ResourceVersion, before.ResourceVersion)
	equal(t, "source", w.sources()[0].ResourceVersion, source.ResourceVersion)
	w.wrote(since, "update apigateways/status web")
	equal(t, "the release in the status", w.status("web").Release.Revision, int64(1))
}

func TestWhatIsWrongIsSaidInTheStatus(t *testing.T) {
	w := newWorld(t)
	w.config("no-key", "other.yaml", "a: 1")
	w.config("a-list", "values.yaml", "- a")
	w.config("colours", "values.yaml", "deployment: {replicaCount: 2}")
	w.apply(fmt.Sprintf(`
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: faulty-%s}
spec:
  chart: {url: "oci://registry.example.com/charts/gateway", ref: {tag: 1.0.0}}
  valueMappings:
  - {field: infrastructure.replicas, paths: [a.b]}
  - {field: storage.type, paths: [a]}
`, w.ns))
	t.Cleanup(func() { _, _ = env.Kubectl(w.ctx, "delete", "apigatewayclass", "faulty-"+w.ns) })
	for what, c := range map[string]struct {
		spec, reason string
		message      []string
	}{
		"unknown class":          {"className: nowhere", v1alpha1.ReasonClassNotFound, []string{"spec.className", "nowhere"}},
		"faulty class":           {"className: faulty-" + w.ns, v1alpha1.ReasonClassNotAccepted, []string{"faulty-" + w.ns}},
		"missing ConfigMap":      {w.spec("configRef: {name: absent}"), v1alpha1.ReasonConfigNotFound, []string{"spec.configRef", "absent"}},
		"ConfigMap without key":  {w.spec("configRef: {name: no-key}"), v1alpha1.ReasonConfigNotFound, []string{"no-key", "values.yaml"}},
		"ConfigMap with no map":  {w.spec("configRef: {name: a-list}"), v1alpha1.ReasonInvalidConfig, []string{"a-list", "values.yaml"}},
		"field not mapped":       {w.spec("storage: {type: sqlite}"), v1alpha1.ReasonUnmappedField, []string{"spec.storage.type"}},
		"unknown image":          {w.spec("infrastructure: {images: {router: a/b:1}}"), v1alpha1.ReasonUnmappedField, []string{"images.router"}},
		"digest without a path":  {w.spec("infrastructure: {images: {gateway: \"a/b:1@sha256:" + strings.Repeat("0", 64) + "\"}}"), "", []string{"images.gateway", "digest"}},
		"path set twice":         {w.spec("infrastructure: {replicas: 3}\nvalues: {deployment: {replicaCount: 2}}"), v1alpha1.ReasonFieldConflict, []string{"deployment.replicaCount"}},
		"path set in the config": {w.spec("infrastructure: {replicas: 3}\nconfigRef: {name: colours}"), v1alpha1.ReasonFieldConflict, []string{"deployment.replicaCount"}},
		"not a semver range":     {w.spec("chart: {semver: \"1.x.y.z\"}"), v1alpha1.ReasonInvalidSpec, []string{"spec.chart.semver"}},
	} {
		t.Run(what, func(t *testing.T) {
			name := strings.ToLower(strings.ReplaceAll(what, " ", "-"))
			w.apply(manifest(w.ns, name, c.spec))
			gateway := w.settled(name)
			accepted := apimeta.FindStatusCondition(gateway.Status.Conditions, v1alpha1.ConditionAccepted)
			if accepted.Status != metav1.ConditionFalse || c.reason != "" && accepted.Reason != c.reason {
				t.Fatalf("want %s, got %s", c.reason, inYAML(accepted))
			}
			contains(t, accepted.Message, c.message...)
			equal(t, "Stalled", apimeta.IsStatusConditionTrue(gateway.Status.Conditions, v1alpha1.ConditionStalled), true)
			if w.get(name, &helmv2.HelmRelease{}) == nil {
				t.Error("a HelmRelease was written")
			}
		})
	}
}

func TestClassStatusSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	accepted := func(status metav1.ConditionStatus) string {
		var message string
		w.await("Accepted of the class", func() error {
			class := &v1alpha1.APIGatewayClass{}
			if err := admin.Get(w.ctx, types.NamespacedName{Name: w.class}, class); err != nil {
				return err
			}
			c := apimeta.FindStatusCondition(class.Status.Conditions, v1alpha1.ConditionAccepted)
			if c == nil || c.Status != status || c.ObservedGeneration != class.Generation {
				return fmt.Errorf("is %s", inYAML(class.Status))
			}
			message = c.Message
			return nil
		})
		return message
	}
	accepted(metav1.ConditionTrue)
	w.patchClass(`{"spec":{"valueMappings":[{"field":"infrastructure.nonsense","paths":["a"]}]}}`)
	contains(t, accepted(metav1.ConditionFalse), "infrastructure.nonsense")
}

func TestTwoDefaultClassesServeNobody(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.markDefault(w.class)
	w.markDefault(other.class)
	w.apply(manifest(w.ns, "web", "values: {}"))
	contains(t, w.awaitReason("web", "Accepted", v1alpha1.ReasonClassNotFound), w.class, other.class)
}

func TestTheAPIServerRefuses(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("a", 54)
	for what, c := range map[string]struct{ name, spec, message string }{
		"tag and semver":   {"both", w.spec(`chart: {tag: 1.0.0, semver: "1.x"}`), "set at most one of tag, semver and digest"},
		"a name too long":  {long, w.spec("values: {}"), "at most 53 characters"},
		"a negative count": {"negative", w.spec("infrastructure: {replicas: -1}"), "greater than or equal to 0"},
		"a duration":       {"duration", w.spec("release: {interval: soon}"), "spec.release.interval"},
		"a local cluster":  {"local", w.spec("cluster: {apiVersions: [a/v1]}"), "spec.cluster: Invalid value"},
		"an API version":   {"api", w.spec("cluster: {kubeConfig: {secretRef: {name: a}}, apiVersions: [certs]}"), "spec.cluster.apiVersions[0]"},
		"a dotted name":    {"a.b", w.spec("values: {}"), "spec.release: Invalid value: the gateway's name has a dot"},
		"itself":           {"self", w.spec("release: {dependsOn: [{name: self}]}"), "spec.release.dependsOn: Invalid value"},
		"a literal":        {"literal", w.spec("valuesFrom: [{kind: Secret, name: a, literal: true}]"), "spec.valuesFrom: Invalid value"},
		"a long patch":     {"patch", w.spec("patches: [{patch: '" + strings.Repeat("#", 16385) + "'}]"), "spec.patches: Invalid value"},
		"a digest":         {"digest", w.spec("chart: {digest: abc}"), "spec.chart.digest: Invalid value"},
		"a namespace":      {"namespace", w.spec("release: {targetNamespace: A}"), "spec.release.targetNamespace: Invalid value"},
		"retries of Retry": {"retry", w.spec("remediation: {strategy: Retry, retries: 1}"), "spec.remediation: Invalid value"},
	} {
		t.Run(what, func(t *testing.T) {
			w.refused(t, manifest(w.ns, c.name, c.spec), c.message)
		})
	}
	w.refused(t, strings.ReplaceAll(classManifest, "REF", "{tag: 1.0.0, semver: 1.x}"), "set exactly one of tag, semver and digest")
	w.refused(t, strings.ReplaceAll(classManifest, "REF", "{}"), "set exactly one of tag, semver and digest")
	w.refused(t, strings.ReplaceAll(classManifest, "REF", "{tag: 1.0.0, semverFilter: x}"), "semverFilter goes with semver")
	patches := strings.ReplaceAll(classManifest, "ref: REF}", "ref: {tag: 1.0.0}}, policy: {allowPatches: true}")
	w.refused(t, patches, "spec.policy.allowPatches: Invalid value: allowPatches needs release.serviceAccountName")
}

func TestAReleaseCannotBeMoved(t *testing.T) {
	w := newWorld(t)
	const cannot = "cannot be changed: a release cannot be moved"
	whole := "release: {name: mine, targetNamespace: there, storageNamespace: here}\n" +
		"cluster: {name: east, kubeConfig: {secretRef: {name: east}}}"
	w.gateway("bare", "values: {}")
	w.gateway("whole", whole)
	for what, c := range map[string]struct{ name, spec, field string }{
		"a name set":         {"bare", "release: {name: other}", "spec.release.name"},
		"a target set":       {"bare", "release: {targetNamespace: there}", "spec.release.targetNamespace"},
		"a storage set":      {"bare", "release: {storageNamespace: there}", "spec.release.storageNamespace"},
		"a cluster set":      {"bare", "cluster: {name: east}", "spec.cluster.name"},
		"a kubeConfig set":   {"bare", "cluster: {kubeConfig: {secretRef: {name: east}}}", "spec.cluster.kubeConfig"},
		"a name changed":     {"whole", strings.Replace(whole, "mine", "other", 1), "spec.release.name"},
		"a name removed":     {"whole", strings.Replace(whole, "name: mine, ", "", 1), "spec.release.name"},
		"a target changed":   {"whole", strings.Replace(whole, "there", "other", 1), "spec.release.targetNamespace"},
		"a storage changed":  {"whole", strings.Replace(whole, "here}", "other}", 1), "spec.release.storageNamespace"},
		"everything removed": {"whole", "values: {}", "spec.release.name"},
		"another kubeConfig": {"whole", strings.Replace(whole, "secretRef: {name: east}", "secretRef: {name: west}", 1), "spec.cluster.kubeConfig"},
	} {
		t.Run(what, func(t *testing.T) {
			w.refused(t, manifest(w.ns, c.name, w.spec(c.spec)), c.field+": Invalid value", cannot)
		})
	}
	w.gateway("bare", "release: {name: bare}") // what it is anyway may be written out
	w.gateway("bare", "values: {}")
}

const classManifest = `
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: refused}
spec: {chart: {url: "oci://registry.example.com/charts/gateway", ref: REF}}
`

// spec is a gateway's spec of the world's class.
func (w *world) spec(rest string) string { return "className: " + w.class + "\n" + rest }

func (w *world) refused(t *testing.T, manifest string, parts ...string) {
	t.Helper()
	err := w.tryApply(manifest)
	if err == nil {
		t.Fatal("it was taken")
	}
	contains(t, err.Error(), parts...)
}

func (w *world) config(name, key, text string) {
	w.Helper()
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.ns}, Data: map[string]string{key: text}})
}
