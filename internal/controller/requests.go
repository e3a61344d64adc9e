// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

// ask asks of Flux what is due: what people asked of the gateway, or the next attempt after a failure. It notes in the
// status what was handed on, and says when to look again; zero means that a watch will wake us up.
func (r *gatewayReconciler) ask(ctx context.Context, s *state, status *v1alpha1.APIGatewayStatus) (time.Duration, error) {
	if s.gateway.DeletionTimestamp != nil || s.release == nil || s.release.DeletionTimestamp != nil {
		return 0, nil
	}
	now := metav1.NewTime(r.now())
	request := recovery.NextRequest(recovery.Input{
		Annotations: s.gateway.Annotations,
		Status:      *status,
		Observation: gatewaystatus.Observe(s.statusInput(now, nil)),
		Now:         now,
	})
	if len(request.Annotations) == 0 {
		return request.After, nil
	}
	next := s.release.DeepCopy()
	next.Annotations = with(next.Annotations, request.Annotations)
	if err := r.updateRelease(ctx, s, next); err != nil {
		return 0, err
	}
	if request.Handled != "" {
		status.LastHandledReconcileAt = request.Handled
	}
	return 0, nil
}
