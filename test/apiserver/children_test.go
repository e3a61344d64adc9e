// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

func watching(t *testing.T, kinds ...string) controller.Options {
	t.Helper()
	o := options()
	var err error
	o.WatchChildren, err = controller.ParseChildKinds(kinds)
	must(t, err)
	return o
}

func TestKindsThatCannotBeWatchedEndTheStart(t *testing.T) {
	const refused = `apps/v1/StatefulSet: statefulsets.apps is forbidden: User "system:serviceaccount:sluice-system:sluice" cannot list ` +
		`resource "statefulsets" in API group "apps" at the cluster scope: grant list and watch, as the chart does by its value watchChildren`
	for kind, want := range map[string]string{
		"apps/v1/Deploymnt":      "apps/v1/Deploymnt is not served by this cluster",
		"example.com/v1/Gateway": "example.com/v1/Gateway is not served by this cluster",
		"apps/v1/StatefulSet":    refused,
	} {
		o, err := start(watching(t, kind))
		if err == nil {
			must(t, o.stop())
			t.Errorf("%s: it starts", kind)
			continue
		}
		equal(t, kind, err.Error(), "--watch-children: "+want)
	}
}

// With --watch-namespaces only these are looked at, and nothing outside them is needed.
func TestInNamedNamespacesKindsAreLookedAtThereAlone(t *testing.T) {
	for kind, want := range map[string]string{
		"v1/Namespace": "v1/Namespace lies in no namespace, and --watch-namespaces names those to look at: leave one of the two out",
		"apps/v1/StatefulSet": `apps/v1/StatefulSet: statefulsets.apps is forbidden: User "system:serviceaccount:sluice-system:sluice" cannot list ` +
			`resource "statefulsets" in API group "apps" in the namespace "default": grant list and watch, as the chart does by its value watchChildren`,
	} {
		o := watching(t, kind)
		o.WatchNamespaces = []string{"default"}
		_, err := start(o)
		if err == nil {
			t.Fatalf("%s: it starts", kind)
		}
		equal(t, kind, err.Error(), "--watch-children: "+want)
	}
}

// child makes a ConfigMap as helm-controller does for a release.
func (w *world) child(release, name string, data map[string]string) {
	w.Helper()
	labels := map[string]string{"helm.toolkit.fluxcd.io/name": release, "helm.toolkit.fluxcd.io/namespace": w.ns}
	config := applycorev1.ConfigMap(name, w.ns).WithLabels(labels).WithData(data)
	w.must(admin.Apply(w.ctx, config, client.FieldOwner("helm-controller"), client.ForceOwnership))
}

// says sets the conditions of the HelmRelease, and that it consists of these ConfigMaps.
func (w *world) says(release string, conditions []metav1.Condition, configs ...string) {
	w.Helper()
	hr := w.release(release)
	hr.Status.Conditions = conditions
	hr.Status.Inventory = &helmv2.ResourceInventory{Entries: []helmv2.ResourceRef{}}
	for _, name := range configs {
		hr.Status.Inventory.Entries = append(hr.Status.Inventory.Entries, helmv2.ResourceRef{ID: w.ns + "_" + name + "__ConfigMap", Version: "v1"})
	}
	w.must(admin.Status().Update(w.ctx, hr))
}

func (w *world) remove(config string) {
	w.Helper()
	w.must(admin.Delete(w.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: config, Namespace: w.ns}}))
}

// notes are what events of the reason say of the gateway.
func (w *world) notes(gateway, reason string) string {
	w.Helper()
	list := &corev1.EventList{}
	w.must(admin.List(w.ctx, list, client.InNamespace(w.ns)))
	var all []string
	for _, e := range list.Items {
		if e.InvolvedObject.Name == gateway && e.Reason == reason {
			all = append(all, e.Message)
		}
	}
	return strings.Join(all, "\n")
}

func TestADeedInMidUpgradeIsHandedOnWhenFluxHasSettled(t *testing.T) {
	layout, err := toolchain.Find()
	must(t, err)
	chart := filepath.Join(layout.Root(), "charts", "sluice")
	must(t, operator.Apply(t.Context(), env, chart, "--set-json", `watchChildren=[{"apiVersion":"v1","kind":"ConfigMap"}]`))
	restart(t, watching(t, "v1/ConfigMap"))
	t.Cleanup(func() { restart(t, options()) })

	w := newWorld(t)
	hr := w.running("web", "values: {}")
	for _, name := range []string{"kept", "edited", "pruned", "hook", "mended"} {
		w.child("web", name, map[string]string{"a": "1"})
	}
	idle := ready(metav1.ConditionTrue, helmv2.UpgradeSucceededReason, "Helm upgrade succeeded", hr.Generation)
	acting := append(ready(metav1.ConditionUnknown, meta.ProgressingReason, "Running 'upgrade' action", hr.Generation), metav1.Condition{
		Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: meta.ProgressingReason,
		Message: "Running 'upgrade' action", ObservedGeneration: hr.Generation, LastTransitionTime: metav1.Now(),
	})
	all := []string{"kept", "edited", "pruned", "mended"}
	w.says("web", idle, all...)
	time.Sleep(within) // in which it would have acted
	equal(t, "requests before", strings.Join(w.kept(w.since, "helmreleases"), ", "), "create helmreleases web")

	w.says("web", acting, all...)
	w.awaitReason("web", "Ready", "Progressing")
	w.patch(&corev1.ConfigMap{}, "edited", `{"data":{"a":"2"}}`)
	w.remove("hook")
	w.remove("pruned")
	w.patch(&corev1.ConfigMap{}, "mended", `{"data":{"a":"2"}}`)
	w.child("web", "mended", map[string]string{"a": "1"})
	w.patch(&corev1.ConfigMap{}, "kept", `{"data":{"b":"not Flux's"}}`)
	time.Sleep(within) // in which it would have acted
	equal(t, "requests in mid-upgrade", strings.Join(w.kept(w.since, "helmreleases"), ", "), "create helmreleases web")

	w.says("web", idle, "kept", "edited", "mended")
	w.awaitRelease("web", "asked to correct", func(hr *helmv2.HelmRelease) bool { return hr.Annotations[meta.ReconcileRequestAnnotation] != "" })
	w.await("the event", func() error {
		if seen := w.notes("web", "CorrectionRequested"); seen != "ConfigMap "+w.ns+"/edited was changed at data.a: Flux was asked to correct it" {
			return errors.New("it says: " + seen)
		}
		return nil
	})
	time.Sleep(within) // in which it would have acted
	equal(t, "requests after", strings.Join(w.kept(w.since, "helmreleases"), ", "), "create helmreleases web, update helmreleases web")

	// What was handed on is done with, also when Flux corrects nothing.
	hr = w.release("web")
	hr.Status.SetLastHandledReconcileRequest(hr.Annotations[meta.ReconcileRequestAnnotation])
	w.must(admin.Status().Update(w.ctx, hr))
	time.Sleep(11 * time.Second) // longer than the least time between two requests
	equal(t, "requests in the end", len(w.kept(w.since, "helmreleases")), 2)
}
