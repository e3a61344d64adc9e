// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus

import (
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Source is what is reported of the wanted OCIRepository.
type Source struct {
	// Exists: the OCIRepository is there.
	Exists bool
	// Revision of the artifact, <tag>@<digest>, or the last one known; empty when there never was one.
	Revision string
	// Digest is the part of Revision after '@': the digest of the chart's manifest.
	Digest string
	// Ready condition, current only when it speaks of the present generation.
	Ready Statement
	// Usable: it has an artifact of its present spec, so that a HelmRelease may switch to it without a moment of
	// SourceNotReady. That it cannot refresh just now, as while the registry is down, does no harm (helm-controller v1.6.4,
	// isReady).
	Usable bool
}

// Refreshes tells whether it has its artifact, and the last look at the registry went well.
func (s Source) Refreshes() bool {
	return s.Usable && s.Ready.Status == metav1.ConditionTrue && s.Ready.Current
}

func observeSource(source *sourcev1.OCIRepository, knownRevision string) Source {
	s := Source{Ready: Statement{Status: metav1.ConditionUnknown}, Revision: knownRevision}
	if source != nil {
		s.Exists = true
		s.Ready = sourceReady(source)
		s.Usable = usable(source)
		if artifact := source.Status.Artifact; artifact != nil {
			s.Revision = artifact.Revision
		}
	}
	s.Digest = digestOf(s.Revision)
	return s
}

// sourceReady is the Ready condition. While source-controller tries again it says Unknown, and another condition keeps what is
// wrong: FetchFailed, or for a chart whose signature is missing or wrong SourceVerified (v1.9.4, reconcileSource). So a source
// that failed has failed until it succeeds.
func sourceReady(source *sourcev1.OCIRepository) Statement {
	ready := statement(source.Status.Conditions, meta.ReadyCondition, source.Generation)
	if ready.Status != metav1.ConditionUnknown {
		return ready
	}
	for _, kept := range []struct {
		condition string
		failed    metav1.ConditionStatus
	}{{sourcev1.FetchFailedCondition, metav1.ConditionTrue}, {sourcev1.SourceVerifiedCondition, metav1.ConditionFalse}} {
		failure := statement(source.Status.Conditions, kept.condition, source.Generation)
		if failure.Status == kept.failed && failure.Current {
			failure.Status = metav1.ConditionFalse
			return failure
		}
	}
	return ready
}

func usable(source *sourcev1.OCIRepository) bool {
	return source.Status.Artifact != nil && source.Status.ObservedGeneration == source.Generation &&
		!apimeta.IsStatusConditionTrue(source.Status.Conditions, meta.StalledCondition)
}

// digestOf is what follows '@' in a revision, or the whole of it when there is no tag before the digest.
func digestOf(revision string) string {
	if i := strings.LastIndex(revision, "@"); i >= 0 {
		return revision[i+1:]
	}
	return revision
}

func statement(conditions []metav1.Condition, kind string, generation int64) Statement {
	c := apimeta.FindStatusCondition(conditions, kind)
	if c == nil {
		return Statement{Status: metav1.ConditionUnknown}
	}
	return Statement{Status: c.Status, Reason: c.Reason, Message: c.Message, Current: c.ObservedGeneration == generation}
}
