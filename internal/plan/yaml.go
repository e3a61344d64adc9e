// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v2"
)

// decodeYAML reads a document of values, and says all that is wrong with it. It goes by YAML 1.1 as sigs.k8s.io/yaml does,
// which Helm uses, but keeps integers exact, and refuses what that library drops: a second document, and keys that differ
// in YAML and not in JSON.
func decodeYAML(document []byte) (map[string]any, []string) {
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	decoder.SetStrict(true)
	var decoded any
	if err := decoder.Decode(&decoded); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlErrors(err)
	}
	var another any
	if err := decoder.Decode(&another); !errors.Is(err, io.EOF) && (err != nil || another != nil) {
		return nil, []string{fmt.Sprintf("line %d: another document begins, and values are one", secondDocument(document))}
	}
	normal, problems := normalise(decoded)
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	if len(texts) > 0 {
		return nil, texts
	}
	object, ok := normal.(map[string]any)
	if !ok && normal != nil {
		return nil, []string{shape(normal) + " is not a map, and values are one"}
	}
	return object, nil
}

// yamlErrors are the library's messages, which give lines, one by one.
func yamlErrors(err error) []string {
	var several *yaml.TypeError
	if errors.As(err, &several) {
		return several.Errors
	}
	return []string{strings.TrimPrefix(err.Error(), "yaml: ")}
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
