// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

// newRelease is the first HelmRelease of a gateway. It is written at once, also before its source has an artifact: there is
// nothing yet to protect.
func newRelease(s *state) *helmv2.HelmRelease {
	next := s.desired.Release.DeepCopy()
	own(next, s.gateway)
	suspend(next, s.gateway.Spec.Suspend)
	next.Annotations = with(next.Annotations, map[string]string{v1alpha1.AnnotationMadeBy: s.operator})
	return next
}

// nextRelease is what is to be written over the live HelmRelease; nil when nothing is.
func nextRelease(s *state) *helmv2.HelmRelease {
	live := s.release
	if live.DeletionTimestamp != nil {
		return nil // it is made again once it is gone
	}
	next := live.DeepCopy()
	if !holdsBack(s) {
		suspended := live.Spec.Suspend
		next.Spec = *s.desired.Release.Spec.DeepCopy()
		next.Spec.Suspend = suspended
		next.Labels = relabelled(next.Labels, s.desired.Release.Labels)
	}
	own(next, s.gateway)
	suspend(next, s.gateway.Spec.Suspend)
	fluxobjects.MarkSuspension(live, next)
	next.Annotations = with(next.Annotations, map[string]string{v1alpha1.AnnotationMadeBy: s.operator})
	if sameRelease(live, next) {
		return nil
	}
	return next
}

func sameRelease(a, b *helmv2.HelmRelease) bool {
	return fluxobjects.SpecEqual(a.Spec, b.Spec) &&
		maps.Equal(a.Labels, b.Labels) &&
		maps.Equal(a.Annotations, b.Annotations) &&
		apiequality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

// isOurs tells whether the HelmRelease is this gateway's. Labels prove nothing: a rendered one carries them too.
func isOurs(hr *helmv2.HelmRelease, gateway *v1alpha1.APIGateway) bool {
	if controller := metav1.GetControllerOf(hr); controller != nil {
		return controller.UID == gateway.UID
	}
	return hr.Annotations[v1alpha1.AnnotationOwnerUID] == string(gateway.UID)
}

// own marks the HelmRelease as the gateway's: by a controller reference or, under Orphan, by an annotation, since foreground
// deletion of an owner would uninstall the release.
func own(hr *helmv2.HelmRelease, gateway *v1alpha1.APIGateway) {
	if gateway.Orphans() {
		hr.OwnerReferences = slices.DeleteFunc(hr.OwnerReferences, ownedBy(gateway))
		hr.Annotations = with(hr.Annotations, map[string]string{v1alpha1.AnnotationOwnerUID: string(gateway.UID)})
		return
	}
	delete(hr.Annotations, v1alpha1.AnnotationOwnerUID)
	ref := *metav1.NewControllerRef(gateway, v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayKind))
	if i := slices.IndexFunc(hr.OwnerReferences, ownedBy(gateway)); i >= 0 {
		hr.OwnerReferences[i] = ref
		return
	}
	hr.OwnerReferences = append(hr.OwnerReferences, ref)
}

func ownedBy(gateway *v1alpha1.APIGateway) func(metav1.OwnerReference) bool {
	return func(ref metav1.OwnerReference) bool { return ref.UID == gateway.UID }
}

// suspend sets the HelmRelease's suspend: true and false as wished, and marked when true. Without a wish it belongs to
// people, except that what Sluice suspended it resumes.
func suspend(hr *helmv2.HelmRelease, wish *bool) {
	switch {
	case wish != nil && *wish:
		hr.Spec.Suspend = true
		hr.Annotations = with(hr.Annotations, map[string]string{v1alpha1.AnnotationSuspended: "true"})
		return
	case wish != nil, suspendedByUs(hr):
		hr.Spec.Suspend = false
	}
	delete(hr.Annotations, v1alpha1.AnnotationSuspended)
	delete(hr.Annotations, v1alpha1.AnnotationSuspendedAt)
}

func suspendedByUs(hr *helmv2.HelmRelease) bool {
	return hr.Annotations[v1alpha1.AnnotationSuspended] == "true"
}

// with returns the map with more entries; the map itself may be changed, or be nil.
func with(m, more map[string]string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	maps.Copy(m, more)
	return m
}
