// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// OperatorValues are what WSO2's operator gave every gateway.
type OperatorValues struct {
	// Values of the gateway's chart.
	Values map[string]any
	// Warnings name what else the file says.
	Warnings []render.Problem
}

// ReadOperatorValues reads the file of values that the operator mounts, or the values of the operator's own chart, which has
// them under gateway.values.
func ReadOperatorValues(file string, data []byte) (*OperatorValues, []render.Problem) {
	values, problems := plan.ReadValues(data)
	if len(problems) > 0 {
		var all []render.Problem
		for _, text := range problems {
			all = append(all, render.Problem{File: file, Message: text})
		}
		return nil, all
	}
	operators, _ := values["gateway"].(map[string]any)
	ofGateways, isOperators := operators["values"].(map[string]any)
	if !isOperators {
		return &OperatorValues{Values: values}, nil
	}
	out := &OperatorValues{Values: ofGateways}
	warn := func(field, message string) {
		out.Warnings = append(out.Warnings, render.Problem{File: file, Field: field, Message: message})
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key != "gateway" {
			warn(key, "is not moved: it is about the old operator's own deployment")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(operators)) {
		switch key {
		case "values":
		case "helm":
			chart, _ := operators[key].(map[string]any)
			warn("gateway.helm", fmt.Sprintf("is not moved: the class says which chart is installed; the old operator installed %v %v",
				chart["chartName"], chart["chartVersion"]))
		default:
			warn("gateway."+key, "is not moved: it is about the old operator itself")
		}
	}
	return out, nil
}

func encode(values any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(values); err != nil {
		panic(err) // values that were read encode
	}
	return bytes.TrimSpace(out.Bytes())
}
