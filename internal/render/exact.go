// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// toMap turns an object's node into what encoding/json makes of it, scalars resolved as kustomize-controller does: yes is
// a string, an unquoted date a timestamp. What would be rounded or cannot be said in JSON is a fault.
func toMap(node *yaml.Node) (map[string]any, []fault) {
	var in inspection
	object, isMap := in.value(node, nil).(map[string]any)
	switch {
	case in.faults != nil:
		return nil, in.faults
	case !isMap:
		return nil, []fault{{line: node.Line, message: "must be an object, not " + Shape(node)}}
	}
	return object, nil
}

// maxDepth is how deep an object may be nested. It leaves it to the plan to refuse values that are too deep by its own
// measure, with its own message.
const maxDepth = 150

// maxFaults is how many faults of one object are told. Each may have a long path.
const maxFaults = 100

// inspection makes values of nodes, and finds what of them does not survive the way through JSON. It does not leave maps to the
// YAML library, which compares each of their keys with every other one.
type inspection struct{ faults []fault }

func (in *inspection) wrong(line int, at *trail, message string) {
	switch {
	case len(in.faults) < maxFaults:
		in.faults = append(in.faults, fault{line: line, field: at.String(), message: message})
	case len(in.faults) == maxFaults:
		in.faults = append(in.faults, fault{line: line, message: "there are more such faults below; correct these first"})
	}
}

// value is of no use where there are faults.
func (in *inspection) value(node *yaml.Node, at *trail) any {
	if at.level() > maxDepth {
		in.wrong(node.Line, at.first(3), fmt.Sprintf("is nested more than %d deep; make it flatter", maxDepth))
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		return in.mapping(node, at)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, item := range node.Content {
			list[i] = in.value(item, at.at(i))
		}
		return list
	}
	value, message := scalar(node)
	if message != "" {
		in.wrong(node.Line, at, message)
	}
	return value
}

func (in *inspection) mapping(node *yaml.Node, at *trail) map[string]any {
	tree, lines := make(map[string]any, len(node.Content)/2), make(map[string]int, len(node.Content)/2)
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
		tree[key.Value] = in.value(value, at.keyed(key.Value))
	}
	return tree
}

// describe says what is wrong with a key.
func describe(key *yaml.Node) string {
	if key.Kind == yaml.ScalarNode {
		return "the key " + key.Value + " is not a string; quote it"
	}
	return "a key here is a list or a map, and must be a string"
}

var integer = regexp.MustCompile(`^[-+]?[0-9_]+$`)

// scalar is the value, or what is wrong with it: it is not what its tag says, the API server would round it, since it holds
// integers of 64 bits, or JSON has no such value.
func scalar(node *yaml.Node) (value any, message string) {
	const rounded = " is outside the 64-bit integers and would be rounded; quote it"
	tag := node.ShortTag()
	if tag == yaml.NodeTagString {
		return node.Value, ""
	}
	if err := node.Decode(&value); err != nil {
		if tag == yaml.NodeTagInt && integer.MatchString(node.Value) {
			return nil, node.Value + rounded
		}
		return nil, plan.NotAsTagged(tag, node.Value)
	}
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return nil, "is not UTF-8 text, and JSON has no other; leave out !!binary and give the base64 text, if that is expected here"
		}
	case uint64:
		return nil, node.Value + rounded
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, node.Value + " is a number that JSON does not have; quote it, if it is meant as text"
		}
		if _, err := strconv.ParseInt(strings.ReplaceAll(node.Value, "_", ""), 10, 64); err != nil && integer.MatchString(node.Value) {
			return nil, node.Value + rounded
		}
	}
	return value, ""
}
