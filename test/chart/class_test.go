// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func readClass(t *testing.T) *v1alpha1.APIGatewayClass {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repoRoot(t), "flux", "classes", "sluice.yaml"))
	require.NoError(t, err)
	return strictly[v1alpha1.APIGatewayClass](t, string(text))
}

// samples have for each field that a class may map a value other than the chart's default.
var samples = map[string]any{
	"infrastructure.replicas":     5,
	"infrastructure.resources":    map[string]any{"limits": map[string]any{"cpu": "2"}},
	"infrastructure.nodeSelector": map[string]any{"pool": "edge"},
	"infrastructure.tolerations":  []any{map[string]any{"key": "edge", "operator": "Exists"}},
	"infrastructure.affinity":     map[string]any{"podAntiAffinity": map[string]any{}},
	"infrastructure.labels":       map[string]any{"team": "shop"},
	"infrastructure.annotations":  map[string]any{"owner": "shop"},
	"exposure.hostnames":          []any{"shop.example.com"},
	"exposure.serviceType":        "NodePort",
	"exposure.tlsSecretRef.name":  "other-cert",
	"trustedCARef.name":           "other-ca",
	"trustedCARef.key":            "bundle.pem",
	"registry":                    "registry.example.com",
	"repository":                  "acme/gateway",
	"tag":                         "1.4",
	"digest":                      "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
}

// onWhich has an HTTPS listener and a trusted CA, so that each mapped field has something to act on.
const onWhich = `
listeners: [{name: http, port: 8080, protocol: HTTP}, {name: https, port: 8443, protocol: HTTPS}]
tls: {enabled: true, secret: {name: cert}}
trustedCA: {name: ca}
`

func TestEveryMappedPathHasAnEffect(t *testing.T) {
	t.Parallel()
	root, class := readSchema(t), readClass(t)
	before := render(t, onWhich)
	for field, paths := range mappedPaths(class) {
		for _, path := range paths {
			t.Run(field+" at "+path, func(t *testing.T) {
				t.Parallel()
				require.Contains(t, samples, field, "add a sample of this field to the test")
				require.NotNil(t, root.find(root, path), "values.schema.json has no %s", path)
				values := map[string]any{}
				require.NoError(t, yaml.Unmarshal([]byte(onWhich), &values))
				merge(values, nest(path, samples[field]))
				assert.NotEqual(t, before, render(t, text(t, values)))
			})
		}
	}
}

// mappedPaths has the paths of every field, and of every part of an image.
func mappedPaths(class *v1alpha1.APIGatewayClass) map[string][]string {
	paths := map[string][]string{}
	for _, mapping := range class.Spec.ValueMappings {
		paths[mapping.Field] = append(paths[mapping.Field], mapping.Paths...)
	}
	for _, image := range class.Spec.ImageMappings {
		for _, p := range image.Paths {
			for part, path := range map[string]*string{"registry": p.Registry, "repository": p.Repository, "tag": p.Tag, "digest": p.Digest} {
				if path != nil {
					paths[part] = append(paths[part], *path)
				}
			}
		}
	}
	return paths
}

// A gateway that names a Secret and has an HTTPS listener needs nothing more: the class turns TLS on.
func TestTLSSecretTurnsTLSOn(t *testing.T) {
	t.Parallel()
	for _, mapping := range readClass(t).Spec.ValueMappings {
		if mapping.Field != "exposure.tlsSecretRef.name" {
			continue
		}
		values := map[string]any{}
		require.NoError(t, json.Unmarshal(mapping.WhenSet.Raw, &values))
		merge(values, nest(mapping.Paths[0], "shop-cert"))
		o := renderObjects(t, https+"\n"+text(t, values))
		assert.Equal(t, "shop-cert", secretVolumes(o)["/etc/gateway/tls"])
		return
	}
	require.Fail(t, "exposure.tlsSecretRef.name is not mapped")
}

func TestServiceTypesAreThoseOfTheChart(t *testing.T) {
	t.Parallel()
	for _, mapping := range readClass(t).Spec.ValueMappings {
		if mapping.Field == "exposure.serviceType" {
			for _, serviceType := range mapping.Allowed {
				assert.Equal(t, serviceType, string(renderObjects(t, text(t, nest("service.type", serviceType))).Service.Spec.Type))
			}
		}
	}
}

// Fields that the chart has no notion of must stay unmapped: a mapping that leads nowhere is a field silently ignored.
func TestClassMapsAllThatTheChartCanDo(t *testing.T) {
	t.Parallel()
	var mapped []string
	for field := range mappedPaths(readClass(t)) {
		mapped = append(mapped, field)
	}
	var wanted []string
	for field := range samples {
		wanted = append(wanted, field)
	}
	assert.ElementsMatch(t, wanted, mapped)
}

func TestClassInstallsThisChart(t *testing.T) {
	t.Parallel()
	class := readClass(t)
	assert.Equal(t, "true", class.Annotations["gateway.sluice.dev/is-default-class"])

	text, err := os.ReadFile(filepath.Join(chartDir(t), "Chart.yaml"))
	require.NoError(t, err)
	var chart struct{ Name, Version string }
	require.NoError(t, yaml.Unmarshal(text, &chart))
	assert.Equal(t, "oci://ghcr.io/sluice-gateway/charts/"+chart.Name, class.Spec.Chart.URL)
	allowed, err := semver.NewConstraint(*class.Spec.Chart.Ref.Semver)
	require.NoError(t, err)
	assert.True(t, allowed.Check(semver.MustParse(chart.Version)), "%s is not within %s", chart.Version, allowed)
}
