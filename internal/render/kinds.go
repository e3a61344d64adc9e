// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const configMapKind = "ConfigMap"

// addNode places an object, or the items of a list, wherever they nest.
func (s *Set) addNode(node *yaml.Node, o origin) {
	apiVersion, kind := scalarField(node, "apiVersion"), scalarField(node, "kind")
	o.line = node.Line
	if items := field(node, "items"); items != nil && strings.HasSuffix(kind, "List") {
		for i, item := range items.Content {
			inner := o
			inner.path = strings.TrimPrefix(indexPath(o.path+".items", i), ".")
			s.addNode(item, inner)
		}
		return
	}
	group, _, _ := strings.Cut(apiVersion, "/")
	switch {
	case group == v1alpha1.GroupVersion.Group:
		s.addOurs(node, o, apiVersion, kind)
	case apiVersion == "v1" && kind == configMapKind:
		s.addConfigMap(node, o)
	}
}

// addOurs refuses whatever of our group is not known, since it was meant for us.
func (s *Set) addOurs(node *yaml.Node, o origin, apiVersion, kind string) {
	switch ours := v1alpha1.GroupVersion.String(); {
	case apiVersion != ours:
		s.refuse(node, o, fault{field: "apiVersion", message: fmt.Sprintf("%s is not known; this sluice knows %s", apiVersion, ours)})
	case kind == v1alpha1.APIGatewayKind:
		s.addGateway(node, o)
	case kind == v1alpha1.APIGatewayClassKind:
		s.addClass(node, o)
	default:
		s.refuse(node, o, fault{field: "kind", message: fmt.Sprintf("%s is not a kind of %s, which has %s and %s",
			kind, ours, v1alpha1.APIGatewayKind, v1alpha1.APIGatewayClassKind)})
	}
}

func (s *Set) refuse(node *yaml.Node, o origin, f fault) {
	s.objectProblems(o, scalarField(node, "kind")+" "+nameOf(node), []fault{f})
	s.unread = true
}

func (s *Set) addGateway(node *yaml.Node, o origin) {
	object := v1alpha1.APIGatewayKind + " " + nameOf(node)
	gateway := &v1alpha1.APIGateway{}
	faults := append(decodeNode(node, gateway), nameFaults(node)...)
	if scalarField(field(node, "metadata"), "namespace") == "" {
		faults = append(faults, fault{field: "metadata.namespace", message: "is missing; write it here, since a namespace given by " +
			"kubectl or by a Kustomization's targetNamespace is not seen"})
	}
	faulty := s.objectProblems(o, object, faults)
	if !s.place(object, o) {
		return
	}
	if s.gateways == nil {
		s.gateways = map[types.NamespacedName]*gatewayEntry{}
	}
	s.gateways[types.NamespacedName{Namespace: gateway.Namespace, Name: gateway.Name}] = &gatewayEntry{gateway, faulty}
}

func (s *Set) addClass(node *yaml.Node, o origin) {
	object := v1alpha1.APIGatewayClassKind + " " + scalarField(field(node, "metadata"), "name")
	class := v1alpha1.APIGatewayClass{}
	faults := append(decodeNode(node, &class), nameFaults(node)...)
	if s.objectProblems(o, object, faults) || !s.place(object, o) {
		s.unread = true
		return
	}
	s.classes = append(s.classes, class)
}

// addConfigMap keeps every ConfigMap, since a gateway of a later file may refer to it. Its unknown fields are not ours to
// judge.
func (s *Set) addConfigMap(node *yaml.Node, o origin) {
	object := configMapKind + " " + nameOf(node)
	config := &corev1.ConfigMap{}
	values, faults := toMap(node)
	if faults == nil {
		_, faults = decodeTypes(values, config)
	}
	if s.objectProblems(o, object, faults) || !s.place(object, o) {
		s.unread = true
		return
	}
	if s.configs == nil {
		s.configs = map[types.NamespacedName]*corev1.ConfigMap{}
	}
	s.configs[types.NamespacedName{Namespace: config.Namespace, Name: config.Name}] = config
}

func decodeNode(node *yaml.Node, into any) []fault {
	values, faults := toMap(node)
	if faults != nil {
		return faults
	}
	return decodeStrict(values, into)
}

func nameFaults(node *yaml.Node) []fault {
	if scalarField(field(node, "metadata"), "name") != "" {
		return nil
	}
	return []fault{{field: "metadata.name", message: "is missing"}}
}

// nameOf is namespace/name, as far as they are there.
func nameOf(node *yaml.Node) string {
	meta := field(node, "metadata")
	name := cmp.Or(scalarField(meta, "name"), "(unnamed)")
	if namespace := scalarField(meta, "namespace"); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// field is a map's value; nil when there is none.
func field(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func scalarField(node *yaml.Node, key string) string {
	value := field(node, key)
	if value == nil || value.Kind != yaml.ScalarNode {
		return ""
	}
	return value.Value
}
