// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Reader reads objects of any kind as Set reads its own: exactly, and with a place for every fault. The zero value has read
// nothing.
type Reader struct {
	inputs   []Input
	problems []Problem
	effort   effort
}

// Input is an object in a file, not yet decoded.
type Input struct {
	APIVersion, Kind string
	node             *yaml.Node
	file             string
	lineless         bool
	effort           *effort
}

// Add reads a file: any number of YAML or JSON documents, lists among them.
func (r *Reader) Add(file string, data []byte) {
	documents, faults := split(data)
	r.fileProblems(file, faults)
	for i := range documents {
		root, faults := parse(documents[i], &r.effort)
		r.fileProblems(file, faults)
		if root != nil {
			r.addNode(file, root)
		}
	}
}

// AddObject reads an object, as JSON, that is in no file: its lines say nothing. The name goes before its problems.
func (r *Reader) AddObject(name string, data []byte) {
	before := len(r.inputs)
	r.Add(name, data)
	for i := range r.inputs[before:] {
		r.inputs[before+i].lineless = true
	}
}

// addNode takes an object, or the items of a list. What stands where nobody looks for objects is a problem, as to a Set.
func (r *Reader) addNode(file string, node *yaml.Node) {
	apiVersion, kind, items := scalarField(node, "apiVersion"), scalarField(node, "kind"), field(node, "items")
	holdsObjects := kind == listKind || strings.HasSuffix(kind, listKind) && (apiVersion == "" || apiVersion == "v1" || isOurs(apiVersion))
	switch {
	case node.Kind == yaml.SequenceNode:
		r.fileProblems(file, arrayFaults(node, func(item *yaml.Node) bool { return scalarField(item, "kind") != "" }))
		return
	case holdsObjects, isList(items) && strings.HasSuffix(kind, listKind):
		r.addList(file, node, items, holdsObjects)
		return
	}
	r.inputs = append(r.inputs, Input{APIVersion: apiVersion, Kind: kind, node: node, file: file, effort: &r.effort})
}

// addList takes a list's items. A list of somebody else's kind may hold what is no object; but one that has metadata is one.
func (r *Reader) addList(file string, list, items *yaml.Node, holdsObjects bool) {
	for _, f := range listFaults(items) {
		if holdsObjects || field(f.item, "metadata") != nil {
			r.problems = append(r.problems, Problem{
				File: file, Line: lineOf(list, f.field), Object: scalarField(list, "kind"), APIVersion: scalarField(list, "apiVersion"),
				Field: f.field, Message: f.message,
			})
		}
	}
	if !isList(items) {
		return
	}
	for _, item := range items.Content {
		r.addNode(file, item)
	}
}

func (r *Reader) fileProblems(file string, faults []fault) {
	for _, f := range faults {
		r.problems = append(r.problems, Problem{File: file, Line: f.line, Message: f.message})
	}
}

// Inputs are the objects read, in the order of the files.
func (r *Reader) Inputs() []Input { return r.inputs }

// Problems are what kept documents from being read.
func (r *Reader) Problems() []Problem { return r.problems }

// Node is the object as parsed. It may be changed before it is decoded; what keeps its node keeps its line.
func (i Input) Node() *yaml.Node { return i.node }

// Decode fills in what into points to. Fields that it does not have, and values of another type, are problems.
func (i Input) Decode(into any) []Problem {
	values, faults := toMap(i.node)
	if faults == nil {
		faults = decoder{values, into, i.effort}.strict()
	}
	return i.problems(faults)
}

// DecodeKnown is Decode for objects that are not ours to judge: fields that into does not have are passed over.
func (i Input) DecodeKnown(into any) []Problem {
	values, faults := toMap(i.node)
	if faults == nil {
		_, faults = decoder{values, into, i.effort}.types()
	}
	return i.problems(faults)
}

func (i Input) problems(faults []fault) []Problem {
	var all []Problem
	for _, f := range faults {
		p := i.Problem(f.field, f.message)
		if !i.lineless {
			p.Line = cmp.Or(f.line, p.Line)
		}
		all = append(all, p)
	}
	return all
}

// Problem is one of this object's, at its line.
func (i Input) Problem(field, message string) Problem {
	p := Problem{File: i.file, Object: ObjectName(i.node), APIVersion: i.APIVersion, Field: field, Message: message}
	if !i.lineless {
		p.Line = lineOf(i.node, field)
	}
	return p
}

// Printed is an object, without a status, that WriteYAML and WriteJSON print as they print Flux's.
func Printed(kind metav1.TypeMeta, metadata metav1.ObjectMeta, spec any) Object {
	return newObject(&manifest{kind, metadata, spec})
}
