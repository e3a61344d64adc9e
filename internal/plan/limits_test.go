// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestLimitsAreThoseOfTheCRDs(t *testing.T) {
	require.Equal(t, limitsOf(t, "apigateways"), gatewayLimits)
	require.Equal(t, limitsOf(t, "apigatewayclasses"), classLimits)
}

func limitsOf(t *testing.T, plural string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "charts", "sluice", "crds", "gateway.sluice.dev_"+plural+".yaml"))
	require.NoError(t, err)
	var crd apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.Unmarshal(data, &crd))
	limits := map[string]int{}
	collectLimits("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], limits)
	return limits
}

func collectLimits(name string, schema apiextensionsv1.JSONSchemaProps, limits map[string]int) {
	for _, limit := range []*int64{schema.MaxItems, schema.MaxLength, schema.MaxProperties} {
		if limit != nil {
			limits[name] = int(*limit)
		}
	}
	for key, child := range schema.Properties {
		collectLimits(name+"."+key, child, limits)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		collectLimits(name+"[]", *schema.Items.Schema, limits)
	}
}

func TestWhatIsTooMuchIsRefusedByName(t *testing.T) {
	long := strings.Repeat("ä", 254)
	require.Equal(t, []string{
		"InvalidSpec spec.exposure.hostnames: has 65 elements; at most 64 are allowed",
		"InvalidSpec spec.exposure.hostnames[1]: has 254 characters; at most 253 are allowed",
		"InvalidSpec spec.infrastructure.images: has 33 keys; at most 32 are allowed",
	}, refusal(t, input(t, "spec: {valueMappings: [{field: exposure.hostnames, paths: [a]}]}",
		"spec: {exposure: {hostnames: [a, "+long+strings.Repeat(", a", 63)+"]}, infrastructure: {images: {"+emptyKeys(33)+"}}}")))
	require.Equal(t, []string{
		"ClassNotAccepted APIGatewayClass/wso2 spec.valueMappings[0].allowed: has 65 elements; at most 64 are allowed",
	}, refusal(t, input(t, "spec: {valueMappings: [{field: storage.type, paths: [a], allowed: [a"+strings.Repeat(", a", 64)+"]}]}", "{}")))
	require.Empty(t, refusal(t, input(t, "{}", "spec: {values: {a: "+strings.Repeat("a", 5000)+"}}")))
}

func emptyKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, "k"+strings.Repeat("x", i)+": ''")
	}
	return strings.Join(keys, ", ")
}
