// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// bomb is a YAML document that is small and would be huge.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	return text
}

// deep is a map in a map in a map.
func deep(levels int) string {
	return strings.Repeat("{a: ", levels) + "1" + strings.Repeat("}", levels)
}

func manyKeys(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "key%05d: %d\n", i, i)
	}
	return text.String()
}

// What people put into ConfigMaps is their own: the operator says what is wrong with it, and goes on.
func TestHostileConfigMaps(t *testing.T) {
	w := newWorld(t)
	accepted, invalid := v1alpha1.ReasonAccepted, v1alpha1.ReasonInvalidConfig
	for name, c := range map[string]struct{ text, reason, message string }{
		"bomb":      {bomb(), invalid, "/bomb, key values.yaml, document contains excessive aliasing"},
		"recursive": {"a: &a [*a]", invalid, "anchor 'a' value contains itself"},
		"deep":      {deep(99), accepted, "spec, class and config are valid"},
		"too-deep":  {deep(1_000), invalid, "is nested more than 100 deep, which no chart's values are; make it flatter"},
		"deeper":    {deep(20_000), invalid, "/deeper, key values.yaml, exceeded max depth of 10000"},
		"keys":      {manyKeys(10_000), accepted, "spec, class and config are valid"},
		"full":      {"a: " + strings.Repeat("x", 1<<20-200), accepted, "spec, class and config are valid"},
		"escaped":   {"a: '" + strings.Repeat("<", 1<<18) + "'", v1alpha1.ReasonInvalidSpec, "the merged values take"},
		"brackets":  {strings.Repeat("[", 1<<19), invalid, "/brackets, key values.yaml, exceeded max depth of 10000"},
		"binary":    {"a: !!binary gICA", invalid, "/binary, key values.yaml, line 1: a: is not UTF-8 text, and JSON has no other"},
		"text":      {"a: !!binary aGk=", accepted, "spec, class and config are valid"},
		"control":   {"a: \"\\0\"", accepted, "spec, class and config are valid"},
		"unicode":   {`"\u202e\U0001F600": "\u2028e\u0301"`, accepted, "spec, class and config are valid"},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			w.config(name, "values.yaml", c.text)
			w.gateway(name, "configRef: {name: "+name+"}")
			w.answers(name, c.reason, c.message)
			if c.reason == accepted {
				w.sameValues(name, c.text)
			}
		})
	}
	w.T = t
	w.stillServes()
}

// answers: Accepted, for the present generation, has just that reason, and a message that ends so.
func (w *world) answers(name, reason, message string) {
	w.Helper()
	c := apimeta.FindStatusCondition(w.settled(name).Status.Conditions, v1alpha1.ConditionAccepted)
	if c.Reason != reason || !strings.Contains(c.Message, message) {
		w.Fatalf("Accepted is %s: %.300s\nwant %s: %s", c.Reason, c.Message, reason, message)
	}
}

// sameValues compares what the HelmRelease carries, beside the class's, with the document.
func (w *world) sameValues(name, document string) {
	w.Helper()
	var want, got map[string]any
	w.must(yaml.Unmarshal([]byte(document), &want))
	w.must(yaml.Unmarshal(w.awaitRelease(name, "exists", nil).Spec.Values.Raw, &got))
	delete(got, "platform")
	if inYAML(got) != inYAML(want) {
		w.Errorf("the HelmRelease carries\n%.500s\ninstead of\n%.500s", inYAML(got), inYAML(want))
	}
}

// stillServes: after all that the operator has not panicked, serves another gateway at once, and comes to rest.
func (w *world) stillServes() {
	w.Helper()
	equal(w.T, "panics", panics(w.T), 0)
	w.gateway("another", "values: {}")
	w.awaitRelease("another", "exists", nil)
	w.settled("another")
	w.expectQuiet("running")
}

func panics(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	must(t, err)
	total := 0.0
	for _, family := range families {
		if family.GetName() == "controller_runtime_reconcile_panics_total" {
			for _, m := range family.Metric {
				total += m.Counter.GetValue()
			}
		}
	}
	return total
}

func TestHostileGateways(t *testing.T) {
	w := newWorld(t)
	accepted := v1alpha1.ReasonAccepted
	for name, c := range map[string]struct{ spec, reason, message string }{
		"megabyte": {"values: {a: " + strings.Repeat("x", 1_000_000) + "}", accepted, "spec, class and config are valid"},
		"deep":     {"values: " + deep(99), accepted, "spec, class and config are valid"},
		"too-deep": {"values: " + deep(9_000), v1alpha1.ReasonInvalidSpec, "is nested more than 100 deep, which no chart's values are; make it flatter"},
		"keys":     {"values:\n" + indent(manyKeys(10_000)), accepted, "spec, class and config are valid"},
		"unicode":  {`values: {"\U0001F600 \u202e.[0]": ["\0", "\u2028", "\ufeff", "e\u0301"]}`, accepted, "spec, class and config are valid"},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			w.gateway(name, c.spec)
			w.answers(name, c.reason, c.message)
			if c.reason == accepted {
				var spec struct{ Values map[string]any }
				w.must(yaml.Unmarshal([]byte(c.spec), &spec))
				w.sameValues(name, inYAML(spec.Values))
			}
		})
	}
	// What the API server itself does not take never becomes the operator's trouble.
	w.T = t
	w.refused(t, manifest(w.ns, "huge", w.spec("values: {a: "+strings.Repeat("x", 4<<20)+"}")), "limit is 3145728")
	w.stillServes()
}

