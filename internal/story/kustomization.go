// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// revisionOfEvent is the annotation of kustomize-controller's events that names the revision.
const revisionOfEvent = "kustomize.toolkit.fluxcd.io/revision"

// Kustomization is the Flux Kustomization that applies the gateway.
type Kustomization struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Suspended bool   `json:"suspended,omitempty"`
	// Source that it applies from, <kind> <namespace>/<name>.
	Source string `json:"source,omitempty"`
	// SourceRevision is what the source has, and SourceSince since when; absent where the source could not be read.
	SourceRevision string       `json:"sourceRevision,omitempty"`
	SourceSince    *metav1.Time `json:"sourceSince,omitempty"`
	// Applied is the revision that was applied last, Attempted the one that Flux last tried to apply.
	Applied    string             `json:"lastAppliedRevision,omitempty"`
	Attempted  string             `json:"lastAttemptedRevision,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// history is how Flux's tries ended, the last first.
	history meta.History
	// failure is what Flux last said against the revision that is not applied: no condition tells of it during the next try.
	failure string
}

// KustomizationSource is what a Kustomization applies from.
func KustomizationSource(o *unstructured.Unstructured) (kind, namespace, name string) {
	field := func(name string) string {
		text, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", name)
		return text
	}
	return field("kind"), cmp.Or(field("namespace"), o.GetNamespace()), field("name")
}

func kustomizationOf(in Input) *Kustomization {
	o := in.Kustomization
	if o == nil {
		return nil
	}
	k := &Kustomization{Name: o.GetName(), Namespace: o.GetNamespace()}
	var known struct {
		Spec struct {
			Suspend bool `json:"suspend"`
		} `json:"spec"`
		Status struct {
			Applied    string             `json:"lastAppliedRevision"`
			Attempted  string             `json:"lastAttemptedRevision"`
			Conditions []metav1.Condition `json:"conditions"`
			History    meta.History       `json:"history"`
		} `json:"status"`
	}
	// What another version of Flux writes otherwise is not told.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &known); err == nil {
		k.Suspended = known.Spec.Suspend
		k.Applied, k.Attempted, k.Conditions, k.history = known.Status.Applied, known.Status.Attempted, known.Status.Conditions, known.Status.History
	}
	k.readSource(in)
	k.failure = k.lastFailure(in.Events)
	return k
}

func (k *Kustomization) readSource(in Input) {
	kind, namespace, name := KustomizationSource(in.Kustomization)
	if name == "" {
		return
	}
	k.Source = fmt.Sprintf("%s %s/%s", kind, namespace, name)
	if in.KustomizationSource == nil {
		return
	}
	var known struct {
		Status struct {
			Artifact meta.Artifact `json:"artifact"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.KustomizationSource.Object, &known); err != nil {
		return
	}
	k.SourceRevision = known.Status.Artifact.Revision
	if since := known.Status.Artifact.LastUpdateTime; k.SourceRevision != "" && !since.IsZero() {
		k.SourceSince = &since
	}
}

