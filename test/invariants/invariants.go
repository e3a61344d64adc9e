// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package invariants judges histories of a cluster: what must hold in every state, whatever is killed, cut off or late. It
// knows the chart of test/flux/testdata, by whose objects one sees what runs.
package invariants

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/history"
)

// Kinds are those that a history must have for Judge.
func Kinds() []history.Kind {
	return []history.Kind{
		{Path: "gateway.sluice.dev/apigateways", New: func() client.Object { return &v1alpha1.APIGateway{} }},
		{Path: "helm.toolkit.fluxcd.io/helmreleases", New: func() client.Object { return &helmv2.HelmRelease{} }},
		{Path: "configmaps", New: func() client.Object { return &corev1.ConfigMap{} }},
		{Path: "deployments", New: func() client.Object { return &appsv1.Deployment{} }},
		{Path: "secrets", New: func() client.Object { return &corev1.Secret{} }},
	}
}

// World is what there was at one revision.
type World struct {
	Gateways    map[types.NamespacedName]*v1alpha1.APIGateway
	Releases    map[types.NamespacedName]*helmv2.HelmRelease
	Configs     map[types.NamespacedName]*corev1.ConfigMap
	Deployments map[types.NamespacedName]*appsv1.Deployment
	Secrets     map[types.NamespacedName]*corev1.Secret
}

func newWorld() *World {
	return &World{
		Gateways:    map[types.NamespacedName]*v1alpha1.APIGateway{},
		Releases:    map[types.NamespacedName]*helmv2.HelmRelease{},
		Configs:     map[types.NamespacedName]*corev1.ConfigMap{},
		Deployments: map[types.NamespacedName]*appsv1.Deployment{},
		Secrets:     map[types.NamespacedName]*corev1.Secret{},
	}
}

// become takes a change over.
func (w *World) become(c history.Change) {
	switch o := c.Object.(type) {
	case *v1alpha1.APIGateway:
		put(w.Gateways, c, o)
	case *helmv2.HelmRelease:
		put(w.Releases, c, o)
	case *corev1.ConfigMap:
		put(w.Configs, c, o)
	case *appsv1.Deployment:
		put(w.Deployments, c, o)
	case *corev1.Secret:
		put(w.Secrets, c, o)
	}
}

func put[T any](all map[types.NamespacedName]T, c history.Change, object T) {
	if c.Gone {
		delete(all, c.Name)
	} else {
		all[c.Name] = object
	}
}

// judge is a replay of a history.
type judge struct {
	*World
	observed map[types.UID]int64 // the newest generation that each gateway's status spoke of
	running  map[types.UID]bool  // gateways that had a Deployment when their end began
	wrong    []string
}

// Judge replays a history and returns what there is at its end, and a line for each thing that must never be.
func Judge(changes []history.Change) (*World, []string) {
	j := &judge{World: newWorld(), observed: map[types.UID]int64{}, running: map[types.UID]bool{}}
	for _, c := range changes {
		j.next(c)
	}
	return j.World, slices.Compact(j.wrong)
}

func (j *judge) next(c history.Change) {
	switch o := c.Object.(type) {
	case *v1alpha1.APIGateway:
		j.gateway(c, o)
	case *helmv2.HelmRelease:
		j.release(c, o)
	}
	j.become(c)
	j.ready(c)
}

func (j *judge) accuse(c history.Change, format string, arguments ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf("%s at revision %d: ", c.Name, c.Revision)+fmt.Sprintf(format, arguments...))
}

// release: no HelmRelease is deleted whose gateway lives.
func (j *judge) release(c history.Change, hr *helmv2.HelmRelease) {
	before := j.Releases[c.Name]
	begins := before != nil && before.DeletionTimestamp == nil && (c.Gone || hr.DeletionTimestamp != nil)
	if !begins {
		return
	}
	gateway := j.Gateways[c.Name]
	if gateway != nil && gateway.DeletionTimestamp == nil && owner(hr) == gateway.UID {
		j.accuse(c, "the HelmRelease is deleted, and its gateway lives")
	}
}

// owner is the UID of a HelmRelease's gateway.
func owner(hr *helmv2.HelmRelease) types.UID {
	if controller := metav1.GetControllerOf(hr); controller != nil {
		return controller.UID
	}
	return types.UID(hr.Annotations[v1alpha1.AnnotationOwnerUID])
}

// gateway: one that goes leaves nothing, or under Orphan all that ran; and no status goes back.
func (j *judge) gateway(c history.Change, g *v1alpha1.APIGateway) {
	before := j.Gateways[c.Name]
	if g.DeletionTimestamp != nil && before != nil && before.DeletionTimestamp == nil {
		j.running[g.UID] = j.Deployments[c.Name] != nil
	}
	if c.Gone {
		j.gone(c, g)
		return
	}
	for _, rule := range Unsound(g) {
		j.accuse(c, "not so: %s", rule)
	}
	observed := g.Status.ObservedGeneration
	if observed < j.observed[g.UID] && observed > 0 {
		j.accuse(c, "the status went back from generation %d to %d", j.observed[g.UID], observed)
	}
	j.observed[g.UID] = observed
}

