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
	"github.com/sluice-gateway/sluice/internal/spelling"
)

const (
	configMapKind = "ConfigMap"
	secretKind    = "Secret"
	listKind      = "List"
)

// addNode places an object, or the items of a list, wherever they nest.
func (s *Set) addNode(node *yaml.Node, o origin) {
	if o.document != nil {
		o.line = node.Line
	}
	apiVersion, kind := scalarField(node, "apiVersion"), scalarField(node, "kind")
	ours := isOurs(apiVersion)
	items := field(node, "items")
	switch {
	case node.Kind == yaml.SequenceNode:
		s.addArray(node, o)
	case kind == listKind, ours && strings.HasSuffix(kind, listKind), apiVersion == "v1" && kind == configMapKind+listKind:
		s.addList(node, items, o)
	case isList(items) && strings.HasSuffix(kind, listKind):
		s.addItems(items, o)
	case ours:
		s.addOurs(node, o, apiVersion, kind)
	case apiVersion == "v1" && kind == configMapKind:
		s.addConfigMap(node, o)
	case kind == v1alpha1.APIGatewayKind, kind == v1alpha1.APIGatewayClassKind:
		s.addNamesake(node, o, apiVersion)
	default:
		s.addLikeConfig(node, o, apiVersion, kind)
	}
}

func isOurs(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == v1alpha1.GroupVersion.Group
}

// addArray refuses objects that nobody reads so. Other arrays, as JSON patches are, lie beside objects with good reason.
func (s *Set) addArray(node *yaml.Node, o origin) {
	s.fileProblems(o.file, arrayFaults(node, func(item *yaml.Node) bool {
		return scalarField(item, "apiVersion") != "" && scalarField(item, "kind") != ""
	}))
}

// arrayFaults name the objects of a document that is an array.
func arrayFaults(array *yaml.Node, isObject func(*yaml.Node) bool) (faults []fault) {
	for i, item := range array.Content {
		if isObject(item) {
			faults = append(faults, fault{line: item.Line, message: fmt.Sprintf("[%d]: %s stands in an array, and a document is one object: "+
				"write each as a document of its own, or all as items of a List", i, ObjectName(item))})
		}
	}
	return faults
}

// addList refuses a list that holds something else than objects. Items of ours without a kind are addOurs' to refuse.
func (s *Set) addList(node, items *yaml.Node, o origin) {
	for _, f := range listFaults(items) {
		if item := f.item; item == nil || !isOurs(scalarField(item, "apiVersion")) {
			s.refuse(node, o, scalarField(node, "kind"), f.fault)
		}
	}
	if isList(items) {
		s.addItems(items, o)
	}
}

// listFault is what is wrong with a list, or with one item of it that has no kind.
type listFault struct {
	fault
	item *yaml.Node
}

// listFaults say where a list holds something else than objects: whatever that was meant to be would be passed over. No items at
// all are how some programs write that there are none.
func listFaults(items *yaml.Node) (faults []listFault) {
	switch {
	case items == nil:
		return []listFault{{fault: fault{field: "items", message: "is missing"}}}
	case !isList(items) && !yaml.IsYNodeTaggedNull(items):
		return []listFault{{fault: fault{field: "items", message: "must be a list of objects"}}}
	}
	for i, item := range items.Content {
		at := indexPath("items", i)
		switch {
		case item.Kind != yaml.MappingNode:
			faults = append(faults, listFault{fault: fault{field: at, message: "must be an object, not " + Shape(item)}})
		case scalarField(item, "kind") == "":
			faults = append(faults, listFault{item: item, fault: fault{
				field: at + ".kind", message: "is missing; the API server's own answers leave it out, kubectl get -o yaml does not"}})
		}
	}
	return faults
}

func isList(node *yaml.Node) bool {
	return node != nil && node.Kind == yaml.SequenceNode
}

// Shape says what stands in the place of something else: a short word, or the scalar itself.
func Shape(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a map"
	case node.Kind == yaml.AliasNode:
		return "the alias *" + node.Value
	case yaml.IsYNodeTaggedNull(node):
		return "null"
	}
	return node.Value
}

func (s *Set) addItems(items *yaml.Node, o origin) {
	for i, item := range items.Content {
		inner := o
		inner.path = strings.TrimPrefix(indexPath(o.path+".items", i), ".")
		s.addNode(item, inner)
	}
}

// addOurs refuses whatever of our group is not known, since it was meant for us.
func (s *Set) addOurs(node *yaml.Node, o origin, apiVersion, kind string) {
	ours := v1alpha1.GroupVersion.String()
	kinds := fmt.Sprintf("%s has %s and %s", ours, v1alpha1.APIGatewayKind, v1alpha1.APIGatewayClassKind)
	switch {
	case apiVersion != ours:
		s.refuse(node, o, ObjectName(node), fault{field: "apiVersion", message: notKnown(apiVersion)})
	case kind == v1alpha1.APIGatewayKind:
		s.addGateway(node, o)
	case kind == v1alpha1.APIGatewayClassKind:
		s.addClass(node, o)
	case kind == "":
		s.refuse(node, o, ObjectName(node), fault{field: "kind", message: "is missing; " + kinds})
	default:
		s.refuse(node, o, ObjectName(node), fault{field: "kind", message: fmt.Sprintf("%s is not a kind of %s, which has %s and %s",
			kind, ours, v1alpha1.APIGatewayKind, v1alpha1.APIGatewayClassKind)})
	}
}

