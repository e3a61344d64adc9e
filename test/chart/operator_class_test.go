// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestAFieldThatNoClassHasIsRefusedByTheOperatorsChart(t *testing.T) {
	stdout, stderr, err := templateOperator(t, "classes: {sluice: {enabled: true, spec: {valueMapping: []}}}")
	require.Error(t, err, stdout)
	assert.Equal(t, []string{`at '/classes/sluice/spec': additional properties 'valueMapping' not allowed`}, faults(stderr))
}

// The schema names the fields that the CRD has, all of them and no other.
func TestTheOperatorsChartTakesTheFieldsOfAClass(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	readInto(t, filepath.Join(operatorChart(t), "crds", "gateway.sluice.dev_apigatewayclasses.yaml"), crd)
	require.Len(t, crd.Spec.Versions, 1)
	fields := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties

	var root struct {
		Definitions struct {
			Class struct {
				Properties struct {
					Spec struct {
						PatternProperties map[string]json.RawMessage `json:"patternProperties"`
					} `json:"spec"`
				} `json:"properties"`
			} `json:"class"`
		} `json:"definitions"`
	}
	readInto(t, filepath.Join(operatorChart(t), "values.schema.json"), &root)
	want := "^(" + strings.Join(slices.Sorted(maps.Keys(fields)), "|") + ")$"
	assert.Equal(t, []string{want}, slices.Collect(maps.Keys(root.Definitions.Class.Properties.Spec.PatternProperties)))
}
