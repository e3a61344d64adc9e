// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus_test

import (
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

const (
	digest = "sha256:7fff28b7a7a2bb0a9bd1c7b4e3b5a0b0f6a3e0a8c1d2e3f4a5b6c7d8e9f0a1b2"
	older  = "sha256:0123456789abbb0a9bd1c7b4e3b5a0b0f6a3e0a8c1d2e3f4a5b6c7d8e9f0a1b2"

	upgradeMessage  = "Helm upgrade failed for release apis/orders with chart gateway@1.2.0+7fff28b7a7a2: timeout waiting for: [Deployment/apis/orders status: 'InProgress']"
	rollbackMessage = "Helm rollback to previous release apis/orders.v5 with chart gateway@1.1.0+0123456789ab succeeded"
	runningUpgrade  = "Running 'upgrade' action with timeout of 5m0s"
	runningRollback = "Running 'rollback' action with timeout of 5m0s"
	prerequisites   = "Fulfilling prerequisites"
)

var noon = metav1.NewTime(time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC))

func at(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(d)) }

// desired is the HelmRelease that the plan wants; what Flux reports of it is put on copies.
func desired() *helmv2.HelmRelease {
	return &helmv2.HelmRelease{Spec: helmv2.HelmReleaseSpec{
		ChartRef:    &helmv2.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "wso2-52d625fa", Namespace: "team-a"},
		ReleaseName: "orders",
		Values:      &apiextensionsv1.JSON{Raw: []byte(`{"replicas":3}`)},
	}}
}

// part is a piece of what helm-controller writes.
type part func(*helmv2.HelmRelease)

// release is the desired HelmRelease at a generation, with what helm-controller wrote.
func release(generation int64, parts ...part) *helmv2.HelmRelease {
	hr := desired()
	hr.Generation = generation
	hr.Status.ObservedGeneration = -1
	for _, p := range parts {
		p(hr)
	}
	return hr
}

// attempted: the generation was tried with the wanted chart; observed: helm-controller was then done with it.
func attempted(generation int64) part {
	return func(hr *helmv2.HelmRelease) {
		hr.Status.LastAttemptedGeneration = generation
		hr.Status.LastAttemptedRevision = "1.2.0+7fff28b7a7a2"
		hr.Status.LastAttemptedRevisionDigest = digest
	}
}

func observed(generation int64) part {
	return func(hr *helmv2.HelmRelease) { hr.Status.ObservedGeneration = generation }
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) part {
	return func(hr *helmv2.HelmRelease) {
		hr.Status.Conditions = append(hr.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message,
			ObservedGeneration: hr.Generation, LastTransitionTime: noon,
		})
	}
}

// of an earlier generation is the condition that was set last.
func ofGeneration(generation int64) part {
	return func(hr *helmv2.HelmRelease) {
		hr.Status.Conditions[len(hr.Status.Conditions)-1].ObservedGeneration = generation
	}
}

func ready(status metav1.ConditionStatus, reason, message string) part {
	return condition(meta.ReadyCondition, status, reason, message)
}

func released(status metav1.ConditionStatus, reason, message string) part {
	return condition(helmv2.ReleasedCondition, status, reason, message)
}

func reconciling(message string) part {
	return condition(meta.ReconcilingCondition, "True", "Progressing", message)
}

func stalled(reason string) part {
	return condition(meta.StalledCondition, "True", reason, "Failed to upgrade after 1 attempt(s)")
}

func history(snapshots ...*helmv2.Snapshot) part {
	return func(hr *helmv2.HelmRelease) { hr.Status.History = snapshots }
}

func suspend(hr *helmv2.HelmRelease) { hr.Spec.Suspend = true }

func snapshot(version int, status string, action helmv2.ReleaseAction) *helmv2.Snapshot {
	return &helmv2.Snapshot{
		Name: "orders", Namespace: "apis", Version: version, Status: status, Action: action,
		ChartName: "gateway", ChartVersion: "1.2.0+7fff28b7a7a2", OCIDigest: digest, LastDeployed: at(-time.Hour),
	}
}

func source(parts ...func(*sourcev1.OCIRepository)) *sourcev1.OCIRepository {
	s := &sourcev1.OCIRepository{}
	s.Generation = 1
	s.Status.ObservedGeneration = 1
	s.Status.Artifact = &meta.Artifact{Revision: "1.2.0@" + digest}
	for _, p := range parts {
		p(s)
	}
	return s
}

func sourceCondition(kind string, status metav1.ConditionStatus, reason, message string) func(*sourcev1.OCIRepository) {
	return func(s *sourcev1.OCIRepository) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: s.Generation,
		})
	}
}

func readySource() *sourcev1.OCIRepository {
	return source(sourceCondition(meta.ReadyCondition, "True", "Succeeded", "stored artifact for digest '1.2.0@"+digest+"'"))
}

// seen is the Observation of a HelmRelease that carries the desired spec and a source that is ready, as changed by set.
func seen(set func(*fluxstatus.Observation)) fluxstatus.Observation {
	spec := desired().Spec
	o := fluxstatus.Observation{
		Source: fluxstatus.Source{
			Exists: true, Usable: true, Revision: "1.2.0@" + digest, Digest: digest,
			Ready: fluxstatus.Statement{
				Status: "True", Reason: "Succeeded", Message: "stored artifact for digest '1.2.0@" + digest + "'", Current: true,
			},
		},
		Exists: true, Carries: true,
		Ready:       fluxstatus.Statement{Status: "Unknown"},
		Attempt:     "0//",
		DesiredHash: fluxobjects.DesiredHash(spec, digest),
		ContentHash: fluxobjects.ContentHash(spec, digest),
	}
	set(&o)
	return o
}

// tried adds what attempted(generation) shows.
func tried(o *fluxstatus.Observation, attempt string) {
	o.Attempted, o.Attempt, o.AttemptedVersion = true, attempt, "1.2.0"
}

func says(status metav1.ConditionStatus, reason, message string) fluxstatus.Statement {
	return fluxstatus.Statement{Status: status, Reason: reason, Message: message, Current: true}
}