// lastFailure is the newest warning about the revision that is not applied.
func (k *Kustomization) lastFailure(events []corev1.Event) string {
	revision := k.behind()
	var newest *corev1.Event
	for i := range events {
		e := &events[i]
		about := e.InvolvedObject.Kind == "Kustomization" && e.InvolvedObject.Namespace == k.Namespace && e.InvolvedObject.Name == k.Name
		if about && revision != "" && e.Type == corev1.EventTypeWarning && e.Annotations[revisionOfEvent] == revision &&
			(newest == nil || eventTime(e).After(eventTime(newest).Time)) {
			newest = e
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Reason + ": " + strings.TrimPrefix(oneLine(newest.Message), combined)
}

// behind is the revision that is to be applied and is not yet; empty when none is known. Where the source could not be read it
// is the one that Flux tries.
func (k *Kustomization) behind() string {
	if k == nil {
		return ""
	}
	wanted := cmp.Or(k.SourceRevision, k.Attempted)
	if wanted == k.Applied || wanted == k.Attempted && k.checksHealth() {
		return ""
	}
	return wanted
}

// checksHealth: the revision that Flux tries is applied, and counts as such only once all of it is healthy. A gateway that
// fails is among what is not, so that this tells of the gateway nothing that its own status does not.
func (k *Kustomization) checksHealth() bool {
	if ready := apimeta.FindStatusCondition(k.Conditions, meta.ReadyCondition); ready != nil && isOfHealth(ready.Reason) {
		return true
	}
	healthy := apimeta.FindStatusCondition(k.Conditions, meta.HealthyCondition)
	if healthy != nil && healthy.Status == metav1.ConditionUnknown && strings.Contains(healthy.Message, k.Attempted) {
		return true
	}
	// It is tried again.
	return slices.ContainsFunc(k.history, func(s meta.Snapshot) bool {
		return isOfHealth(s.LastReconciledStatus) && s.Metadata["revision"] == k.Attempted
	})
}

func isOfHealth(reason string) bool {
	return reason == meta.HealthCheckFailedReason || reason == meta.HealthCheckCanceledReason
}

// notApplied says which commit does not arrive, and why; empty when nothing is known to be in its way.
func (k *Kustomization) notApplied() string {
	if revision := k.behind(); revision != "" {
		return short(fmt.Sprintf("Kustomization %s/%s, which applies this gateway, %shas not applied %s%s: %s",
			k.Namespace, k.Name, k.stillAt(), revision, k.since(), k.says()))
	}
	if !k.fails() {
		return ""
	}
	return fmt.Sprintf("Kustomization %s/%s, which applies this gateway, is not ready, and what was committed since may not be in the cluster: %s",
		k.Namespace, k.Name, k.says())
}

func (k *Kustomization) stillAt() string {
	if k.Applied == "" {
		return ""
	}
	return "is still at " + k.Applied + " and "
}

func (k *Kustomization) since() string {
	if k.SourceSince == nil {
		return ""
	}
	return fmt.Sprintf(", which %s has had since %s", k.Source, k.SourceSince.UTC().Format(time.RFC3339))
}

// fails: Flux said no, and has not begun to try again.
func (k *Kustomization) fails() bool {
	if k == nil {
		return false
	}
	ready := apimeta.FindStatusCondition(k.Conditions, meta.ReadyCondition)
	return ready != nil && ready.Status == metav1.ConditionFalse && !isOfHealth(ready.Reason)
}

// says is Flux's own word, of which Ready has little while Flux is at work.
func (k *Kustomization) says() string {
	ready := apimeta.FindStatusCondition(k.Conditions, meta.ReadyCondition)
	working := apimeta.FindStatusCondition(k.Conditions, meta.ReconcilingCondition)
	switch {
	case k.Suspended && k.behind() != "":
		return "it is suspended"
	case ready == nil:
		return "Flux has not looked at it yet"
	case ready.Status == metav1.ConditionUnknown && k.failure != "":
		return "Flux tries again after " + k.failure
	case ready.Status == metav1.ConditionUnknown && working != nil:
		return ready.Reason + ": " + oneLine(working.Message)
	}
	return ready.Reason + ": " + oneLine(ready.Message)
}

// advice is what to do about a Kustomization that is in the way.
func (k *Kustomization) advice() []Advice {
	named := k.Name + " -n " + k.Namespace
	if k.Suspended {
		return []Advice{{"Somebody suspended the Kustomization; resume it when that person agrees.", "flux resume kustomization " + named}}
	}
	again := Advice{"To have Flux fetch and apply it now:", "flux reconcile kustomization " + named + " --with-source"}
	if k.fails() || k.failure != "" {
		return []Advice{{"Correct what the Kustomization's message names, and commit.", "kubectl describe kustomization " + named}, again}
	}
	return []Advice{{"Wait: Flux is at work; if that takes long, see what the Kustomization says.", "flux get kustomization " + named}, again}
}
