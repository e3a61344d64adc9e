// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// APIGatewayStatus mirrors what Flux reports. internal/gatewaystatus computes it whole, each time.
type APIGatewayStatus struct {
	// ObservedGeneration of the gateway that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastHandledReconcileAt is the last value of the annotation reconcile.fluxcd.io/requestedAt that was handed on.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
	// Phase is one word for people.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// ClassName that serves this gateway; kept when the default class changes.
	// +optional
	ClassName string `json:"className,omitempty"`
	// Source is the wanted OCIRepository.
	// +optional
	Source *SourceStatus `json:"source,omitempty"`
	// Release is the latest revision of the Helm release.
	// +optional
	Release *ReleaseStatus `json:"release,omitempty"`
	// History holds the last 5 revisions that Sluice saw, newest first.
	// +optional
	// +kubebuilder:validation:MaxItems=5
	History []RevisionStatus `json:"history,omitempty"`
	// Failures are the failed rounds of the present desired state.
	// +optional
	Failures int64 `json:"failures,omitempty"`
	// LastFailure is the latest failure of the present desired state.
	// +optional
	LastFailure *FailureStatus `json:"lastFailure,omitempty"`
	// NextRetryTime is when Sluice asks Flux for the next attempt.
	// +optional
	NextRetryTime *metav1.Time `json:"nextRetryTime,omitempty"`
	// Conditions, kstatus-compatible.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SourceStatus names an OCIRepository and its artifact.
type SourceStatus struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Revision of the artifact, <tag>@<digest>, or the last one known; empty when there never was one.
	// +optional
	Revision string `json:"revision,omitempty"`
}

// ReleaseStatus is the highest revision of the Helm release.
type ReleaseStatus struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// ChartVersion as the chart's author wrote it, without the digest that Flux appends.
	// +optional
	ChartVersion string `json:"chartVersion,omitempty"`
	// AppVersion as the chart's author wrote it.
	// +optional
	AppVersion string `json:"appVersion,omitempty"`
	// Revision of the Helm release.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// Status that Helm gives the revision: deployed, failed, pending-upgrade, …
	// +optional
	Status string `json:"status,omitempty"`
	// LastDeployed is when Helm deployed the revision.
	// +optional
	LastDeployed *metav1.Time `json:"lastDeployed,omitempty"`
	// DesiredHash is the hash of the desired contents (chart digest, values, patches, target) at the last success.
	// +optional
	DesiredHash string `json:"desiredHash,omitempty"`
}

// RevisionStatus is one revision of the Helm release.
type RevisionStatus struct {
	Revision int64 `json:"revision"`
	// +optional
	ChartVersion string `json:"chartVersion,omitempty"`
	// +optional
	Status string `json:"status,omitempty"`
	// Action that made the revision: install, upgrade, rollback.
	// +optional
	Action string `json:"action,omitempty"`
	// +optional
	Deployed *metav1.Time `json:"deployed,omitempty"`
	// Attempt is the HelmRelease's generation that had last been attempted when this revision was first seen: it was made of no
	// later one. Absent for a revision that ran before the gateway took it over.
	// +optional
	Attempt int64 `json:"attempt,omitempty"`
	// DesiredHash is the hash of the contents that this revision was seen to run successfully; empty when it was not.
	// +optional
	DesiredHash string `json:"desiredHash,omitempty"`
}

// FailureStatus is one failed attempt. The fields beside reason and message tell attempts apart, so that each counts once.
type FailureStatus struct {
	// DesiredHash that was attempted.
	DesiredHash string `json:"desiredHash"`
	// Reason that Flux gave.
	Reason string `json:"reason"`
	// Message that Flux gave.
	// +optional
	Message string `json:"message,omitempty"`
	// Attempt identifies it: the HelmRelease's generation, chart digest and force request.
	// +optional
	Attempt string `json:"attempt,omitempty"`
	// Revision of the Helm release that runs on in spite of it, made of other contents; absent when none does.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// Time when Flux had finished with it, remediation included: the wait for the next attempt begins. Absent until then.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
}
