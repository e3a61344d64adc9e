// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

// ask asks of Flux what is due: what people asked of the gateway, the next attempt after a failure, or the correction of
// what somebody did to the release's objects. It notes in the status what was handed on, and says when to look again; zero means that a watch will wake us up.
func (r *gatewayReconciler) ask(ctx context.Context, s *state, status *v1alpha1.APIGatewayStatus) (time.Duration, error) {
	if s.gateway.DeletionTimestamp != nil || s.release == nil || s.release.DeletionTimestamp != nil {
		return 0, nil
	}
	now := metav1.NewTime(r.now())
	observation := gatewaystatus.Observe(s.statusInput(now, nil))
	deeds, err := r.disturbed(ctx, s.release, observation)
	if err != nil {
		return 0, err
	}
	gateway := client.ObjectKeyFromObject(s.gateway)
	request := recovery.NextRequest(recovery.Input{
		Annotations: s.gateway.Annotations,
		Status:      *status,
		Observation: observation,
		Disturbed:   len(deeds) > 0,
		Corrected:   r.children.requests(gateway).last,
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
	if request.Corrects {
		r.children.handedOn(gateway, deeds, now.Time)
		r.announceCorrection(s.gateway, deeds)
	}
	if request.Handled != "" {
		status.LastHandledReconcileAt = request.Handled
	}
	return 0, nil
}

// disturbed are the deeds that Flux could correct now; while it is at work on the release they stay where they are.
func (r *gatewayReconciler) disturbed(ctx context.Context, hr *helmv2.HelmRelease, o fluxstatus.Observation) ([]*deed, error) {
	if !o.Settled() {
		return nil, nil
	}
	return r.children.disturbed(ctx, hr)
}
