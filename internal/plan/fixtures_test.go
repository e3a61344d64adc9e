// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// aClass is a sound class, default of its cluster, with what the YAML says laid over it.
func aClass(t testing.TB, overlay string) v1alpha1.APIGatewayClass {
	t.Helper()
	var class v1alpha1.APIGatewayClass
	fill(t, `
metadata: {name: wso2, annotations: {gateway.sluice.dev/is-default-class: "true"}}
spec: {chart: {url: oci://registry.example.com/charts/gateway, ref: {tag: 1.2.0}}}
`, &class)
	fill(t, overlay, &class)
	return class
}

// aGateway is a gateway with nothing set, with what the YAML says laid over it.
func aGateway(t testing.TB, overlay string) *v1alpha1.APIGateway {
	t.Helper()
	gateway := &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "team"}}
	fill(t, overlay, gateway)
	return gateway
}

// aConfig is a ConfigMap with this values.yaml.
func aConfig(values string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "orders-values", Namespace: "team"},
		Data:       map[string]string{v1alpha1.ConfigKey: values},
	}
}

func fill(t testing.TB, text string, into any) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), into))
}

// input is a gateway and its class, each given as YAML laid over the plain one.
func input(t testing.TB, class, gateway string) Input {
	t.Helper()
	return Input{Gateway: aGateway(t, gateway), Classes: []v1alpha1.APIGatewayClass{aClass(t, class)}}
}

// made is the plan of an input that must have one.
func made(t testing.TB, in Input) *Plan {
	t.Helper()
	p, err := Make(in)
	require.NoError(t, err)
	return p
}

// refusal is every fault of an input, each as "Reason field: message"; nil when it has a plan.
func refusal(t testing.TB, in Input) []string {
	t.Helper()
	p, err := Make(in)
	if err == nil {
		return nil
	}
	require.Nil(t, p)
	var refused *Error
	require.True(t, errors.As(err, &refused), "not an *Error: %v", err)
	return inWords(refused.Faults)
}

func inWords(faults []Fault) []string {
	var words []string
	for _, f := range faults {
		words = append(words, f.Reason+" "+f.String())
	}
	return words
}
