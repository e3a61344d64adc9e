// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxEvents are told.
const maxEvents = 12

// combined is what Kubernetes puts before the message when it lets one event stand for many.
const combined = "(combined from similar events): "

// Event about one of the story's objects.
type Event struct {
	// Time when it was last seen.
	Time metav1.Time `json:"time"`
	// Type is Normal or Warning.
	Type   string `json:"type"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Count is how often it was seen.
	Count   int32  `json:"count"`
	Message string `json:"message"`
}

// eventsOf are the latest, the newest first. The same event in two lists counts once.
func eventsOf(all []corev1.Event) []Event {
	seen := map[string]bool{}
	var events []Event
	for i := range all {
		e := &all[i]
		id := e.Namespace + "/" + e.Name
		if seen[id] {
			continue
		}
		seen[id] = true
		events = append(events, Event{
			Time: eventTime(e), Type: e.Type, Kind: e.InvolvedObject.Kind, Name: e.InvolvedObject.Name,
			Reason: e.Reason, Count: eventCount(e), Message: strings.TrimPrefix(oneLine(e.Message), combined),
		})
	}
	sort.SliceStable(events, func(i, j int) bool { return events[i].Time.After(events[j].Time.Time) })
	return events[:min(len(events), maxEvents)]
}

// eventTime: those who send events fill in different fields.
func eventTime(e *corev1.Event) metav1.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return metav1.NewTime(e.Series.LastObservedTime.Time)
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp
	case !e.EventTime.IsZero():
		return metav1.NewTime(e.EventTime.Time)
	}
	return e.CreationTimestamp
}

func eventCount(e *corev1.Event) int32 {
	if e.Series != nil {
		return max(e.Series.Count, 1)
	}
	return max(e.Count, 1)
}

// failedCreate is the reason of a workload's event when the API server refuses its pods.
const failedCreate = "FailedCreate"

// lost are the warnings about pods that are gone, as after a rollback, and about pods that never came to be: what kept them from
// running. Each reason once.
func lost(events []Event, in Input) []string {
	var causes []string
	told := map[string]bool{}
	for _, e := range events {
		gone := e.Kind == "Pod" && !isThere(in.Pods, e.Name)
		never := workloads[e.Kind] && e.Reason == failedCreate
		if e.Type != corev1.EventTypeWarning || !gone && !never || told[e.Reason] {
			continue
		}
		told[e.Reason] = true
		if never {
			causes = append(causes, "no pod could be made: "+e.Message)
		} else {
			causes = append(causes, "pod "+e.Name+", which is gone: "+e.Reason+": "+e.Message)
		}
	}
	return causes
}

func isThere(pods []corev1.Pod, name string) bool {
	for i := range pods {
		if pods[i].Name == name {
			return true
		}
	}
	return false
}
