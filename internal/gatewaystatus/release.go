// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import (
	"cmp"
	"slices"
	"sort"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// historyLength is how many revisions a status keeps; Flux's own history shrinks to two on success.
const historyLength = 5

// releaseStatus is the latest revision and the history; what was known stays when Flux reports nothing, as it does while
// a release is being uninstalled.
func releaseStatus(in Input, f facts) (*v1alpha1.ReleaseStatus, []v1alpha1.RevisionStatus) {
	previous := in.Gateway.Status
	if f.o.Latest == nil {
		return previous.Release, previous.History
	}
	s := f.o.Latest
	return &v1alpha1.ReleaseStatus{
		Name:         s.Name,
		Namespace:    targetNamespace(in, s),
		ChartVersion: fluxstatus.AuthorVersion(s.ChartVersion),
		AppVersion:   s.AppVersion,
		Revision:     int64(s.Version),
		Status:       f.o.StatusOf(s),
		LastDeployed: timePtr(s.LastDeployed),
		DesiredHash:  f.known.last,
	}, history(previous.History, f)
}

func targetNamespace(in Input, s *helmv2.Snapshot) string {
	if in.Release != nil && in.Release.Spec.TargetNamespace != "" {
		return in.Release.Spec.TargetNamespace
	}
	return s.Namespace
}

// history adds what Flux reports to what was seen before, newest first.
func history(previous []v1alpha1.RevisionStatus, f facts) []v1alpha1.RevisionStatus {
	var out []v1alpha1.RevisionStatus
	for i, s := range f.o.History {
		entry, seen := revision(s, previous)
		if !seen && !adopts(previous, f) {
			entry.Attempt = f.o.AttemptedGeneration
		}
		entry.Status = f.o.StatusOf(s)
		if i == 0 && f.known.atLatest != "" {
			entry.DesiredHash = f.known.atLatest
		}
		out = append(out, entry)
	}
	out = append(out, unseen(previous, f.o.History)...)
	sort.SliceStable(out, func(i, j int) bool { return newer(out[i], out[j]) })
	return out[:min(len(out), historyLength)]
}

// adopts: the release is one that ran before the gateway, and well, which is seen for the first time. What it was made of is for
// Flux to compare with what is wanted now: equal contents are no new revision.
func adopts(previous []v1alpha1.RevisionStatus, f facts) bool {
	return len(previous) == 0 && f.in.Gateway.Annotations[v1alpha1.AnnotationAdopt] == "true" && !f.o.Carries &&
		!fluxstatus.IsReleaseFailure(f.o.Ready.Reason)
}

// revision keeps the attempt, the action and the hash that were seen first, if it was seen before: Flux names the last action that touched a revision, so that
// one which was installed becomes a "rollback" as soon as a rollback supersedes it.
func revision(s *helmv2.Snapshot, previous []v1alpha1.RevisionStatus) (entry v1alpha1.RevisionStatus, seen bool) {
	entry = v1alpha1.RevisionStatus{
		Revision:     int64(s.Version),
		ChartVersion: fluxstatus.AuthorVersion(s.ChartVersion),
		Action:       string(s.Action),
		Deployed:     timePtr(s.LastDeployed),
	}
	for _, before := range previous {
		if sameRevision(before, s) {
			entry.DesiredHash, entry.Attempt, seen = before.DesiredHash, before.Attempt, true
			entry.Action = cmp.Or(before.Action, entry.Action)
		}
	}
	return entry, seen
}

// unseen are the revisions that Flux no longer reports. One that was deployed has been superseded meanwhile.
func unseen(previous []v1alpha1.RevisionStatus, reported []*helmv2.Snapshot) []v1alpha1.RevisionStatus {
	var out []v1alpha1.RevisionStatus
	for _, entry := range previous {
		if slices.ContainsFunc(reported, func(s *helmv2.Snapshot) bool { return sameRevision(entry, s) }) {
			continue
		}
		if entry.Status == fluxstatus.StatusDeployed {
			entry.Status = fluxstatus.StatusSuperseded
		}
		out = append(out, entry)
	}
	return out
}

// newer orders by time, then by number.
func newer(a, b v1alpha1.RevisionStatus) bool {
	if a.Deployed != nil && b.Deployed != nil && !a.Deployed.Time.Equal(b.Deployed.Time) {
		return a.Deployed.Time.After(b.Deployed.Time)
	}
	return a.Revision > b.Revision
}

func timePtr(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
