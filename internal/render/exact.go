// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// toMap turns an object's node into what encoding/json makes of it, scalars resolved as kustomize-controller does: yes is
// a string, an unquoted date a timestamp. What would be rounded or cannot be said in JSON is a fault.
func toMap(node *yaml.Node) (map[string]any, []fault) {
	if faults := inexact(node, ""); faults != nil {
		return nil, faults
	}
	var object map[string]any
	if err := node.Decode(&object); err != nil {
		return nil, yamlFaults(err, node.Line)
	}
	return object, nil
}

// inexact finds what does not survive the way through JSON.
func inexact(node *yaml.Node, path string) []fault {
	switch node.Kind {
	case yaml.MappingNode:
		return inexactMap(node, path)
	case yaml.SequenceNode:
		var faults []fault
		for i, item := range node.Content {
			faults = append(faults, inexact(item, indexPath(path, i))...)
		}
		return faults
	case yaml.ScalarNode:
		if message := inexactScalar(node); message != "" {
			return []fault{{line: node.Line, field: path, message: message}}
		}
	}
	return nil
}

func inexactMap(node *yaml.Node, path string) []fault {
	var faults []fault
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != yaml.NodeTagString {
			faults = append(faults, fault{line: key.Line, field: path, message: "the key " + describe(key) + " is not a string; quote it"})
			continue
		}
		faults = append(faults, inexact(value, keyPath(path, key.Value))...)
	}
	return faults
}

func describe(key *yaml.Node) string {
	if key.Kind == yaml.ScalarNode {
		return key.Value
	}
	return "here"
}

var integer = regexp.MustCompile(`^[-+]?[0-9_]+$`)

// inexactScalar says what is wrong with a number: the API server rounds integers outside int64.
func inexactScalar(node *yaml.Node) string {
	switch node.ShortTag() {
	case yaml.NodeTagInt:
		var i int64
		if node.Decode(&i) == nil {
			return ""
		}
	case yaml.NodeTagFloat:
		var f float64
		if node.Decode(&f) == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return node.Value + " is a number that JSON does not have; quote it, if it is meant as text"
		}
		if !integer.MatchString(node.Value) {
			return ""
		}
	default:
		return ""
	}
	return node.Value + " is outside the 64-bit integers and would be rounded; quote it"
}

// keyPath is the path of a key below path, in the notation of a plan's paths: a dot within the key is escaped.
func keyPath(path, key string) string {
	own := plan.Path{{Key: key}}.String()
	if path == "" {
		return own
	}
	return path + "." + own
}

func indexPath(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}

// lineOf is the line of the field at path, or of the nearest one above it that is there.
func lineOf(node *yaml.Node, path string) int {
	line := node.Line
	for rest := path; ; {
		key, value, after := step(node, rest)
		if value == nil {
			return line
		}
		line, node, rest = key, value, after
	}
}

// step finds the child of node that path begins with: its line, itself, and the rest of the path.
func step(node *yaml.Node, path string) (int, *yaml.Node, string) {
	for i, child := range node.Content {
		own := indexPath("", i)
		line := child.Line
		if node.Kind == yaml.MappingNode {
			if i%2 == 1 {
				continue
			}
			own, child = keyPath("", child.Value), node.Content[i+1]
		}
		after, found := strings.CutPrefix(path, own)
		if found && (after == "" || after[0] == '.' || after[0] == '[') {
			return line, child, strings.TrimPrefix(after, ".")
		}
	}
	return 0, nil, ""
}