func (j *judge) gone(c history.Change, g *v1alpha1.APIGateway) {
	if hr := j.Releases[c.Name]; hr != nil && owner(hr) == g.UID {
		j.accuse(c, "the gateway is gone, and its HelmRelease is there")
	}
	if orphan := g.Spec.DeletionPolicy != nil && *g.Spec.DeletionPolicy == v1alpha1.DeletionOrphan; orphan {
		if j.running[g.UID] && j.Deployments[c.Name] == nil {
			j.accuse(c, "the gateway is gone under Orphan, and so is what ran")
		}
		return
	}
	if !slices.Contains(g.Finalizers, v1alpha1.Finalizer) && !j.running[g.UID] {
		return // it never was accepted, and what has its name is not its own
	}
	for _, left := range j.Of(c.Name) {
		j.accuse(c, "the gateway is gone, and %s is there", left)
	}
}

// Of is what there is of a gateway's release, sorted: its objects and Helm's records.
func (w *World) Of(gateway types.NamespacedName) []string {
	var found []string
	if w.Deployments[gateway] != nil {
		found = append(found, "Deployment "+gateway.Name)
	}
	if w.Configs[settings(gateway)] != nil {
		found = append(found, "ConfigMap "+settings(gateway).Name)
	}
	for name := range w.Secrets {
		if name.Namespace == gateway.Namespace && strings.HasPrefix(name.Name, "sh.helm.release.v1."+gateway.Name+".v") {
			found = append(found, "Secret "+name.Name)
		}
	}
	slices.Sort(found)
	return found
}

// settings is the chart's ConfigMap that shows what it was made from.
func settings(gateway types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: gateway.Namespace, Name: gateway.Name + "-settings"}
}

// ready: while a gateway says that its present spec is Ready, that spec is what runs. It is judged after every change of what
// the claim is about.
func (j *judge) ready(c history.Change) {
	name := types.NamespacedName{Namespace: c.Name.Namespace, Name: strings.TrimSuffix(c.Name.Name, "-settings")}
	g := j.Gateways[name]
	if g == nil || g.DeletionTimestamp != nil || !ClaimsReady(g) {
		return
	}
	for _, wrong := range j.differs(g) {
		j.wrong = append(j.wrong, fmt.Sprintf("%s at revision %d: the gateway is Ready, and %s", name, c.Revision, wrong))
	}
}

// ClaimsReady says whether the status says that the present spec is Ready.
func ClaimsReady(g *v1alpha1.APIGateway) bool {
	return isTrue(g, v1alpha1.ConditionReady) && g.Status.ObservedGeneration == g.Generation
}

// differs is how what runs differs from what the gateway itself asks for. What its class asks for is not compared: a status
// says nothing of the class's generation.
func (w *World) differs(g *v1alpha1.APIGateway) []string {
	name := client.ObjectKeyFromObject(g)
	config, deployment := w.Configs[settings(name)], w.Deployments[name]
	if config == nil || deployment == nil {
		return []string{fmt.Sprintf("of its objects there are only %q", w.Of(name))}
	}
	var wrong []string
	want := wanted(g)
	for key, value := range want.data {
		if config.Data[key] != value {
			wrong = append(wrong, fmt.Sprintf("%s is %q and not %q", key, config.Data[key], value))
		}
	}
	if has := deployment.Spec.Replicas; want.replicas != nil && has != nil && *has != *want.replicas {
		wrong = append(wrong, fmt.Sprintf("its Deployment has %d replicas and not %d", *has, *want.replicas))
	}
	slices.Sort(wrong)
	return wrong
}

// runs is what a gateway's spec says of the chart's objects.
type runs struct {
	data     map[string]string // of the ConfigMap; what the spec leaves open is not in it
	replicas *int32
}

func wanted(g *v1alpha1.APIGateway) runs {
	want := runs{data: map[string]string{}}
	if chart := g.Spec.Chart; chart != nil && chart.Tag != nil {
		want.data["chart"] = strings.TrimSuffix(*chart.Tag, ".0")
	}
	if g.Spec.Values != nil {
		var values struct{ Message *string }
		if err := json.Unmarshal(g.Spec.Values.Raw, &values); err == nil && values.Message != nil {
			want.data["message"] = *values.Message
		}
	}
	if infrastructure := g.Spec.Infrastructure; infrastructure != nil {
		want.replicas = infrastructure.Replicas
	}
	return want
}

// Left are the HelmReleases whose gateways are gone.
func (w *World) Left() []string {
	var left []string
	for name, hr := range w.Releases {
		if g := w.Gateways[name]; g == nil || owner(hr) != g.UID {
			left = append(left, fmt.Sprintf("%s: the HelmRelease is left of a gateway that is gone", name))
		}
	}
	slices.Sort(left)
	return left
}
