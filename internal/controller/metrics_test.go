// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestLastSuccess(t *testing.T) {
	at := func(hour int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 11, 3, hour, 0, 0, 0, time.UTC)}
	}
	revision := func(hour int, hash string) v1alpha1.RevisionStatus {
		return v1alpha1.RevisionStatus{Deployed: at(hour), DesiredHash: hash}
	}
	succeeded := &v1alpha1.ReleaseStatus{DesiredHash: "a"}
	for what, c := range map[string]struct {
		status v1alpha1.APIGatewayStatus
		want   *metav1.Time
	}{
		"nothing was deployed": {v1alpha1.APIGatewayStatus{}, nil},
		"nothing succeeded":    {v1alpha1.APIGatewayStatus{History: []v1alpha1.RevisionStatus{revision(9, "")}, Release: &v1alpha1.ReleaseStatus{}}, nil},
		"the latest revision that did, not its rollback": {
			v1alpha1.APIGatewayStatus{History: []v1alpha1.RevisionStatus{revision(9, ""), revision(8, "a"), revision(7, "b")}, Release: succeeded}, at(8),
		},
		"no later than all that is still known": {
			v1alpha1.APIGatewayStatus{History: []v1alpha1.RevisionStatus{revision(9, ""), revision(8, "")}, Release: succeeded}, at(8),
		},
	} {
		if got := lastSuccess(c.status); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
