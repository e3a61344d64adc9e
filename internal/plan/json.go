// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeObject reads a JSON object into normal form. Nothing, and null, are nil. What is wrong is said in the terms of field.
func decodeObject(field string, raw []byte, wrong *faults) map[string]any {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	decoded, err := decodeJSON(raw)
	if err != nil {
		wrong.invalid(field, "is not JSON: %s", err)
		return nil
	}
	normal, problems := normalise(decoded)
	for _, p := range problems {
		wrong.invalid(p.in(field), "%s", p.text)
	}
	if len(problems) > 0 {
		return nil
	}
	object, ok := normal.(map[string]any)
	if !ok && normal != nil {
		wrong.invalid(field, "%s is not a map, and values are one", shape(normal))
	}
	return object
}

func decodeJSON(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the first value")
	}
	return decoded, nil
}

// encode writes values as JSON: sorted keys, no blanks, and numbers as the API server writes them, so that what is read
// back from it encodes to the same bytes.
func encode(normal any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(normal); err != nil {
		// Values in normal form always encode: they hold no NaN, no channel and no cycle.
		panic(fmt.Sprintf("values not in normal form: %s", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
