// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// toMap turns an object's node into what encoding/json makes of it, scalars resolved as kustomize-controller does: yes is
// a string, an unquoted date a timestamp. What would be rounded or cannot be said in JSON is a fault.
func toMap(node *yaml.Node) (map[string]any, []fault) {
	var in inspection
	in.value(node, nil)
	if in.faults != nil {
		return nil, in.faults
	}
	var object map[string]any
	if err := node.Decode(&object); err != nil {
		return nil, yamlFaults(err, node.Line)
	}
	return object, nil
}

// maxDepth is how deep an object may be nested. It leaves it to the plan to refuse values that are too deep by its own
// measure, with its own message.
const maxDepth = 150

// maxFaults is how many faults of one object are told. Each may have a long path.
const maxFaults = 100

// inspection finds what of an object does not survive the way through JSON.
type inspection struct{ faults []fault }

func (in *inspection) wrong(line int, at *trail, message string) {
	switch {
	case len(in.faults) < maxFaults:
		in.faults = append(in.faults, fault{line: line, field: at.String(), message: message})
	case len(in.faults) == maxFaults:
		in.faults = append(in.faults, fault{line: line, message: "there are more such faults below; correct these first"})
	}
}

func (in *inspection) value(node *yaml.Node, at *trail) {
	if at.level() > maxDepth {
		in.wrong(node.Line, at.first(3), fmt.Sprintf("is nested more than %d deep; make it flatter", maxDepth))
		return
	}
	switch node.Kind {
	case yaml.MappingNode:
		in.mapping(node, at)
	case yaml.SequenceNode:
		for i, item := range node.Content {
			in.value(item, at.at(i))
		}
	case yaml.ScalarNode:
		if message := inexactScalar(node); message != "" {
			in.wrong(node.Line, at, message)
		}
	}
}

func (in *inspection) mapping(node *yaml.Node, at *trail) {
	lines := make(map[string]int, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != yaml.NodeTagString {
			in.wrong(key.Line, at, describe(key))
			continue
		}
		if line, twice := lines[key.Value]; twice { // the parser would tell of every two of a thousand
			in.wrong(key.Line, at.keyed(key.Value), fmt.Sprintf("mapping key %q already defined at line %d", key.Value, line))
			continue
		}
		lines[key.Value] = key.Line
		in.value(value, at.keyed(key.Value))
	}
}

// describe says what is wrong with a key.
func describe(key *yaml.Node) string {
	if key.Kind == yaml.ScalarNode {
		return "the key " + key.Value + " is not a string; quote it"
	}
	return "a key here is a list or a map, and must be a string"
}

var integer = regexp.MustCompile(`^[-+]?[0-9_]+$`)

// inexactScalar says what is wrong with a scalar: the API server rounds integers outside int64, and JSON replaces bytes that
// are no text.
func inexactScalar(node *yaml.Node) string {
	switch node.ShortTag() {
	case "!!binary":
		var text string
		if node.Decode(&text) == nil && !utf8.ValidString(text) {
			return "is not UTF-8 text, and JSON has no other; leave out !!binary and give the base64 text, if that is expected here"
		}
		return ""
	case yaml.NodeTagInt:
		var i int64
		if node.Decode(&i) == nil {
			return ""
		}
	case yaml.NodeTagFloat:
		if _, err := strconv.ParseInt(node.Value, 10, 64); err == nil { // an integer that is tagged so
			return ""
		}
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
