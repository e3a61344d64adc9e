// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

func gateway() *v1alpha1.APIGateway {
	return &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apis", UID: "our-uid"}}
}

func wantedRelease(source, values string) *helmv2.HelmRelease {
	return &helmv2.HelmRelease{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apis", Labels: map[string]string{"class": "edge"}},
		Spec: helmv2.HelmReleaseSpec{
			ChartRef: &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: source, Namespace: "apis"},
			Values:   &apiextensionsv1.JSON{Raw: []byte(values)},
		},
	}
}

func source(name string, pulled bool) *sourcev1.OCIRepository {
	s := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "apis", UID: "s", Generation: 1}}
	if pulled {
		s.Status.ObservedGeneration = 1
		s.Status.Artifact = &meta.Artifact{Revision: "1.0.0@sha256:abc"}
		s.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: 1}}
	}
	return s
}

// deployedState is a gateway whose release runs source "old", values {"a":1}, and whose plan wants the same.
func deployedState() *state {
	g := gateway()
	s := &state{
		gateway:  g,
		operator: "us",
		desired:  fluxobjects.Objects{Release: wantedRelease("old", `{"a":1}`)},
		wanted:   source("old", true),
		present:  source("old", true),
	}
	s.release = newRelease(s)
	s.release.Status.History = helmv2.Snapshots{{Version: 1}}
	return s
}

