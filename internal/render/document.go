// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	sjson "sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// document is one of a file's documents.
type document struct {
	// above is the number of lines of the file above the text.
	above int
	text  string
}

// fault is a Problem of which the file is not known yet, and the object neither.
type fault struct {
	line    int
	field   string
	message string
	// unbuilt is that of a Problem.
	unbuilt bool
}

// separator and what may follow it are kustomize's rule: a line that starts with three dashes, and a comment.
var separator = regexp.MustCompile(`\n---.*\n`)

// split cuts a file into documents where kustomize does.
func split(data []byte) ([]document, []fault) {
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var documents []document
	var faults []fault
	start, above := 0, 0
	for _, at := range separator.FindAllStringIndex(text, -1) {
		// The line break before the dashes is the text's last one.
		piece := text[start : at[0]+1]
		documents = append(documents, document{above: above, text: piece})
		above += strings.Count(piece, "\n") + 1
		if after := strings.TrimSpace(text[at[0]+4 : at[1]]); after != "" && after[0] != '#' {
			faults = append(faults, fault{line: above, message: "nothing but a comment may follow --- on its line"})
		}
		start = at[1]
	}
	return append(documents, document{above: above, text: text[start:]}), faults
}

// parse reads a document, with the file's line numbers and every alias replaced by what it stands for. Without content
// the node is nil. The effort goes into finding the line of a syntax error.
func parse(d document, e *effort) (*yaml.Node, []fault) {
	if faults := d.commentFaults(); faults != nil {
		return nil, faults
	}
	decoder := yaml.NewDecoder(strings.NewReader(d.text))
	var node yaml.Node
	if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return parseJSON(d, err, e)
	}
	if faults := d.nothingFollows(decoder, e); faults != nil {
		return nil, faults
	}
	if isEmpty(&node) {
		return nil, nil
	}
	addLines(&node, d.above)
	if faults := inlineAliases(&node); faults != nil {
		return nil, faults
	}
	return node.Content[0], nil
}

// parseJSON reads what YAML's parser refused and is JSON all the same: YAML knows not all of JSON's escapes.
func parseJSON(d document, err error, e *effort) (*yaml.Node, []fault) {
	var whole any
	twice, notJSON := sjson.UnmarshalStrict([]byte(d.text), &whole)
	if notJSON != nil { // or something follows it
		return nil, d.syntaxFault(err, e)
	}
	if len(twice) > 0 {
		return nil, []fault{{line: d.above + 1, message: twice[0].Error()}}
	}
	object, notJSON := decode([]byte(d.text))
	if notJSON != nil {
		return nil, d.syntaxFault(err, e)
	}
	plain, notJSON := encode(object)
	if notJSON != nil || string(plain) == d.text {
		return nil, d.syntaxFault(err, e)
	}
	return parse(document{above: d.above, text: string(plain)}, e)
}

func isEmpty(doc *yaml.Node) bool {
	return yaml.IsYNodeEmptyDoc(doc) || yaml.IsYNodeTaggedNull(doc.Content[0])
}

// nothingFollows refuses a second document within the first one's text (after "..."), which kustomize drops silently.
func (d document) nothingFollows(decoder *yaml.Decoder, e *effort) []fault {
	var rest yaml.Node
	err := decoder.Decode(&rest)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return d.syntaxFault(err, e)
	}
	if isEmpty(&rest) {
		return nil
	}
	return []fault{{line: rest.Line + d.above, message: "a document must begin after a line of its own that says ---"}}
}

// syntaxFault says where a document cannot be parsed. The parser names the line where the construct at fault begins, and
// sometimes the one before; the line after the longest beginning that it can parse is nearer. To find that one, the text
// is parsed again and again.
func (d document) syntaxFault(err error, e *effort) []fault {
	faults := yamlFaults(err, 1)
	end := strings.LastIndexByte(strings.TrimSuffix(d.text, "\n"), '\n')
	for ; end >= 0 && e.spend(yamlEffort*end); end = strings.LastIndexByte(d.text[:end], '\n') {
		if beginning := d.text[:end+1]; parses(beginning) {
			faults[0].line = max(faults[0].line, strings.Count(beginning, "\n")+1)
			break
		}
	}
	faults[0].line += d.above
	return faults
}

func parses(text string) bool {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		if err := decoder.Decode(new(yaml.Node)); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

var withLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(?s:(.*))$`)

// yamlFaults reads the lines out of the YAML library's messages. Those without one are put at the given line.
func yamlFaults(err error, line int) []fault {
	messages := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		messages = several.Errors
	}
	var faults []fault
	for _, message := range messages {
		f := fault{line: line, message: message}
		if m := withLine.FindStringSubmatch(message); m != nil {
			f.message = m[2]
			if n, err := strconv.Atoi(m[1]); err == nil {
				f.line = n
			}
		}
		faults = append(faults, f)
	}
	return faults
}

func addLines(node *yaml.Node, n int) {
	node.Line += n
	for _, child := range node.Content {
		addLines(child, n)
	}
}

// inlineAliases replaces aliases and merge keys as kustomize does (of several merged maps the first wins). The decoder
// goes first: it refuses anchors that contain themselves or grow beyond measure.
func inlineAliases(node *yaml.Node) []fault {
	if !hasAliases(node) {
		return nil
	}
	if err := node.Decode(new(any)); err != nil {
		return yamlFaults(err, node.Line)
	}
	if err := yaml.NewRNode(node).DeAnchor(); err != nil {
		return yamlFaults(err, node.Line)
	}
	return nil
}

func hasAliases(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode || node.Tag == yaml.MergeTag {
		return true
	}
	for _, child := range node.Content {
		if hasAliases(child) {
			return true
		}
	}
	return false
}
