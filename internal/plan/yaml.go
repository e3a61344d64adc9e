// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// decodeYAML reads a document of values, and says all that is wrong with it. It goes by YAML 1.1 as sigs.k8s.io/yaml does,
// which Helm uses, but keeps integers exact, and refuses what that library drops: a second document, and keys that differ
// in YAML and not in JSON.
func decodeYAML(document []byte) (map[string]any, []problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	decoder.SetStrict(true)
	var decoded any
	err := decoder.Decode(&decoded)
	if err != nil && keysAreOnce(document) {
		decoder = yaml.NewDecoder(bytes.NewReader(document))
		decoded = nil
		err = decoder.Decode(&decoded)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlProblems(document, err)
	}
	var another any
	if err := decoder.Decode(&another); !errors.Is(err, io.EOF) && (err != nil || another != nil) {
		return nil, []problem{{line: secondDocument(document), text: "another document begins, and values are one"}}
	}
	normal, problems := normalise(decoded)
	if len(problems) > 0 {
		locate(document, problems)
		return nil, problems
	}
	object, ok := normal.(map[string]any)
	if !ok && normal != nil {
		return nil, []problem{{text: shape(normal) + " is not a map, and values are one"}}
	}
	return object, nil
}

// keysAreOnce: no map of the document names a key twice. To a strict decoder a key that overrides a merged one is there twice,
// and charts' values are full of such.
func keysAreOnce(document []byte) bool {
	var node kyaml.Node
	return kyaml.NewDecoder(bytes.NewReader(document)).Decode(&node) == nil && distinct(&node)
}

func distinct(node *kyaml.Node) bool {
	seen := map[string]bool{}
	for i, child := range node.Content {
		if !distinct(child) {
			return false
		}
		if node.Kind != kyaml.MappingNode || i%2 == 1 {
			continue
		}
		name := keyOf(child)
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// keyOf tells keys apart as the decoder does, to which 1 and 0x1 are one. It is empty where that is not known.
func keyOf(key *kyaml.Node) string {
	if key.Kind != kyaml.ScalarNode {
		return ""
	}
	if key.Style&(kyaml.DoubleQuotedStyle|kyaml.SingleQuotedStyle) != 0 || key.Tag == kyaml.MergeTag {
		return "string " + key.Value
	}
	var value any
	if key.Style != 0 || yaml.Unmarshal([]byte(key.Value), &value) != nil {
		return ""
	}
	return fmt.Sprintf("%T %v", value, value)
}

// withLine is a message of the library that gives a line.
var withLine = regexp.MustCompile(`^line (\d+): (?s:(.*))$`)

// ofParser are the messages for which the library counts lines from 0, and names none for the first. Those of its scanner it counts
// from 1.
var ofParser = regexp.MustCompile(`^(did not find expected (<|node content|'-' indicator|key|',' or)|found (duplicate %|incompatible|undefined tag))`)

// yamlProblems are the library's messages one by one. It names no line where a value is not what its tag says, or a key is no
// scalar: these are looked for.
func yamlProblems(document []byte, err error) []problem {
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		messages = several.Errors
	}
	var problems []problem
	for _, message := range messages {
		p := problem{text: message}
		if m := withLine.FindStringSubmatch(message); m != nil {
			p.line, _ = strconv.Atoi(m[1]) // it is digits, and no document has more lines than an int counts
			p.text = m[2]
		}
		if ofParser.MatchString(p.text) {
			p.line++
		}
		p.line = min(p.line, lines(document)) // what is not closed is missed behind the end
		problems = append(problems, p)
	}
	if found := misread(document); problems[0].line == 0 && found != nil {
		return []problem{*found}
	}
	return problems
}

// lines is how many lines a document has.
func lines(document []byte) int {
	return bytes.Count(bytes.TrimSuffix(document, []byte("\n")), []byte("\n")) + 1
}

// secondDocument is the line on which a second document begins, counted from 1; 0 where none does.
func secondDocument(document []byte) int {
	begun, ended := false, false
	for i, line := range strings.Split(string(document), "\n") {
		content := strings.TrimSpace(line)
		marker := isMarker(line, "---")
		switch {
		case isMarker(line, "..."):
			ended = begun
		case !marker && (content == "" || content[0] == '#' || content[0] == '%'):
		case begun && (marker || ended):
			return i + 1
		default:
			begun = true
		}
	}
	return 0
}

// isMarker: a marker stands alone, or before a blank, in the first column; nothing else may.
func isMarker(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.ContainsRune(" \t\r", rune(rest[0])))
}
