// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

const catalogue = "../../flux/classes"

// documented are the values, by class, that the public values files of the charts have at the classes' versions, as far as
// the classes set them. (The bundled chart's are tested against the chart itself.)
var documented = map[string][]string{
	"wso2": {
		"commonAnnotations",
		"commonLabels",
		"gateway.config.controller.storage.sqlite.path",
		"gateway.config.controller.storage.type",
		"gateway.controller.controlPlane.host",
		"gateway.controller.controlPlane.token.key",
		"gateway.controller.controlPlane.token.secretName",
		"gateway.controller.deployment.affinity",
		"gateway.controller.deployment.nodeSelector",
		"gateway.controller.deployment.podSecurityContext",
		"gateway.controller.deployment.securityContext",
		"gateway.controller.deployment.strategy.type",
		"gateway.controller.deployment.tolerations",
		"gateway.controller.encryptionKeys.enabled",
		"gateway.controller.encryptionKeys.secretName",
		"gateway.controller.image.repository",
		"gateway.controller.image.tag",
		"gateway.controller.postgres.passwordSecretRef.key",
		"gateway.controller.postgres.passwordSecretRef.name",
		"gateway.controller.tls.certManager.createIssuer",
		"gateway.controller.tls.certManager.issuerRef.kind",
		"gateway.controller.tls.certManager.issuerRef.name",
		"gateway.controller.tls.certificateProvider",
		"gateway.controller.tls.enabled",
		"gateway.controller.tls.secret.name",
		"gateway.gatewayRuntime.deployment.affinity",
		"gateway.gatewayRuntime.deployment.nodeSelector",
		"gateway.gatewayRuntime.deployment.podSecurityContext",
		"gateway.gatewayRuntime.deployment.replicaCount",
		"gateway.gatewayRuntime.deployment.resources",
		"gateway.gatewayRuntime.deployment.securityContext",
		"gateway.gatewayRuntime.deployment.tolerations",
		"gateway.gatewayRuntime.image.repository",
		"gateway.gatewayRuntime.image.tag",
		"gateway.gatewayRuntime.service.type",
	},
	"openshell": {
		"affinity",
		"certManager.enabled",
		"certManager.serverDnsNames",
		"certManager.serverIssuerRef.kind",
		"certManager.serverIssuerRef.name",
		"fullnameOverride",
		"grpcRoute.enabled",
		"grpcRoute.gateway.name",
		"grpcRoute.gateway.namespace",
		"grpcRoute.hostnames",
		"image.repository",
		"image.tag",
		"nodeSelector",
		"openshiftRoute.annotations",
		"openshiftRoute.enabled",
		"podSecurityContext",
		"replicaCount",
		"resources",
		"securityContext",
		"server.externalDbSecret",
		"server.oidc.caConfigMapName",
		"server.sandboxNamespace",
		"service.type",
		"supervisor.image.repository",
		"supervisor.image.tag",
		"tolerations",
		"workload.kind",
	},
}

// neverMapped are the fields that a class's chart has no value for. Mapped they would be ignored in silence.
var neverMapped = map[string][]string{
	"wso2": {
		"controlPlane.tls.enabled", "controlPlane.tls.certSecretRef.name", "controlPlane.tls.certSecretRef.key", "exposure.hostnames",
		"exposure.parentRef.name", "exposure.parentRef.namespace", "exposure.parentRef.sectionName", "trustedCARef.name", "trustedCARef.key",
	},
	"openshell": {
		"infrastructure.labels", "infrastructure.annotations", "controlPlane.host", "controlPlane.tokenSecretRef.name",
		"controlPlane.tokenSecretRef.key", "controlPlane.tls.enabled", "controlPlane.tls.certSecretRef.name",
		"controlPlane.tls.certSecretRef.key", "storage.type", "storage.sqlitePath", "storage.connectionSecretRef.key",
		"exposure.tlsSecretRef.name", "exposure.parentRef.sectionName", "trustedCARef.key",
	},
}

