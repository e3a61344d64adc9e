// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package gatewaystatus is the last stage of the flow: it derives the whole status of an APIGateway from its plan (or why
// there is none) and from what Flux reports. It is pure: time is an argument. The rule of Ready stands in one place, ready.go.
package gatewaystatus

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// Input is what a status is derived from.
type Input struct {
	// Gateway with its previous status. It is not changed.
	Gateway *v1alpha1.APIGateway
	// Plan of the gateway; nil when it is not accepted.
	Plan *plan.Plan
	// Fault is why the gateway is not accepted; nil when it is.
	Fault *plan.Error
	// Desired is the HelmRelease that the plan wants, pointing at the wanted source; nil without a plan.
	Desired *helmv2.HelmRelease
	// Release and Source are what the API server has; nil when there is none. Release is nil, too, when it is foreign.
	Release *helmv2.HelmRelease
	Source  *sourcev1.OCIRepository
	// WriteError is the API server's answer to the last write of an object, if it refused.
	WriteError error
	// Hold says why a deleted gateway waits, and what to do about it; empty when it does not.
	Hold string
	// Now is the time of the transition, if there is one.
	Now metav1.Time
}

// Compute derives the status. Called again with its own result and nothing new, it gives the same.
func Compute(in Input) v1alpha1.APIGatewayStatus {
	panic("to be written")
}
