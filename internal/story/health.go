// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
)

// Object of the release, with its health by the rules of kstatus, which are those that Flux waits by.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Health is Current, InProgress, Failed, Terminating, NotFound or Unknown.
	Health string `json:"health"`
	// Message says why it is not Current.
	Message string `json:"message,omitempty"`
}

// Unhealthy tells whether something is wrong with the object for all that is known.
func (o Object) Unhealthy() bool {
	return o.Health != status.CurrentStatus.String() && o.Health != status.UnknownStatus.String()
}

// objectsOf judges the objects; the unhealthy come first, then those that could not be judged. The inventory outlives a release
// that was uninstalled, as a failed first install is; then there are none.
func objectsOf(all []Live, release *Release) []Object {
	var objects []Object
	if release == nil || isGone(release.Revisions) {
		return nil
	}
	for _, live := range all {
		objects = append(objects, health(live))
	}
	slices.SortStableFunc(objects, func(a, b Object) int { return cmp.Compare(rank(a), rank(b)) })
	return objects
}

// isGone: the latest revision was taken away, with or without its record.
func isGone(revisions []Revision) bool {
	return len(revisions) > 0 && strings.HasPrefix(revisions[0].Status, "uninstall")
}

func rank(o Object) int {
	switch {
	case o.Unhealthy():
		return 0
	case o.Health == status.UnknownStatus.String():
		return 1
	}
	return 2
}

func health(live Live) Object {
	o := Object{Kind: live.Kind, Namespace: live.Namespace, Name: live.Name}
	switch {
	case live.Unread != "":
		o.Health, o.Message = status.UnknownStatus.String(), live.Unread
	case live.Object == nil:
		o.Health, o.Message = status.NotFoundStatus.String(), "it is part of the release, and does not exist"
	default:
		o.Health, o.Message = computed(live)
	}
	return o
}

func computed(live Live) (health, message string) {
	result, err := status.Compute(live.Object)
	if err != nil {
		return status.UnknownStatus.String(), err.Error()
	}
	if result.Status == status.CurrentStatus {
		return result.Status.String(), ""
	}
	return result.Status.String(), result.Message
}
