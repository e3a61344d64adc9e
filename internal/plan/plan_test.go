// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestHappy(t *testing.T) {
	var class v1alpha1.APIGatewayClass
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
metadata: {name: wso2, annotations: {gateway.sluice.dev/is-default-class: "true"}}
spec:
  chart: {url: oci://registry.example.com/charts/gateway, ref: {tag: 1.2.0}}
  values: {deployment: {replicaCount: 1, other: true}}
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount]}
`), &class))
	gw := &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "gw", Namespace: "team"}}
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
infrastructure: {replicas: 3}
values: {x: 1.0, z: null}
`), &gw.Spec))
	p, err := Make(Input{Gateway: gw, Classes: []v1alpha1.APIGatewayClass{class}})
	require.NoError(t, err)
	require.Equal(t, `{"deployment":{"other":true,"replicaCount":3},"x":1,"z":null}`, string(p.Release.Values))
	t.Logf("%+v", p)
}
