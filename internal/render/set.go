// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Set is the input of the generator: gateways, classes and ConfigMaps, with what is wrong in their files. The zero value
// is an empty set.
type Set struct {
	gateways map[types.NamespacedName]*gatewayEntry
	classes  []v1alpha1.APIGatewayClass
	configs  map[types.NamespacedName]*corev1.ConfigMap
	// likeConfigs are what may have been meant for ConfigMaps.
	likeConfigs []likeConfig
	origins     map[string]origin
	notes       []Problem
	problems    []Problem
	effort      effort
	// kustomizations are the folders of those of which files were read, and which were not built.
	kustomizations map[string]bool
	// read is what is known already of the document that is being added.
	read ahead
	// unread says that something beside the gateways is faulty, so that gateways cannot be judged.
	unread bool
}

type gatewayEntry struct {
	gateway *v1alpha1.APIGateway
	// faulty gateways have been reported and are not planned.
	faulty bool
}

// Add reads a file: any number of YAML or JSON documents, lists among them. Kinds that Sluice has no use for are passed
// over. What is wrong is kept for Render.
func (s *Set) Add(file string, data []byte) {
	s.seeKustomization(file)
	documents, faults := split(data)
	s.fileProblems(file, faults)
	for start := 0; start < len(documents); start += atOnce {
		some := documents[start:min(start+atOnce, len(documents))]
		for i, read := range readAhead(some) {
			s.addDocument(file, &some[i], read)
		}
	}
}

// Note keeps what is worth knowing of a file or a directory, for Render to tell.
func (s *Set) Note(file, message string) {
	s.notes = append(s.notes, Problem{File: file, Message: message})
}

func (s *Set) addDocument(file string, d *document, read ahead) {
	root := read.root
	if root == nil {
		var faults []fault
		root, faults = parse(*d, &s.effort)
		s.fileProblems(file, faults)
	}
	if root != nil {
		s.read = read
		s.addNode(root, origin{file: file, document: d})
		s.read = ahead{}
	}
}

// AddObject reads an object that somebody else has parsed, so that its lines are not those of the file. Aliases within it
// are replaced by what they stand for.
func (s *Set) AddObject(file string, object *yaml.Node) {
	if faults := inlineAliases(object); faults != nil {
		for i := range faults {
			faults[i].line = 0
		}
		s.fileProblems(file, faults)
		return
	}
	s.addNode(object, origin{file: file})
}

// fileProblems reports what keeps a document from being read.
func (s *Set) fileProblems(file string, faults []fault) {
	for _, f := range faults {
		s.problems = append(s.problems, Problem{File: file, Line: f.line, Message: f.message})
		s.unread = true
	}
}

// objectProblems reports faults of one object, which is the node, and whether there were any.
func (s *Set) objectProblems(o origin, node *yaml.Node, object string, faults []fault) bool {
	for _, f := range faults {
		p := Problem{File: o.file, Object: object, APIVersion: scalarField(node, "apiVersion"), Field: f.field, Message: f.message, unbuilt: f.unbuilt && o.document != nil}
		if o.document != nil {
			p.Line = cmp.Or(f.line, lineOf(node, f.field))
		}
		s.problems = append(s.problems, p)
	}
	return len(faults) > 0
}

// place files an object under its name; a second one of that name is a problem that names both files.
func (s *Set) place(node *yaml.Node, object string, o origin) bool {
	first, taken := s.origins[object]
	if taken {
		s.problems = append(s.problems, Problem{
			File: o.file, Line: o.line, Object: object, APIVersion: scalarField(node, "apiVersion"),
			Message: twice(first.position()), unbuilt: o.document != nil, // a kustomization that was built has said all that it has to
		})
		return false
	}
	if s.origins == nil {
		s.origins = map[string]origin{}
	}
	s.origins[object] = o
	return true
}

func twice(first string) string {
	if first == "" {
		return "is in the input twice"
	}
	return "is in the input twice; the other one is at " + first
}
