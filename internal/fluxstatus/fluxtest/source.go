// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxtest

import (
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Revision of the new chart's source.
const Revision = Version + "@" + Digest

// Messages of source-controller's conditions.
const (
	Stored     = "stored artifact for digest '" + Revision + "'"
	PullFailed = "failed to determine artifact digest: GET https://registry.example.com/v2/charts/gateway/manifests/1.2.0: MANIFEST_UNKNOWN"
	Building   = "building artifact: new revision '" + Revision + "'"
	Signed     = "verified signature of revision " + Revision
	NotSigned  = "failed to verify the signature using provider 'cosign': no matching signatures were found for 'registry.example.com/charts/gateway@" + Digest + "'"
	Lost       = "building artifact: disappeared from storage"
)

// SourcePart is a piece of an OCIRepository, most often of its status.
type SourcePart func(*sourcev1.OCIRepository)

// Source has the new chart as its artifact, and is changed by the parts in the order given.
func Source(parts ...SourcePart) *sourcev1.OCIRepository {
	s := &sourcev1.OCIRepository{}
	s.Generation = 1
	s.Status.ObservedGeneration = 1
	s.Status.Artifact = &meta.Artifact{Revision: Revision}
	for _, p := range parts {
		p(s)
	}
	return s
}

// SourceCondition is of the OCIRepository's generation.
func SourceCondition(kind string, status metav1.ConditionStatus, reason, message string) SourcePart {
	return func(s *sourcev1.OCIRepository) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: s.Generation, LastTransitionTime: Noon,
		})
	}
}

// NoArtifact takes the artifact away.
func NoArtifact(s *sourcev1.OCIRepository) { s.Status.Artifact = nil }

// NeverObserved means that source-controller has finished with no generation yet.
func NeverObserved(s *sourcev1.OCIRepository) { s.Status.ObservedGeneration = -1 }

// NextGeneration means that the spec was changed since.
func NextGeneration(s *sourcev1.OCIRepository) { s.Generation++ }

// OldChart makes the old chart the artifact.
func OldChart(s *sourcev1.OCIRepository) { s.Status.Artifact.Revision = OldVersion + "@" + OldDigest }

// ReadySource has its artifact and refreshes.
func ReadySource(parts ...SourcePart) *sourcev1.OCIRepository {
	return Source(append(parts, SourceCondition(meta.ReadyCondition, metav1.ConditionTrue, meta.SucceededReason, Stored))...)
}

// NewSource is being pulled for the first time.
func NewSource() *sourcev1.OCIRepository {
	return Source(NeverObserved, NoArtifact, SourceCondition(meta.ReadyCondition, metav1.ConditionUnknown, meta.ProgressingReason, Building))
}

// FailedSource never had an artifact, since its tag does not exist.
func FailedSource() *sourcev1.OCIRepository {
	return Source(NeverObserved, NoArtifact, PullFails)
}

// PullFails is what source-controller says when a pull fails.
func PullFails(s *sourcev1.OCIRepository) {
	SourceCondition(meta.ReadyCondition, metav1.ConditionFalse, sourcev1.OCIPullFailedReason, PullFailed)(s)
}
