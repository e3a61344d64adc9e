// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Values in normal form are map[string]any, []any, string, bool, nil, int64, and float64 for what has a fraction. It is
// the form that the API server gives them: 1.0 and 1e0 are 1 there, and so equal values are deeply equal here.

// problem is one thing wrong with a document of values.
type problem struct {
	// line of the document, from 1; 0 where it is not known.
	line int
	path Path
	// ofKey says that a key of the map at the path is at fault itself, and key which one.
	ofKey bool
	key   any
	text  string
}

// in is the problem's place within the field that holds the document.
func (p problem) in(field string) string {
	if len(p.path) == 0 {
		return field
	}
	return field + "." + p.path.String()
}

// said is "path: text".
func (p problem) said() string {
	if len(p.path) == 0 {
		return p.text
	}
	return p.path.String() + ": " + p.text
}

// String is "line 3: path: text".
func (p problem) String() string {
	if p.line == 0 {
		return p.said()
	}
	return fmt.Sprintf("line %d: %s", p.line, p.said())
}

func texts(problems []problem) []string {
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
	}
	return all
}

const outsideInt64 = "the API server would round this integer, which does not fit 64 bits; put it in quotes"

// normalise brings what a JSON or YAML decoder made into normal form, in place, and says what has none.
func normalise(decoded any) (any, []problem) {
	var n normaliser
	normal := n.value(decoded)
	slices.SortStableFunc(n.problems, func(a, b problem) int {
		return cmp.Or(strings.Compare(a.path.String(), b.path.String()), strings.Compare(a.text, b.text))
	})
	return normal, n.problems
}

// maxDepth is how deep values may be nested. No chart's are nearly so deep, and what costs memory by its depth must not be
// for anybody who may write a gateway to choose.
const maxDepth = 100

type normaliser struct {
	// at is the path of the value that is looked at. It grows and shrinks: a copy for each value would cost more than all else.
	at       Path
	problems []problem
}

func (n *normaliser) wrong(format string, args ...any) {
	n.wrongAt(n.at, format, args...)
}

func (n *normaliser) wrongAt(at Path, format string, args ...any) {
	n.problems = append(n.problems, problem{path: slices.Clone(at), text: fmt.Sprintf(format, args...)})
}

func (n *normaliser) wrongKey(key any, format string, args ...any) {
	n.wrong(format, args...)
	last := &n.problems[len(n.problems)-1]
	last.ofKey, last.key = true, key
}

// under is value one step below.
func (n *normaliser) under(step Step, decoded any) any {
	n.at = append(n.at, step)
	normal := n.value(decoded)
	n.at = n.at[:len(n.at)-1]
	return normal
}

func (n *normaliser) value(decoded any) any {
	if len(n.at) > maxDepth {
		n.wrongAt(n.at[:1], "is nested more than %d deep, which no chart's values are; make it flatter", maxDepth)
		return nil
	}
	switch v := decoded.(type) {
	case nil, bool, int64:
		return v
	case string:
		return n.text(v)
	case int:
		return int64(v)
	case uint64: // what the YAML library makes of an integer that int64 cannot hold
		n.wrong(outsideInt64)
		return nil
	case float64:
		return n.float(v)
	case json.Number:
		return n.number(v)
	case []any:
		for i, element := range v {
			v[i] = n.under(Step{Index: i, IsIndex: true}, element)
		}
		return v
	case map[string]any:
		for key, under := range v {
			v[key] = n.under(Step{Key: key}, under)
		}
		return v
	case map[any]any:
		return n.yamlMap(v)
	default:
		n.wrong("JSON cannot express this value")
		return nil
	}
}

// text refuses what JSON would change. Only a YAML tag, !!binary, makes such strings: in a document itself the parsers refuse
// or replace them.
func (n *normaliser) text(v string) any {
	if !utf8.ValidString(v) {
		n.wrong("is not UTF-8 text, and JSON has no other; leave out !!binary and give the base64 text, if the chart expects that")
		return nil
	}
	return v
}

// float makes an integer of a float without a fraction, as the API server writes it: the shortest digits that read back as
// the same float, filled up with zeros.
func (n *normaliser) float(v float64) any {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		n.wrong("JSON cannot express this number")
		return nil
	case v != math.Trunc(v):
		return v
	}
	whole, err := strconv.ParseInt(strconv.FormatFloat(v, 'f', -1, 64), 10, 64)
	if err != nil {
		n.wrong(outsideInt64)
		return nil
	}
	return whole
}

func (n *normaliser) number(v json.Number) any {
	if whole, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return whole
	}
	float, err := v.Float64()
	if err != nil {
		n.wrong(outsideInt64)
		return nil
	}
	return n.float(float)
}

// yamlMap gives a map the keys that JSON knows, as Helm does. Two keys that become one, as 1 and "1", are refused, since
// only one of them could win.
func (n *normaliser) yamlMap(v map[any]any) any {
	node := make(map[string]any, len(v))
	twice := map[string]bool{}
	for key, under := range v {
		name, ok := jsonKey(key)
		if !ok {
			n.wrongKey(key, "the key %s here is neither a string nor a number nor a boolean; quote it", encode(key))
			continue
		}
		if !utf8.ValidString(name) {
			n.wrongKey(key, "the key %.60q here is not UTF-8 text, and JSON has no other", name)
			continue
		}
		if _, taken := node[name]; taken {
			twice[name] = true
		}
		node[name] = under
	}
	for name := range twice {
		n.wrongAt(n.at.key(name), "is set twice")
		node[name] = nil
	}
	for name, under := range node {
		node[name] = n.under(Step{Key: name}, under)
	}
	return node
}

// jsonKey writes a YAML key as sigs.k8s.io/yaml does, which Helm reads values with.
func jsonKey(key any) (string, bool) {
	switch k := key.(type) {
	case string:
		return k, true
	case int:
		return strconv.Itoa(k), true
	case int64:
		return strconv.FormatInt(k, 10), true
	case bool:
		return strconv.FormatBool(k), true
	case float64:
		text := strconv.FormatFloat(k, 'g', -1, 32)
		return strings.NewReplacer("+Inf", ".inf", "-Inf", "-.inf", "NaN", ".nan").Replace(text), true
	default:
		return "", false
	}
}

// shape names the kind of a value, for messages.
func shape(normal any) string {
	switch normal.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}
