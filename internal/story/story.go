// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package story stands beside the flow: from a gateway and all that came of it (source, HelmRelease, the objects of the
// release, pods, events) it makes the story that an engineer on call needs, what is wrong first, and prints it. It is pure:
// internal/cli reads the cluster, and says what it could not read; time is an argument.
package story

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// APIVersion and Kind of a story in JSON. Fields are added, and never renamed, within one version.
const (
	APIVersion = "cli.sluice.dev/v1alpha1"
	Kind       = "GatewayStory"
)

// Input is what a story is told from. Nothing in it is changed.
type Input struct {
	// Gateway as the API server has it.
	Gateway *v1alpha1.APIGateway
	// Release is the HelmRelease of the gateway's name; nil when there is none, or it could not be read.
	Release *helmv2.HelmRelease
	// Source is the wanted OCIRepository; nil when there is none, or it could not be read.
	Source *sourcev1.OCIRepository
	// Kustomization is the Flux Kustomization that applies the gateway; nil when none does, or it could not be read.
	Kustomization *unstructured.Unstructured
	// KustomizationSource is what that applies from, as a GitRepository; nil when there is none, or it could not be read.
	KustomizationSource *unstructured.Unstructured
	// Objects are those of the HelmRelease's inventory, in its order.
	Objects []Live
	// Pods of the workloads among the objects.
	Pods []corev1.Pod
	// Events of the gateway, the HelmRelease, the source, objects, pods, and the Kustomization, in any order.
	Events []corev1.Event
	// Gaps are what could not be read.
	Gaps []Gap
	// Program is the command as people call it: sluice, or kubectl sluice.
	Program string
	// Now is the time.
	Now metav1.Time
}

// Live is an object of the inventory.
type Live struct {
	Kind      string
	Namespace string
	Name      string
	// Object as the API server has it; nil when there is none, or it could not be read.
	Object *unstructured.Unstructured
	// Unread says why it could not be read; empty when it was looked for.
	Unread string
}

// Gap is something that could not be read, and why.
type Gap struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Story is all that there is to say of one gateway.
type Story struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Time       metav1.Time `json:"time"`
	Verdict    Verdict     `json:"verdict"`
	Gateway    Gateway     `json:"gateway"`
	// Kustomization that applies the gateway.
	Kustomization *Kustomization `json:"kustomization,omitempty"`
	Source        *Source        `json:"source,omitempty"`
	Release       *Release       `json:"release,omitempty"`
	// Objects of the release, the unhealthy first.
	Objects []Object `json:"objects,omitempty"`
	// Pods that are not ready, of all that the release's workloads have.
	Pods PodSummary `json:"pods"`
	// Events, the newest first.
	Events []Event `json:"events,omitempty"`
	// Gaps are what could not be read, so that the story may lack it.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Verdict is what the rest of the story comes to.
type Verdict struct {
	// Phase of the gateway; empty when the operator has not looked at it yet.
	Phase string `json:"phase"`
	// Reason of Ready.
	Reason string `json:"reason,omitempty"`
	// Since is when that began, as the condition tells that the reason comes from; absent where none does.
	Since *metav1.Time `json:"since,omitempty"`
	// SinceOf is what began then where that is not known of the reason, as "Accepted is False", which may have had other reasons.
	SinceOf string `json:"sinceOf,omitempty"`
	// Behind is the revision that the Kustomization has not applied yet; empty when none is known.
	Behind string `json:"behind,omitempty"`
	// Runs says what runs although the gateway is not Ready; empty when nothing is known to.
	Runs string `json:"runs,omitempty"`
	// Healthy: Ready, and all objects and pods are healthy now, as far as they could be read.
	Healthy bool `json:"healthy"`
	// Message says what is wrong, or what runs.
	Message string `json:"message"`
	// Causes of it, the most telling first.
	Causes []string `json:"causes,omitempty"`
	// Advice says what to do now.
	Advice []Advice `json:"advice,omitempty"`
	// Next is what happens without anybody's doing.
	Next []Step `json:"next,omitempty"`
}

// Advice is a sentence, with the command that it speaks of.
type Advice struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

// Step is something that happens, and when if that is known.
type Step struct {
	Text string       `json:"text"`
	Time *metav1.Time `json:"time,omitempty"`
}

