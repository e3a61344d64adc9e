// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// origin is where an object stands.
type origin struct {
	file string
	// document that holds it; nil for an object that came without one, of which no line is known.
	document *document
	// path leads to the object within a document that is a list.
	path string
	line int
}

// position is file:line, as far as they are known.
func (o origin) position() string {
	return Problem{File: o.file, Line: o.line}.position()
}

// lineIn is the line of what a problem is about; root is the whole document. Of a text that a field holds, only a literal block
// has its lines in the file: of any other the problem's message tells the line.
func (o origin) lineIn(root *yaml.Node, p *Problem) int {
	field := p.Field
	if o.path != "" {
		field = o.path + "." + field
	}
	line, node := nodeAt(root, field)
	if p.TextLine > 0 && node != nil && node.Kind == yaml.ScalarNode && node.Style&yaml.LiteralStyle != 0 {
		line, p.TextLine = node.Line+p.TextLine, 0
	}
	return max(line, o.line)
}

// locate fills in the lines of problems that have none. Each document is parsed again once, and one at a time: faults are
// rare, and the parsed form of ten thousand gateways is large.
func (s *Set) locate(problems []Problem) {
	of := map[*document][]int{}
	var documents []*document
	for i, p := range problems {
		at := s.origins[p.Object]
		if p.Line != 0 || at.document == nil {
			continue
		}
		problems[i].Line = at.line
		if p.Field == "" {
			continue
		}
		if of[at.document] == nil {
			documents = append(documents, at.document)
		}
		of[at.document] = append(of[at.document], i)
	}
	for _, d := range documents {
		root, _ := parse(*d, &effort{})
		if root == nil {
			continue
		}
		for _, i := range of[d] {
			problems[i].Line = s.origins[problems[i].Object].lineIn(root, &problems[i])
		}
	}
	for i := range problems {
		if p := &problems[i]; p.TextLine > 0 {
			p.Message, p.TextLine = fmt.Sprintf("line %d of its text: %s", p.TextLine, p.Message), 0
		}
	}
}

// lineOf is the line of the field at path, or of the nearest one above it that is there.
func lineOf(node *yaml.Node, path string) int {
	line, _ := nodeAt(node, path)
	return line
}

// nodeAt is the line of the field at path, or of the nearest one above it that is there; and its value, if it is there.
func nodeAt(node *yaml.Node, path string) (int, *yaml.Node) {
	line := node.Line
	for rest := path; rest != ""; {
		key, value, after := step(node, rest)
		if value == nil {
			return line, nil
		}
		line, node, rest = key, value, after
	}
	return line, node
}

// step finds the child of node that path begins with: its line, itself, and the rest of the path. A key stands in brackets where
// that reads better.
func step(node *yaml.Node, path string) (int, *yaml.Node, string) {
	switch node.Kind {
	case yaml.SequenceNode:
		return stepInto(node, path)
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			own := keyPath("", key.Value)
			if strings.HasPrefix(path, "[") {
				own = "[" + key.Value + "]"
			}
			if after, found := cutStep(path, own); found {
				return key.Line, node.Content[i+1], after
			}
		}
	}
	return 0, nil, ""
}

// stepInto takes the list's element that path begins with. Lists can be long, so it does not look for it.
func stepInto(list *yaml.Node, path string) (int, *yaml.Node, string) {
	inner, after, found := strings.Cut(path, "]")
	i, err := strconv.Atoi(strings.TrimPrefix(inner, "["))
	if !found || err != nil || i < 0 || i >= len(list.Content) {
		return 0, nil, ""
	}
	return list.Content[i].Line, list.Content[i], strings.TrimPrefix(after, ".")
}

func cutStep(path, own string) (string, bool) {
	after, found := strings.CutPrefix(path, own)
	if !found || after != "" && after[0] != '.' && after[0] != '[' {
		return "", false
	}
	return strings.TrimPrefix(after, "."), true
}
