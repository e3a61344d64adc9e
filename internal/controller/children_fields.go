// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// fluxManager is the field manager of helm-controller (v1.6.4, main.go and internal/action), in Helm's actions as well as in
// corrections of drift.
const fluxManager = "helm-controller"

// takenFrom are the fields that Flux had set on an object and that somebody else took by a change: the API server keeps
// account of who set a field last. nil when there are none. So a change of a field that is none of Flux's, a status, an
// annotation or an autoscaler's second step, is nobody's business, and a write of Flux's own, a correction above all, never
// looks like one of somebody else's. Kinds without a generation can be judged in the same way.
func takenFrom(before, after *metav1.PartialObjectMetadata) (*fieldpath.Set, error) {
	if fluxWrote(before, after) || slices.EqualFunc(before.ManagedFields, after.ManagedFields, sameFields) {
		return nil, nil
	}
	had, err := setByFlux(before)
	if err != nil {
		return nil, err
	}
	has, err := setByFlux(after)
	if err != nil {
		return nil, err
	}
	if taken := had.Difference(has); !taken.Empty() {
		return taken, nil
	}
	return nil, nil
}

// fluxWrote: one of its entries is new, or has another time. These times are whole seconds: of two writes within one the
// second is taken for somebody else's if it sets fewer fields, which costs a request.
func fluxWrote(before, after *metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(after.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return !slices.ContainsFunc(before.ManagedFields, func(old metav1.ManagedFieldsEntry) bool {
			return old.Operation == entry.Operation && old.APIVersion == entry.APIVersion && old.Time.Equal(entry.Time)
		})
	})
}

func sameFields(a, b metav1.ManagedFieldsEntry) bool {
	return a.Operation == b.Operation && a.FieldsV1.Equal(*b.FieldsV1)
}

// setByFlux are the fields that Flux was the last to set.
func setByFlux(o *metav1.PartialObjectMetadata) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	for _, entry := range o.ManagedFields {
		fields := fieldpath.NewSet()
		if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("managedFields of %s %s/%s: %w", o.Kind, o.Namespace, o.Name, err)
		}
		all = all.Union(fields)
	}
	return all, nil
}

// nameAndFields drops all of a child that is not needed to know what was done to it.
func nameAndFields(in any) (any, error) {
	full, ok := in.(*metav1.PartialObjectMetadata)
	if !ok {
		return in, nil
	}
	slim := &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name:            full.Name,
		Namespace:       full.Namespace,
		UID:             full.UID,
		ResourceVersion: full.ResourceVersion,
		Labels:          map[string]string{labelRelease: full.Labels[labelRelease], labelReleaseNamespace: full.Labels[labelReleaseNamespace]},
	}}
	for _, entry := range full.ManagedFields {
		if entry.Manager == fluxManager && entry.Subresource == "" && entry.FieldsV1 != nil {
			slim.ManagedFields = append(slim.ManagedFields, entry)
		}
	}
	return slim, nil
}