func notKnown(apiVersion string) string {
	return fmt.Sprintf("%s is not known; this sluice knows %s", apiVersion, v1alpha1.GroupVersion)
}

// addNamesake judges an object with the name of one of our kinds and another apiVersion: other people have such kinds,
// too, but where the apiVersion is missing or misspelt, ours was meant.
func (s *Set) addNamesake(node *yaml.Node, o origin, apiVersion string) {
	ours := v1alpha1.GroupVersion.String()
	switch {
	case apiVersion == "":
		s.refuse(node, o, ObjectName(node), fault{field: "apiVersion", message: "is missing; write " + ours})
	case !strings.Contains(apiVersion, "/"), strings.Contains(apiVersion, "sluice"),
		spelling.Nearest(apiVersion, []string{ours}, len(ours)/5) != "":
		s.refuse(node, o, ObjectName(node), fault{field: "apiVersion", message: notKnown(apiVersion)})
	default:
		s.notes = append(s.notes, Problem{File: o.file, Line: o.line, Object: ObjectName(node), APIVersion: apiVersion,
			Message: fmt.Sprintf("skipped: its apiVersion is %s, not %s", apiVersion, ours)})
	}
}

func (s *Set) refuse(node *yaml.Node, o origin, object string, f fault) {
	s.objectProblems(o, node, object, []fault{f})
	s.unread = true
}

func (s *Set) addGateway(node *yaml.Node, o origin) {
	object := ObjectName(node)
	gateway, faults := s.readGateway(node)
	faults = append(faults, nameFaults(node)...)
	if scalarField(field(node, "metadata"), "namespace") == "" {
		faults = append(faults, fault{field: "metadata.namespace", unbuilt: true, message: "is missing; write it here, since a namespace " +
			"given by kubectl or by a Kustomization's targetNamespace is not seen"})
	}
	faulty := s.objectProblems(o, node, object, faults)
	if !s.place(node, object, o) {
		return
	}
	if s.gateways == nil {
		s.gateways = map[types.NamespacedName]*gatewayEntry{}
	}
	s.gateways[types.NamespacedName{Namespace: gateway.Namespace, Name: gateway.Name}] = &gatewayEntry{gateway, faulty}
}

// readGateway takes the gateway that was read ahead, if it is this one.
func (s *Set) readGateway(node *yaml.Node) (*v1alpha1.APIGateway, []fault) {
	if s.read.root == node && s.read.gateway != nil {
		return s.read.gateway, nil
	}
	gateway := &v1alpha1.APIGateway{}
	return gateway, decodeNode(node, gateway, &s.effort)
}

func (s *Set) addClass(node *yaml.Node, o origin) {
	object := v1alpha1.APIGatewayClassKind + " " + scalarField(field(node, "metadata"), "name")
	class := v1alpha1.APIGatewayClass{}
	faults := append(decodeNode(node, &class, &s.effort), nameFaults(node)...)
	if s.objectProblems(o, node, object, faults) || !s.place(node, object, o) {
		s.unread = true
		return
	}
	s.classes = append(s.classes, class)
}

// addConfigMap keeps every ConfigMap, since a gateway of a later file may refer to it. Its unknown fields are not ours to
// judge.
func (s *Set) addConfigMap(node *yaml.Node, o origin) {
	object := ObjectName(node)
	config := &corev1.ConfigMap{}
	values, faults := toMap(node)
	if faults == nil {
		_, faults = decoder{values, config, &s.effort}.types()
	}
	if s.objectProblems(o, node, object, faults) || !s.place(node, object, o) {
		s.unread = true
		return
	}
	if s.configs == nil {
		s.configs = map[types.NamespacedName]*corev1.ConfigMap{}
	}
	s.configs[types.NamespacedName{Namespace: config.Namespace, Name: config.Name}] = config
}

func decodeNode(node *yaml.Node, into any, e *effort) []fault {
	values, faults := toMap(node)
	if faults != nil {
		return faults
	}
	return decoder{values, into, e}.strict()
}

func nameFaults(node *yaml.Node) []fault {
	if scalarField(field(node, "metadata"), "name") != "" {
		return nil
	}
	return []fault{{field: "metadata.name", message: "is missing"}}
}

// ObjectName is what problems call an object: kind namespace/name, as far as they are there.
func ObjectName(node *yaml.Node) string {
	return strings.TrimSpace(scalarField(node, "kind") + " " + nameOf(node))
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
