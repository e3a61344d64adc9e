// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package fluxstatus is the fourth stage of the flow: it reads what Flux reports of one gateway's OCIRepository and
// HelmRelease into an Observation, in which every statement has been checked against the generation, the digest and the
// attempt that it speaks of. It is pure and judges nothing; internal/gatewaystatus does.
package fluxstatus

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// Input is what there is to observe.
type Input struct {
	// Desired is the HelmRelease that the plan wants, pointing at the wanted source; nil without a plan.
	Desired *helmv2.HelmRelease
	// Release is the HelmRelease as the API server has it; nil when there is none.
	Release *helmv2.HelmRelease
	// Source is the wanted OCIRepository as the API server has it; nil when there is none.
	Source *sourcev1.OCIRepository
	// RecordedHash is the desired hash at the last success, from the gateway's status.
	RecordedHash string
}
