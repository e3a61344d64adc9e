// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxValues is how many bytes of an object values may take. The API server keeps none of more than 1.5 MiB; the rest is for
// patches, metadata, and what Flux reports.
const maxValues = 1 << 20

// checkSize refuses values that the HelmRelease could not hold: the API server's own refusal names neither size nor limit.
func checkSize(tree map[string]any, encoded []byte, parts []layer, wrong *faults) {
	size := len(encoded)
	if size > maxValues/mostGrowth {
		size = storedSize(tree)
	}
	if size <= maxValues {
		return
	}
	wrong.invalid("spec.values", "the merged values take %d bytes of the HelmRelease, and at most %d are allowed (%s);"+
		" put large data into a ConfigMap or Secret that spec.valuesFrom names", size, maxValues, sizesOf(parts))
}

func sizesOf(parts []layer) string {
	var said []string
	for _, part := range parts {
		if len(part.values) > 0 {
			said = append(said, fmt.Sprintf("%s: %d", part.name, storedSize(part.values)))
		}
	}
	return strings.Join(said, ", ")
}

// mostGrowth is how many times as large as their plain JSON values can be as they are stored.
const mostGrowth = 8

// storedSize is the number of bytes that values take as the API server stores them: as JSON in which <, > and & are escaped,
// and once more with each key of a map, since it notes who set it.
func storedSize(values map[string]any) int {
	return len(asStored(values)) + noted(values)
}

func asStored(v any) []byte {
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, encode(v))
	return escaped.Bytes()
}

// noted is the size of `"f:key":{…},` for each key, with `".":{},` for the map itself. Lists are noted as one.
func noted(v any) int {
	node, isMap := v.(map[string]any)
	if !isMap {
		return 0
	}
	size := len(`".":{},`)
	for key, child := range node {
		size += len(asStored(key)) + len(`f::{},`) + noted(child)
	}
	return size
}
