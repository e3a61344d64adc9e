// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Set is the input of the generator: gateways, classes and ConfigMaps, with what is wrong in their files. The zero value
// is an empty set.
type Set struct {
	gateways map[types.NamespacedName]*gatewayEntry
	classes  []v1alpha1.APIGatewayClass
	configs  map[types.NamespacedName]*corev1.ConfigMap
	origins  map[string]origin
	problems []Problem
	// unread says that something beside the gateways is faulty, so that gateways cannot be judged.
	unread bool
}

type gatewayEntry struct {
	gateway *v1alpha1.APIGateway
	// faulty gateways have been reported and are not planned.
	faulty bool
}

// origin is where an object stands.
type origin struct {
	file     string
	document document
	// path leads to the object within a document that is a list.
	path string
	line int
}

// lineOf is the line of one of the object's fields. The document is parsed again for it: faults are rare, and the parsed
// form of a thousand gateways is large.
func (o origin) lineOf(field string) int {
	root, _ := parse(o.document)
	if root == nil || field == "" {
		return o.line
	}
	if o.path != "" {
		field = o.path + "." + field
	}
	return max(lineOf(root, field), o.line)
}

// Add reads a file: any number of YAML or JSON documents, lists among them. Kinds that Sluice has no use for are passed
// over. What is wrong is kept for Render.
func (s *Set) Add(file string, data []byte) {
	documents, faults := split(data)
	s.fileProblems(file, faults)
	for _, d := range documents {
		root, faults := parse(d)
		s.fileProblems(file, faults)
		if root != nil {
			s.addNode(root, origin{file: file, document: d})
		}
	}
}

// fileProblems reports what keeps a document from being read.
func (s *Set) fileProblems(file string, faults []fault) {
	for _, f := range faults {
		s.problems = append(s.problems, Problem{File: file, Line: f.line, Message: f.message})
		s.unread = true
	}
}

// objectProblems reports faults of one object, and whether there were any.
func (s *Set) objectProblems(o origin, object string, faults []fault) bool {
	for _, f := range faults {
		line := f.line
		if line == 0 {
			line = o.lineOf(f.field)
		}
		s.problems = append(s.problems, Problem{File: o.file, Line: line, Object: object, Field: f.field, Message: f.message})
	}
	return len(faults) > 0
}

// place files an object under its name; a second one of that name is a problem that names both files.
func (s *Set) place(object string, o origin) bool {
	first, taken := s.origins[object]
	if taken {
		s.problems = append(s.problems, Problem{
			File: o.file, Line: o.line, Object: object,
			Message: fmt.Sprintf("is in the input twice; the other one is at %s:%d", first.file, first.line),
		})
		return false
	}
	if s.origins == nil {
		s.origins = map[string]origin{}
	}
	s.origins[object] = o
	return true
}
