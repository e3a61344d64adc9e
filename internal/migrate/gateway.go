// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	sjson "sigs.k8s.io/json"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// gateway is one that is being made. Its spec is a tree, so that what is left out leaves nothing behind.
type gateway struct {
	in          render.Input
	name        types.NamespacedName
	labels      map[string]string
	annotations map[string]string
	class       *v1alpha1.APIGatewayClass
	spec        map[string]any
	// from has the old field of each new one.
	from map[string]string
	// passedOver are those of them that the old operator did not act on.
	passedOver map[string]string
	// acted are the values that the old operator installed, as far as they are known.
	acted map[string]any
	// config is the ConfigMap of configRef, and secrets are Helm's, by release.
	config  *corev1.ConfigMap
	secrets map[types.NamespacedName][]*corev1.Secret
	// configMissing says that the ConfigMap of configRef is not in the input.
	configMissing bool
	warn          func(render.Problem)
}

// put sets a field of the spec, dotted, to what an old field said, and remembers which that was.
func (g *gateway) put(field, old string, value any) {
	if !plan.IsSet(value) {
		return
	}
	keys := strings.Split(field, ".")
	node := g.spec
	for _, key := range keys[:len(keys)-1] {
		next, ok := node[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			node[key] = next
		}
		node = next
	}
	node[keys[len(keys)-1]] = value
	if old != "" {
		g.from["spec."+field] = old
	}
}

// putNew is put for a field that the old operator passed over.
func (g *gateway) putNew(field, old string, value any) {
	if plan.IsSet(value) {
		g.passedOver["spec."+field] = old
	}
	g.put(field, old, value)
}

// drop removes a field, and what held nothing else.
func (g *gateway) drop(field string) {
	keys := strings.Split(strings.TrimPrefix(field, "spec."), ".")
	var remove func(node map[string]any, keys []string)
	remove = func(node map[string]any, keys []string) {
		if len(keys) > 1 {
			if inner, ok := node[keys[0]].(map[string]any); ok {
				remove(inner, keys[1:])
				if len(inner) > 0 {
					return
				}
			}
		}
		delete(node, keys[0])
	}
	remove(g.spec, keys)
}

// warning is about an old field.
func (g *gateway) warning(old, message string) {
	g.warn(g.in.Problem(old, message))
}

// ignored warns of an old field that is set and has no place.
func (g *gateway) ignored(old string, value any, reason string) {
	if plan.IsSet(value) {
		g.warning(old, "is not moved: "+reason)
	}
}

// tree is a value as JSON knows it, with int64 for integers.
func tree(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // what was decoded from JSON encodes
	}
	var out any
	if _, err := sjson.UnmarshalStrict(data, &out); err != nil {
		panic(err)
	}
	return out
}

// kind of what comes of an old object.
func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: name}
}

func (g *gateway) metadata() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: g.name.Name, Namespace: g.name.Namespace, Labels: g.labels, Annotations: g.annotations}
}

// typed is the APIGateway as the plan takes it.
func (g *gateway) typed() (*v1alpha1.APIGateway, error) {
	data, err := json.Marshal(g.spec)
	if err != nil {
		return nil, err
	}
	out := &v1alpha1.APIGateway{TypeMeta: kind(v1alpha1.APIGatewayKind), ObjectMeta: g.metadata()}
	return out, json.Unmarshal(data, &out.Spec)
}

func (g *gateway) printed() render.Object {
	return render.Printed(kind(v1alpha1.APIGatewayKind), g.metadata(), g.spec)
}

// printedClass is a class without what a cluster has added to it.
func printedClass(class *v1alpha1.APIGatewayClass) render.Object {
	metadata := metav1.ObjectMeta{Name: class.Name, Labels: class.Labels, Annotations: ofPeople(class.Annotations)}
	return render.Printed(kind(v1alpha1.APIGatewayClassKind), metadata, &class.Spec)
}

// ofMachines are the prefixes of labels and annotations that programs set, each for the object that it is on.
var ofMachines = []string{
	"kubectl.kubernetes.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "meta.helm.sh/", "helm.sh/",
	"app.kubernetes.io/managed-by", "argocd.argoproj.io/", WSO2Group + "/", "hypershell.redhat.io/",
}

// marks are those of them that no person sets.
var marks = []string{
	"kubectl.kubernetes.io/last-applied-configuration", "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace",
	"kustomize.toolkit.fluxcd.io/checksum", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace",
	"meta.helm.sh/release-name", "meta.helm.sh/release-namespace", "helm.sh/chart", "app.kubernetes.io/managed-by",
	"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance",
}

// ofPeople are the labels or annotations that people set.
func ofPeople(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if !ofMachine(key) {
			kept[key] = value
		}
	}
	return kept
}

func ofMachine(key string) bool {
	return slices.ContainsFunc(ofMachines, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// moveMarks moves labels and annotations. Those by which people tell a tool what to do with the old object stay with it.
func (g *gateway) moveMarks(labels, annotations map[string]string) {
	g.labels, g.annotations = ofPeople(labels), ofPeople(annotations)
	g.ignoreDirections("metadata.labels", labels)
	g.ignoreDirections("metadata.annotations", annotations)
}

func (g *gateway) ignoreDirections(field string, all map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if ofMachine(key) && !slices.Contains(marks, key) && !strings.HasPrefix(key, WSO2Group+"/") {
			g.ignored(field+"["+key+"]", all[key], "it tells a tool what to do with the old object")
		}
	}
}

// moveOwners says what else holds the old object, and does not hold the new one.
func (g *gateway) moveOwners(owners []metav1.OwnerReference, finalizers []string) {
	for _, owner := range owners {
		g.warning("metadata.ownerReferences", "is not moved: "+owner.Kind+" "+owner.Name+" owns the old object, and may make it again")
	}
	for _, finalizer := range finalizers {
		if !strings.HasPrefix(finalizer, WSO2Group+"/") {
			g.warning("metadata.finalizers", "is not moved: "+finalizer+" holds the old object alone; "+
				"whoever set it does not learn that the new one goes")
		}
	}
}
