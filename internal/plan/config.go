// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// readConfig reads the ConfigMap that configRef names as helm --values reads a file.
func readConfig(gateway *v1alpha1.APIGateway, config *corev1.ConfigMap, wrong *faults) layer {
	ref := localRef(gateway.Spec.ConfigRef)
	if ref == nil {
		return layer{}
	}
	found := layer{name: "ConfigMap/" + ref.Name + " " + v1alpha1.ConfigKey}
	whole := "ConfigMap " + gateway.Namespace + "/" + ref.Name
	if config == nil {
		wrong.add(v1alpha1.ReasonConfigNotFound, "spec.configRef.name", "%s does not exist", whole)
		return found
	}
	document, ok := config.Data[v1alpha1.ConfigKey]
	if !ok {
		wrong.add(v1alpha1.ReasonConfigNotFound, "spec.configRef.name", "%s has no key %s under data; it has: %s",
			whole, v1alpha1.ConfigKey, listed(slices.Sorted(maps.Keys(config.Data))))
		return found
	}
	values, problems := decodeYAML([]byte(document))
	for _, text := range problems {
		wrong.add(v1alpha1.ReasonInvalidConfig, "spec.configRef.name", "%s, key %s, %s", whole, v1alpha1.ConfigKey, text)
	}
	found.values = values
	return found
}

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
	object, ok := normal.(map[string]any)
	if !ok && normal != nil {
		texts = append(texts, shape(normal)+" is not a map, and values are one")
	}
	return object, texts
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
