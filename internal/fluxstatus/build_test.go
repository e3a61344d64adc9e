// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus_test

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
)

// desired is the HelmRelease that the plan wants; what Flux reports of it is put on copies.
func desired() *helmv2.HelmRelease {
	return &helmv2.HelmRelease{Spec: helmv2.HelmReleaseSpec{
		ChartRef:    &helmv2.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "wso2-52d625fa", Namespace: "team-a"},
		ReleaseName: "orders",
		Values:      &apiextensionsv1.JSON{Raw: []byte(`{"replicas":3}`)},
	}}
}

// observe reads a HelmRelease whose source is ready.
func observe(generation int64, parts ...flux.Part) fluxstatus.Observation {
	return fluxstatus.Observe(fluxstatus.Input{Desired: desired(), Release: flux.Release(desired(), generation, parts...), Source: flux.ReadySource()})
}

// seen is the Observation of a HelmRelease that carries the desired spec and a source that is ready, as changed by set.
func seen(set func(*fluxstatus.Observation)) fluxstatus.Observation {
	spec := desired().Spec
	o := fluxstatus.Observation{
		Source: fluxstatus.Source{
			Exists: true, Usable: true, Revision: flux.Revision, Digest: flux.Digest, Ready: says("True", "Succeeded", flux.Stored),
		},
		Exists: true, Carries: true,
		Ready:       fluxstatus.Statement{Status: "Unknown"},
		Attempt:     "0//",
		DesiredHash: fluxobjects.DesiredHash(spec, flux.Digest),
		ContentHash: fluxobjects.ContentHash(spec, flux.Digest),
	}
	set(&o)
	return o
}

// tried adds what Attempted shows.
func tried(o *fluxstatus.Observation, attempt string) {
	o.AttemptedChart, o.Attempted, o.Attempt, o.AttemptedVersion = true, true, attempt, flux.Version
	o.AttemptedGeneration = int64(attempt[0] - '0')
}

func says(status metav1.ConditionStatus, reason, message string) fluxstatus.Statement {
	return fluxstatus.Statement{Status: status, Reason: reason, Message: message, Current: true}
}