func TestTheCatalogueIsAccepted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(catalogue, "*.yaml"))
	require.NoError(t, err)
	var resources []string
	for _, file := range files {
		name := filepath.Base(file)
		if name == "kustomization.yaml" {
			continue
		}
		resources = append(resources, name)
		class := catalogueClass(t, strings.TrimSuffix(name, ".yaml"))
		require.Empty(t, plan.ClassFaults(class), name)
		require.Equal(t, strings.TrimSuffix(name, ".yaml"), class.Name)
		require.Equal(t, class.Spec.Chart.Ref.Semver, class.Spec.Chart.AllowedVersions, name)
		_, err := semver.NewConstraint(*class.Spec.Chart.AllowedVersions)
		require.NoError(t, err, name)
	}
	var listed struct{ Resources []string }
	text, err := os.ReadFile(filepath.Join(catalogue, "kustomization.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &listed))
	require.ElementsMatch(t, resources, listed.Resources, "flux/classes/kustomization.yaml")
}

func TestTheCatalogueSetsOnlyWhatItsChartsKnow(t *testing.T) {
	for name, known := range documented {
		class := catalogueClass(t, name)
		var set []string
		for _, m := range class.Spec.ValueMappings {
			set = append(set, m.Paths...)
			set = append(set, leavesOf(t, m.WhenSet)...)
		}
		for _, m := range class.Spec.ImageMappings {
			for _, p := range m.Paths {
				require.Nil(t, p.Registry, name)
				require.Nil(t, p.Digest, name)
				set = append(set, *p.Repository, *p.Tag)
			}
		}
		for _, c := range class.Spec.CapabilityValues {
			set = append(set, leavesOf(t, c.Present)...)
			set = append(set, leavesOf(t, c.Absent)...)
		}
		set = append(set, leavesOf(t, class.Spec.Values)...)
		set = append(set, leavesOf(t, class.Spec.Exposure.GatewayAPIValues)...)
		set = append(set, leavesOf(t, class.Spec.Exposure.RouteValues)...)
		set = append(set, class.Spec.Exposure.ExternalCAIssuerNamePaths...)
		for _, path := range set {
			require.True(t, slices.ContainsFunc(known, func(k string) bool { return path == k || strings.HasPrefix(path, k+".") }),
				"class %s sets %s, which its chart is not known to have", name, path)
		}
		for _, path := range known {
			require.True(t, slices.ContainsFunc(set, func(s string) bool { return s == path || strings.HasPrefix(s, path+".") }),
				"class %s does not set %s any more", name, path)
		}
	}
}

func TestTheCatalogueMapsNothingThatItsChartsIgnore(t *testing.T) {
	given := []string{"metadata.name", "metadata.namespace", "release.name", "release.targetNamespace"}
	for name, never := range neverMapped {
		var mapped []string
		for _, m := range catalogueClass(t, name).Spec.ValueMappings {
			if !slices.Contains(given, m.Field) {
				mapped = append(mapped, m.Field)
			}
		}
		require.ElementsMatch(t, slices.Concat(mapped, never), mappable, "class %s", name)
	}
}

// mappable are the fields that a class may map and need not.
var mappable = []string{
	"infrastructure.replicas", "infrastructure.resources", "infrastructure.nodeSelector", "infrastructure.tolerations",
	"infrastructure.affinity", "infrastructure.labels", "infrastructure.annotations", "controlPlane.host",
	"controlPlane.tokenSecretRef.name", "controlPlane.tokenSecretRef.key", "controlPlane.tls.enabled",
	"controlPlane.tls.certSecretRef.name", "controlPlane.tls.certSecretRef.key", "storage.type", "storage.sqlitePath",
	"storage.connectionSecretRef.name", "storage.connectionSecretRef.key", "exposure.hostnames", "exposure.serviceType",
	"exposure.tlsSecretRef.name", "exposure.parentRef.name", "exposure.parentRef.namespace", "exposure.parentRef.sectionName",
	"trustedCARef.name", "trustedCARef.key",
}

// The classes of the examples are those of the catalogue, from a registry of one's own.
func TestTheExamplesUseTheCatalogue(t *testing.T) {
	for name := range documented {
		class, example := catalogueClass(t, name), readClassFile(t, filepath.Join("../../examples", name, "class.yaml"))
		class.Spec.Chart.URL, example.Spec.Chart.URL = "", ""
		require.Equal(t, class, example, "examples/%s/class.yaml is another than %s/%s.yaml", name, catalogue, name)
	}
}

func catalogueClass(t *testing.T, name string) *v1alpha1.APIGatewayClass {
	t.Helper()
	return readClassFile(t, filepath.Join(catalogue, name+".yaml"))
}

func readClassFile(t *testing.T, file string) *v1alpha1.APIGatewayClass {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	class := &v1alpha1.APIGatewayClass{}
	require.NoError(t, yaml.UnmarshalStrict(text, class), file)
	return class
}

// leavesOf are the paths of what is no map.
func leavesOf(t *testing.T, values *apiextensionsv1.JSON) []string {
	t.Helper()
	if values == nil {
		return nil
	}
	var tree any
	require.NoError(t, json.Unmarshal(values.Raw, &tree))
	var found []string
	var walk func(path plan.Path, v any)
	walk = func(path plan.Path, v any) {
		node, isMap := v.(map[string]any)
		if !isMap {
			found = append(found, path.String())
			return
		}
		for key, child := range node {
			walk(append(slices.Clone(path), plan.Step{Key: key}), child)
		}
	}
	walk(nil, tree)
	return found
}