func TestNextRelease(t *testing.T) {
	yes, no := true, false
	orphan := v1alpha1.DeletionOrphan
	newChart := func(pulled bool) func(*state) {
		return func(s *state) {
			s.desired.Release = wantedRelease("new", `{"a":2}`)
			s.wanted = source("new", pulled)
		}
	}
	heldBack := map[string]any{"source": "old", "values": `{"a":1}`}
	for what, c := range map[string]struct {
		change func(*state)
		want   map[string]any // nil: nothing is written
	}{
		"nothing changed": {func(*state) {}, nil},
		"values in another order": {func(s *state) {
			s.desired.Release = wantedRelease("old", `{"b":1,"a":1}`)
			s.release.Spec.Values.Raw = []byte(`{"a": 1, "b": 1}`)
		}, nil},
		"values changed": {func(s *state) { s.desired.Release = wantedRelease("old", `{"a":2}`) },
			map[string]any{"source": "old", "values": `{"a":2}`}},
		"a new chart that is there":         {newChart(true), map[string]any{"source": "new", "values": `{"a":2}`}},
		"a new chart that is not there yet": {newChart(false), nil},
		"a new chart whose source is being removed": {func(s *state) {
			newChart(true)(s)
			s.wanted.DeletionTimestamp = &metav1.Time{}
		}, nil},
		"a new chart before the first was ever there": {func(s *state) {
			newChart(false)(s)
			s.release.Status.History, s.present = nil, source("old", false)
		}, map[string]any{"source": "new", "values": `{"a":2}`}},
		"a new chart while the first installs": {func(s *state) {
			newChart(false)(s)
			s.release.Status.History = nil
		}, nil},
		"held back, and suspended": {func(s *state) {
			newChart(false)(s)
			s.gateway.Spec.Suspend = &yes
		}, with2(heldBack, "suspend", true, "marked", "true")},
		"held back, and orphaned": {func(s *state) {
			newChart(false)(s)
			s.gateway.Spec.DeletionPolicy = &orphan
		}, with2(heldBack, "owned", 0, "ownerUID", "our-uid")},
		"held back, and the class changed": {func(s *state) {
			newChart(false)(s)
			s.desired.Release.Labels["class"] = "other"
		}, nil},
		"suspended by people": {func(s *state) { s.release.Spec.Suspend = true }, nil},
		"suspended by people, unwished": {func(s *state) { s.release.Spec.Suspend, s.gateway.Spec.Suspend = true, &no },
			map[string]any{"source": "old", "values": `{"a":1}`}},
		"suspended by us, no longer wished": {func(s *state) { suspend(s.release, &yes) },
			map[string]any{"source": "old", "values": `{"a":1}`}},
		"suspended by us, resumed by people, no longer wished": {func(s *state) {
			suspend(s.release, &yes)
			s.release.Spec.Suspend = false
		}, map[string]any{"source": "old", "values": `{"a":1}`}},
		"being deleted": {func(s *state) {
			newChart(true)(s)
			s.release.DeletionTimestamp = &metav1.Time{}
		}, nil},
		"a key added by hand": {func(s *state) { s.release.Spec.Values.Raw = []byte(`{"a":1,"mine":{}}`) },
			map[string]any{"source": "old", "values": `{"a":1}`}},
	} {
		t.Run(what, func(t *testing.T) {
			s := deployedState()
			c.change(s)
			got := describe(nextRelease(s))
			if want := complete(c.want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestSuspensionsAreMarked: with the generations that suspend alone tells apart.
func TestSuspensionsAreMarked(t *testing.T) {
	yes := true
	for what, c := range map[string]struct {
		change func(*state)
		want   int64 // the first of those generations
	}{
		"suspended by us":                  {func(*state) {}, 7},
		"suspended together with a change": {func(s *state) { s.desired.Release = wantedRelease("old", `{"a":2}`) }, 8},
		"held back, and suspended":         {func(s *state) { s.desired.Release, s.wanted = wantedRelease("new", `{"a":2}`), source("new", false) }, 7},
		"resumed by people, and once more": {func(s *state) {
			s.release.Annotations[v1alpha1.AnnotationSuspendedAt] = fluxobjects.SuspensionMark(s.release.Spec, 3, 6)
		}, 3},
		"suspended by people before": {func(s *state) { s.release.Spec.Suspend = true }, 8},
		"no longer wished, the mark goes": {func(s *state) {
			s.gateway.Spec.Suspend = nil
			s.release.Annotations[v1alpha1.AnnotationSuspendedAt] = fluxobjects.SuspensionMark(s.release.Spec, 3, 8)
		}, 8},
	} {
		t.Run(what, func(t *testing.T) {
			s := deployedState()
			s.release.Generation, s.gateway.Spec.Suspend = 7, &yes
			c.change(s)
			next := nextRelease(s)
			next.Generation = 8
			if got := fluxobjects.UnchangedSince(next); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func describe(hr *helmv2.HelmRelease) string {
	if hr == nil {
		return "nothing"
	}
	return inJSON(map[string]any{
		"source": hr.Spec.ChartRef.Name, "values": string(hr.Spec.Values.Raw), "suspend": hr.Spec.Suspend,
		"marked": hr.Annotations[v1alpha1.AnnotationSuspended], "owned": len(hr.OwnerReferences),
		"ownerUID": hr.Annotations[v1alpha1.AnnotationOwnerUID], "class": hr.Labels["class"],
	})
}

// complete fills in what holds unless a case says otherwise.
func complete(want map[string]any) string {
	if want == nil {
		return "nothing"
	}
	all := map[string]any{"suspend": false, "marked": "", "owned": 1, "ownerUID": "", "class": "edge"}
	for k, v := range want {
		all[k] = v
	}
	return inJSON(all)
}

func with2(m map[string]any, k1 string, v1 any, k2 string, v2 any) map[string]any {
	out := map[string]any{k1: v1, k2: v2}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func inJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func TestForeignMetadataStays(t *testing.T) {
	s := deployedState()
	s.release.Labels["mine"], s.release.Annotations["mine"] = "yes", "yes"
	other := metav1.OwnerReference{Kind: "ConfigMap", Name: "other", UID: "other"}
	s.release.OwnerReferences = append([]metav1.OwnerReference{other}, s.release.OwnerReferences...)
	if next := nextRelease(s); next != nil {
		t.Fatalf("it is written: %s", inJSON(next))
	}
	s.release.Labels["class"] = "edited"
	next := nextRelease(s)
	if next.Labels["mine"] != "yes" || next.Annotations["mine"] != "yes" || len(next.OwnerReferences) != 2 || next.Labels["class"] != "edge" {
		t.Errorf("got %s", inJSON(next.ObjectMeta))
	}
}

func TestIsOurs(t *testing.T) {
	controls := true
	for what, c := range map[string]struct {
		hr   metav1.ObjectMeta
		want bool
	}{
		"controlled by us":       {metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "our-uid", Controller: &controls}}}, true},
		"owned, not controlled":  {metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "our-uid"}}}, false},
		"controlled by another":  {metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "their-uid", Controller: &controls}}}, false},
		"annotated with our UID": {metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationOwnerUID: "our-uid"}}, true},
		"annotated, but controlled by another": {metav1.ObjectMeta{
			Annotations:     map[string]string{v1alpha1.AnnotationOwnerUID: "our-uid"},
			OwnerReferences: []metav1.OwnerReference{{UID: "their-uid", Controller: &controls}},
		}, false},
		"annotated by an earlier gateway of the name": {metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationOwnerUID: "old"}}, false},
		"labelled": {metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelGateway: "web"}}, false},
	} {
		if got := isOurs(&helmv2.HelmRelease{ObjectMeta: c.hr}, gateway()); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestNextSource(t *testing.T) {
	desired := &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "edge-1", Namespace: "apis", Labels: map[string]string{"class": "edge"}},
		Spec:       sourcev1.OCIRepositorySpec{URL: "oci://r/c", Reference: &sourcev1.OCIRepositoryRef{Tag: "1.0.0"}},
	}
	made := nextSource(nil, desired, "us")
	if made.Annotations[v1alpha1.AnnotationMadeBy] != "us" || !sameSource(made, desired) {
		t.Fatalf("made %s", inJSON(made))
	}
	for what, c := range map[string]struct {
		change  func(*sourcev1.OCIRepository)
		written bool
	}{
		"nothing changed":         {func(*sourcev1.OCIRepository) {}, false},
		"spec edited":             {func(s *sourcev1.OCIRepository) { s.Spec.Reference.Tag = "6.6.6" }, true},
		"label removed":           {func(s *sourcev1.OCIRepository) { s.Labels = nil }, true},
		"label added":             {func(s *sourcev1.OCIRepository) { s.Labels["mine"] = "yes" }, false},
		"somebody else's, edited": {func(s *sourcev1.OCIRepository) { s.Annotations, s.Spec.URL = nil, "oci://x" }, false},
		"going away":              {func(s *sourcev1.OCIRepository) { s.DeletionTimestamp, s.Spec.URL = &metav1.Time{}, "oci://x" }, false},
	} {
		live := made.DeepCopy()
		c.change(live)
		next := nextSource(live, desired, "us")
		if (next != nil) != c.written {
			t.Errorf("%s: written: %v", what, next != nil)
		}
		if next != nil && (!sameSource(next, desired) || next.Labels["class"] != "edge") {
			t.Errorf("%s: %s", what, inJSON(next))
		}
	}
}
