// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v2"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// The library that documents of values are read with tells no line of a value. Where one is at fault, the document is parsed
// once more by a library that does.

// Of how many problems the lines are looked for, and how many tags are tried: whoever writes a document must not choose how long
// it takes to refuse it.
const (
	maxLocated = 100
	maxTried   = 10_000
)

// locate gives problems the lines of the values that they are about.
func locate(document []byte, problems []problem) {
	root := parsed(document)
	if root == nil {
		return
	}
	for i := range problems[:min(len(problems), maxLocated)] {
		problems[i].line = problems[i].lineIn(root)
	}
}

// Lines tells on which line of a document of values each value stands.
type Lines struct{ root *kyaml.Node }

// LinesOf parses the document once more.
func LinesOf(document []byte) Lines {
	return Lines{parsed(document)}
}

// At is the line, from 1, of the value at the path or of its key, or of the nearest value around it that is found; 0 where the
// document holds nothing.
func (l Lines) At(path Path) int {
	if l.root == nil {
		return 0
	}
	return problem{path: path}.lineIn(l.root)
}

// parsed is what the document holds; nil where that is nothing.
func parsed(document []byte) *kyaml.Node {
	var node kyaml.Node
	if kyaml.NewDecoder(bytes.NewReader(document)).Decode(&node) != nil || len(node.Content) == 0 {
		return nil
	}
	return node.Content[0]
}

// lineIn is the line of the value or the key that the problem is about, or of the nearest value around it that is found: a key may
// be written in several ways, or be merged from elsewhere.
func (p problem) lineIn(node *kyaml.Node) int {
	line := node.Line
	for _, step := range p.path {
		if node.Kind == kyaml.AliasNode {
			node = node.Alias
		}
		begins, value := child(node, step)
		if value == nil {
			return line
		}
		line, node = begins, value
	}
	if p.ofKey && node.Kind == kyaml.MappingNode {
		for i := 0; i < len(node.Content); i += 2 {
			if key, err := decodeScalar(node.Content[i]); err == nil && key == p.key {
				return node.Content[i].Line
			}
		}
	}
	return line
}

// decodeScalar is what the library that documents are read with makes of a scalar.
func decodeScalar(scalar *kyaml.Node) (value any, err error) {
	quoted, err := json.Marshal(scalar.Value)
	if err == nil {
		err = yaml.Unmarshal([]byte(scalar.Tag+" "+string(quoted)), &value)
	}
	return value, err
}

// child is the value one step below, and the line on which it or its key begins; nil where it is not found.
func child(node *kyaml.Node, step Step) (int, *kyaml.Node) {
	if step.IsIndex {
		if node.Kind != kyaml.SequenceNode || step.Index >= len(node.Content) {
			return 0, nil
		}
		return node.Content[step.Index].Line, node.Content[step.Index]
	}
	if node.Kind == kyaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i]; key.Kind == kyaml.ScalarNode && key.Value == step.Key {
				return key.Line, node.Content[i+1]
			}
		}
	}
	return 0, nil
}

// misread is the first place of a document at which the library fails without a line: a scalar that is not what its tag says, or a
// key that is a list or a map. Nil where there is none.
func misread(document []byte) *problem {
	root := parsed(document)
	if root == nil {
		return nil
	}
	var s search
	s.walk(root)
	return s.found
}

type search struct {
	// at is the path of the node that is looked at. It grows and shrinks.
	at    Path
	tried int
	found *problem
}

func (s *search) walk(node *kyaml.Node) {
	if node.Kind == kyaml.ScalarNode && node.Style&kyaml.TaggedStyle != 0 && s.tried < maxTried {
		s.tried++
		if _, err := decodeScalar(node); err != nil {
			s.is(node, NotAsTagged(node.Tag, node.Value))
		}
	}
	for i, inner := range node.Content {
		step := Step{Index: i, IsIndex: true}
		if isKey := node.Kind == kyaml.MappingNode && i%2 == 0; isKey {
			s.key(inner)
			continue
		}
		if node.Kind == kyaml.MappingNode {
			step = Step{Key: node.Content[i-1].Value}
		}
		s.at = append(s.at, step)
		s.walk(inner)
		s.at = s.at[:len(s.at)-1]
		if s.found != nil {
			return
		}
	}
}

func (s *search) key(key *kyaml.Node) {
	switch key.Kind {
	case kyaml.ScalarNode:
		s.walk(key)
	case kyaml.MappingNode, kyaml.SequenceNode:
		s.is(key, "a key here is a list or a map, and must be a string")
	}
}

func (s *search) is(node *kyaml.Node, text string) {
	if s.found == nil {
		s.found = &problem{line: node.Line, path: slices.Clone(s.at), text: text}
	}
}

// NotAsTagged says what is wrong with a scalar that is not what its YAML tag says.
func NotAsTagged(tag, value string) string {
	kinds := map[string]string{
		"!!binary": "base64", "!!bool": "true or false", "!!float": "a number", "!!int": "an integer", "!!null": "null", "!!timestamp": "a time",
	}
	return fmt.Sprintf("is tagged %s, and %s is not %s; leave out the tag, if it is meant as text", tag, short(value), cmp.Or(kinds[tag], "that"))
}