// Names at every limit: of the namespace, the class, the gateway, the release, the ConfigMap, the shard.
func TestNamesAtTheirLimits(t *testing.T) {
	w := newWorld(t)
	long := func(n int) string { return w.ns + strings.Repeat("x", n-len(w.ns)) }
	namespace, class, name, config := long(63), long(54), long(53), strings.Repeat(long(63)+".", 3)+long(61)
	w.apply(strings.NewReplacer("NAMESPACE", namespace, "CLASS", class, "CONFIG", config).Replace(`
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: CONFIG, namespace: NAMESPACE}
data: {values.yaml: "a: 1"}
---
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: CLASS}
spec:
  chart: {url: "oci://registry.example.com/charts/gateway", ref: {tag: ` + strings.Repeat("v", 128) + `}}
`))
	w.ns, w.class = namespace, class
	shard := strings.Repeat("s", 63)
	sharded := strings.Replace(manifest(namespace, name, w.spec("configRef: {name: "+config+"}\nrelease: {dependsOn: [{name: "+strings.Repeat("d", 53)+"}]}")),
		"metadata: {", "metadata: {labels: {"+v1alpha1.LabelShard+": "+shard+"}, ", 1)
	w.apply(sharded)
	hr := w.awaitRelease(name, "exists", nil)
	equal(t, "release name", hr.Spec.ReleaseName, name)
	source := &sourcev1.OCIRepository{}
	w.await("its source", func() error { return w.get(hr.Spec.ChartRef.Name, source) })
	equal(t, "length of the source's name", len(source.Name), 63)
	equal(t, "shard of the source", source.Labels[v1alpha1.LabelShard], shard)
	equal(t, "Accepted", apimeta.IsStatusConditionTrue(w.settled(name).Status.Conditions, v1alpha1.ConditionAccepted), true)
	w.delete(name)
	w.awaitGone(&v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: name}})
	w.stillServes()
}

// Flux's messages may be as long as the API lets them, in characters of four bytes; the status that repeats them stays within
// the API's limits, and so do events.
func TestMessagesAtTheAPIsLimit(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {size: 1}")
	w.gateway("web", "values: {size: 2}\nchart: {tag: 2.0.0}")
	w.awaitReason("web", "Ready", v1alpha1.ReasonPending)
	const most = 32768
	long := strings.Repeat("\U0001F4A5", most)

	gateway := w.settled("web")
	source := &sourcev1.OCIRepository{}
	w.must(w.get(gateway.Status.Source.Name, source))
	source.Status.ObservedGeneration = -1
	source.Status.Conditions = ready(metav1.ConditionFalse, sourcev1.OCIPullFailedReason, long, source.Generation)
	w.must(admin.Status().Update(w.ctx, source))
	contains(t, w.awaitReason("web", "Ready", sourcev1.OCIPullFailedReason), "\U0001F4A5")
	w.pulled(source.Name)
	hr := w.awaitRelease("web", "switched", func(hr *helmv2.HelmRelease) bool { return hr.Spec.ChartRef.Name == source.Name })

	hr.Status.ObservedGeneration, hr.Status.LastAttemptedGeneration = hr.Generation, hr.Generation
	hr.Status.LastAttemptedRevision, hr.Status.LastAttemptedRevisionDigest = "1.0.0", digestOf(source.Name)
	hr.Status.Failures, hr.Status.UpgradeFailures = 1, 1
	hr.Status.Conditions = ready(metav1.ConditionFalse, helmv2.UpgradeFailedReason, long, hr.Generation)
	for kind, reason := range map[string]string{helmv2.ReleasedCondition: helmv2.UpgradeFailedReason, meta.StalledCondition: "RetriesExceeded"} {
		status := metav1.ConditionFalse
		if kind == meta.StalledCondition {
			status = metav1.ConditionTrue
		}
		apimeta.SetStatusCondition(&hr.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: long, ObservedGeneration: hr.Generation,
		})
	}
	w.must(admin.Status().Update(w.ctx, hr))
	w.awaitReason("web", "Ready", helmv2.UpgradeFailedReason)
	longest := 0
	for _, c := range w.status("web").Conditions {
		length := utf8.RuneCountInString(c.Message)
		longest = max(longest, length)
		if length > most || !utf8.ValidString(c.Message) {
			t.Errorf("%s has %d characters, valid UTF-8: %t", c.Type, length, utf8.ValidString(c.Message))
		}
	}
	equal(t, "the longest message", longest, most)
	w.await("an event that tells of it", func() error {
		events := &corev1.EventList{}
		if err := admin.List(w.ctx, events, client.InNamespace(w.ns)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.InvolvedObject.Name == "web" && e.Reason == helmv2.UpgradeFailedReason && len(e.Message) <= 1024 && utf8.ValidString(e.Message) {
				return nil
			}
		}
		return fmt.Errorf("there are %d events", len(events.Items))
	})
	w.stillServes()
}
