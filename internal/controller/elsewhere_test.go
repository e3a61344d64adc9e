// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestLeftTo(t *testing.T) {
	by := func(operator string) *helmv2.HelmRelease {
		hr := deployedState().release
		hr.Annotations[v1alpha1.AnnotationMadeBy] = operator
		return hr
	}
	foreign := by("us")
	foreign.OwnerReferences = nil
	unmarked := by("us")
	delete(unmarked.Annotations, v1alpha1.AnnotationMadeBy)
	for what, c := range map[string]struct {
		hr               *helmv2.HelmRelease
		stays, isDeleted bool
	}{
		"written by us":                     {by("us"), true, true},
		"written by another operator":       {by("them"), false, false},
		"not marked, as by earlier Sluices": {unmarked, false, false},
		"somebody else's":                   {foreign, false, true},
		"there is none":                     {nil, false, true},
	} {
		t.Run(what, func(t *testing.T) {
			stays, deleted := gateway(), gateway()
			deleted.DeletionTimestamp = &metav1.Time{}
			if got := leftTo("us", stays, c.hr); got != c.stays {
				t.Errorf("got %v, want %v", got, c.stays)
			}
			if got := leftTo("us", deleted, c.hr); got != c.isDeleted {
				t.Errorf("deleted: got %v, want %v", got, c.isDeleted)
			}
		})
	}
}
