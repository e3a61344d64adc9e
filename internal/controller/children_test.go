// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"reflect"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestParseChildKinds(t *testing.T) {
	got, err := ParseChildKinds([]string{"apps/v1/Deployment", "v1/Service", "example.com/v1beta2/Secret", "v1/Service"})
	want := []schema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Version: "v1", Kind: "Service"},
		{Group: "example.com", Version: "v1beta2", Kind: "Secret"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
}

// wrote is what a field manager has set, and when it last did.
func wrote(manager, operation, subresource, at, fields string) metav1.ManagedFieldsEntry {
	moment, err := time.Parse(time.TimeOnly, at)
	if err != nil {
		panic(err)
	}
	when := metav1.NewTime(moment)
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource, APIVersion: "apps/v1",
		Time: &when, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func managed(t *testing.T, entries ...metav1.ManagedFieldsEntry) *metav1.PartialObjectMetadata {
	t.Helper()
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "web", ManagedFields: entries}}
	slim, err := nameAndFields(o)
	if err != nil {
		t.Fatal(err)
	}
	return slim.(*metav1.PartialObjectMetadata)
}

func TestTakenFrom(t *testing.T) {
	const (
		both, image, replicas = `{"f:spec":{"f:image":{},"f:replicas":{}}}`, `{"f:spec":{"f:image":{}}}`, `{"f:spec":{"f:replicas":{}}}`
		message               = `{"f:metadata":{"f:annotations":{"f:note":{}}}}`
	)
	installed := managed(t, wrote("helm-controller", "Apply", "", "12:00:00", both))
	scaled := managed(t, wrote("helm-controller", "Apply", "", "12:00:00", image), wrote("kubectl", "Update", "scale", "12:00:05", replicas))
	corrected := managed(t, wrote("helm-controller", "Apply", "", "12:00:00", image), wrote("helm-controller", "Update", "", "12:00:06", replicas))
	for what, c := range map[string]struct {
		before, after *metav1.PartialObjectMetadata
		want          string
	}{
		"nothing":                          {installed, installed, ""},
		"somebody sets a field of Flux's":  {installed, scaled, ".spec.replicas"},
		"and sets it again":                {scaled, managed(t, wrote("helm-controller", "Apply", "", "12:00:00", image), wrote("kubectl", "Update", "scale", "12:00:07", replicas)), ""},
		"Flux corrects it":                 {scaled, corrected, ""},
		"somebody sets what was corrected": {corrected, scaled, ".spec.replicas"},
		"somebody sets a field that was nobody's": {
			installed, managed(t, wrote("helm-controller", "Apply", "", "12:00:00", both), wrote("kubectl", "Update", "", "12:00:05", message)), "",
		},
		"somebody sets the same to the same": {
			installed, managed(t, wrote("helm-controller", "Apply", "", "12:00:00", both), wrote("argo", "Apply", "", "12:00:05", both)), "",
		},
		"a controller writes the status": {
			installed, managed(t, wrote("helm-controller", "Apply", "", "12:00:00", both), wrote("kube-controller-manager", "Update", "status", "12:00:05", message)), "",
		},
		"an upgrade no longer sets a field":  {installed, managed(t, wrote("helm-controller", "Apply", "", "12:00:09", image)), ""},
		"somebody removes all that Flux set": {installed, managed(t), ".spec.image\n.spec.replicas"},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := takenFrom(c.before, c.after)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if got != nil {
				text = got.String()
			}
			if text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestConsistsOf(t *testing.T) {
	hr := &helmv2.HelmRelease{}
	hr.Status.Inventory = &helmv2.ResourceInventory{Entries: []helmv2.ResourceRef{
		{ID: "apis_web_apps_Deployment", Version: "v1"}, {ID: "apis_web__Service", Version: "v1"},
		{ID: "_system__web_rbac.authorization.k8s.io_ClusterRole", Version: "v1"},
	}}
	for _, c := range []struct {
		kind      schema.GroupVersionKind
		namespace string
		name      string
		want      bool
	}{
		{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "apis", "web", true},
		{schema.GroupVersionKind{Version: "v1", Kind: "Service"}, "apis", "web", true},
		{schema.GroupVersionKind{Version: "v1", Kind: "Service"}, "other", "web", false},
		{schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, "", "system:web", true},
		{schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, "apis", "hook", false},
	} {
		it := child{kind: c.kind, name: types.NamespacedName{Namespace: c.namespace, Name: c.name}}
		if got := consistsOf(hr, it); got != c.want {
			t.Errorf("%s: %v, want %v", it, got, c.want)
		}
	}
	if consistsOf(&helmv2.HelmRelease{}, child{}) {
		t.Error("a release without an inventory consists of something")
	}
}

func TestWhatIsSaidOfADeed(t *testing.T) {
	it := child{kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, name: types.NamespacedName{Namespace: "apis", Name: "web"}}
	set, err := setByFlux(managed(t, wrote("helm-controller", "Apply", "", "12:00:00",
		`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:image":{},"f:paused":{},"f:replicas":{}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		deed *deed
		want string
	}{
		{&deed{child: it}, "Deployment apis/web was deleted"},
		{&deed{child: it, taken: set}, "Deployment apis/web was changed at metadata.labels.app, spec.image, spec.paused, …"},
		{&deed{child: child{kind: it.kind, name: types.NamespacedName{Name: "web"}}}, "Deployment web was deleted"},
	} {
		if got := c.deed.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestWhichObjectsAreOfReleases(t *testing.T) {
	for want, namespaces := range map[string][]string{
		"helm.toolkit.fluxcd.io/name,helm.toolkit.fluxcd.io/namespace":               nil,
		"helm.toolkit.fluxcd.io/name,helm.toolkit.fluxcd.io/namespace in (apis,web)": {"web", "apis"},
	} {
		if got, err := ofReleases(namespaces); err != nil || got.String() != want {
			t.Errorf("%v: got %s and %v, want %s", namespaces, got, err, want)
		}
	}
}