// Gateway is the APIGateway itself.
type Gateway struct {
	Name               string      `json:"name"`
	Namespace          string      `json:"namespace"`
	Created            metav1.Time `json:"created"`
	Class              string      `json:"class,omitempty"`
	Generation         int64       `json:"generation"`
	ObservedGeneration int64       `json:"observedGeneration"`
	// AppliedBy is the Flux Kustomization that applies it, <namespace>/<name>.
	AppliedBy string `json:"appliedBy,omitempty"`
	// Failures are the failed rounds of the present desired state.
	Failures   int64              `json:"failures,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Source is the wanted OCIRepository.
type Source struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	URL       string `json:"url,omitempty"`
	// Ref is what of the chart is wanted: a tag, a range or a digest.
	Ref string `json:"ref,omitempty"`
	// Revision of the artifact, <tag>@<digest>, or the last one known.
	Revision   string             `json:"revision,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Release is the HelmRelease.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Foreign: it belongs to somebody else; nothing else is told of it.
	Foreign   bool `json:"foreign,omitempty"`
	Suspended bool `json:"suspended,omitempty"`
	// Helm is the Helm release, <namespace>/<name>.
	Helm string `json:"helm,omitempty"`
	// Source that it refers to, <namespace>/<name>.
	Source     string             `json:"source,omitempty"`
	Revisions  []Revision         `json:"revisions,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Tell makes the story.
func Tell(in Input) Story {
	s := Story{
		APIVersion:    APIVersion,
		Kind:          Kind,
		Time:          in.Now,
		Gateway:       gatewayOf(in.Gateway),
		Kustomization: kustomizationOf(in),
		Source:        sourceOf(in),
		Release:       releaseOf(in),
		Pods:          podsOf(in.Pods, in.Now),
		Events:        eventsOf(in.Events),
		Gaps:          in.Gaps,
	}
	s.Objects = objectsOf(in.Objects, s.Release)
	s.Verdict = judge(in, s)
	return s
}

// Labels that kustomize-controller sets on what it applies.
const (
	labelKustomization          = "kustomize.toolkit.fluxcd.io/name"
	labelKustomizationNamespace = "kustomize.toolkit.fluxcd.io/namespace"
)

// AppliedBy is the Flux Kustomization that applies a gateway, as <namespace>/<name>; empty when none does.
func AppliedBy(g *v1alpha1.APIGateway) string {
	if g.Labels[labelKustomization] == "" {
		return ""
	}
	return g.Labels[labelKustomizationNamespace] + "/" + g.Labels[labelKustomization]
}

func gatewayOf(g *v1alpha1.APIGateway) Gateway {
	return Gateway{
		Name:               g.Name,
		Namespace:          g.Namespace,
		Created:            g.CreationTimestamp,
		Class:              g.Status.ClassName,
		Generation:         g.Generation,
		ObservedGeneration: g.Status.ObservedGeneration,
		AppliedBy:          AppliedBy(g),
		Failures:           g.Status.Failures,
		Conditions:         g.Status.Conditions,
	}
}

func sourceOf(in Input) *Source {
	known := in.Gateway.Status.Source
	switch {
	case in.Source != nil:
		s := &Source{Name: in.Source.Name, Namespace: in.Source.Namespace, URL: in.Source.Spec.URL,
			Ref: refOf(in.Source.Spec.Reference), Conditions: in.Source.Status.Conditions}
		if in.Source.Status.Artifact != nil {
			s.Revision = in.Source.Status.Artifact.Revision
		} else if known != nil && known.Name == s.Name && known.Namespace == s.Namespace {
			s.Revision = known.Revision
		}
		return s
	case known != nil:
		return &Source{Name: known.Name, Namespace: known.Namespace, Revision: known.Revision}
	}
	return nil
}

func refOf(ref *sourcev1.OCIRepositoryRef) string {
	switch {
	case ref == nil:
		return ""
	case ref.Digest != "":
		return ref.Digest
	case ref.SemVer != "":
		return ref.SemVer
	}
	return ref.Tag
}

func releaseOf(in Input) *Release {
	hr := in.Release
	if hr == nil {
		return nil
	}
	r := &Release{Name: hr.Name, Namespace: hr.Namespace, Suspended: hr.Spec.Suspend}
	if !Owns(in.Gateway, hr) {
		r.Foreign = true
		return r
	}
	if hr.Spec.ChartRef != nil {
		r.Source = hr.Spec.ChartRef.Namespace + "/" + hr.Spec.ChartRef.Name
	}
	r.Helm = hr.GetReleaseNamespace() + "/" + hr.GetReleaseName()
	r.Revisions = revisions(in.Gateway.Status, hr.Status.History)
	r.Conditions = hr.Status.Conditions
	return r
}

// Owns tells whether a HelmRelease is the gateway's, by the same marks as the operator.
func Owns(g *v1alpha1.APIGateway, hr *helmv2.HelmRelease) bool {
	if owner := metav1.GetControllerOf(hr); owner != nil {
		return owner.UID == g.UID
	}
	return g.UID != "" && hr.Annotations[v1alpha1.AnnotationOwnerUID] == string(g.UID)
}
