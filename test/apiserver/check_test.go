// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// markDefault makes the class a default one.
func (w *world) markDefault(class string) {
	w.Helper()
	o := &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: class}}
	merge := fmt.Sprintf(`{"metadata":{"annotations":{%q:"true"}}}`, v1alpha1.AnnotationDefaultClass)
	w.must(admin.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(merge))))
}

func (w *world) patchClass(merge string) {
	w.Helper()
	o := &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.class}}
	w.must(admin.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(merge))))
}

// events are the events about a gateway, as "<type> <reason>", oldest first.
func (w *world) events(name string) []string {
	w.Helper()
	list := &corev1.EventList{}
	w.must(admin.List(w.ctx, list, client.InNamespace(w.ns)))
	var out []string
	for _, e := range list.Items {
		if e.InvolvedObject.Name == name && e.InvolvedObject.Kind == v1alpha1.APIGatewayKind {
			out = append(out, e.Type+" "+e.Reason)
		}
	}
	return out
}

func inYAML(v any) string {
	data, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q\nlacks %q", text, part)
		}
	}
}
