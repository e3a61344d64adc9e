// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write testdata anew")

const root = "../.."

func build(t *testing.T, folder string) (string, error) {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return "", err
	}
	text, err := built.AsYaml()
	require.NoError(t, err)
	return string(text), nil
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestFluxInstallIsThis(t *testing.T) {
	text, err := build(t, filepath.Join(root, "flux", "install"))
	require.NoError(t, err)
	golden(t, "install.yaml", text)

	docs := strings.Split(text, "---\n")
	require.Len(t, docs, 3)
	require.NoError(t, yaml.UnmarshalStrict([]byte(docs[0]), &corev1.Namespace{}))
	release, source := &helmv2.HelmRelease{}, &sourcev1.OCIRepository{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(docs[2]), release))
	require.NoError(t, yaml.UnmarshalStrict([]byte(docs[1]), source))

	var chart struct{ Name, Version string }
	file, err := os.ReadFile(filepath.Join(root, "charts", "sluice", "Chart.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(file, &chart))
	require.Equal(t, "oci://ghcr.io/sluice-gateway/charts/"+chart.Name, source.Spec.URL)
	allowed, err := semver.NewConstraint(source.Spec.Reference.SemVer)
	require.NoError(t, err)
	require.True(t, allowed.Check(semver.MustParse(chart.Version)), "%s is not within %s", chart.Version, allowed)
}

// overlay is a kustomization of somebody's own, with more files beside it. FLUX stands for the folder flux.
func overlay(t *testing.T, kustomization string, files map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	to, err := filepath.Abs(filepath.Join(root, "flux"))
	require.NoError(t, err)
	flux, err := filepath.Rel(dir, to)
	require.NoError(t, err)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	text := strings.ReplaceAll(kustomization, "FLUX", flux)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600))
	return build(t, dir)
}

func TestMonitoringGoesBesideTheOperator(t *testing.T) {
	text, err := overlay(t, "resources: [FLUX/install, FLUX/monitoring]\n", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"Namespace", "OCIRepository", "HelmRelease", "PodMonitor", "PrometheusRule", "ConfigMap"}, kindsOf(t, text))
}

func kindsOf(t *testing.T, manifests string) []string {
	t.Helper()
	var kinds []string
	for _, doc := range strings.Split(manifests, "---\n") {
		var o struct{ Kind string }
		require.NoError(t, yaml.Unmarshal([]byte(doc), &o))
		kinds = append(kinds, o.Kind)
	}
	return kinds
}

// helmController is as much of Flux's own manifest as the component touches.
const helmController = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: helm-controller
  namespace: flux-system
spec:
  template:
    spec:
      containers:
      - args:
        - --watch-all-namespaces=true
        name: manager
`

func TestTheComponentTurnsOnOneFeatureGateOfHelmController(t *testing.T) {
	const kustomization = "resources: [flux.yaml]\ncomponents: [FLUX/cancel-health-check]\n"
	text, err := overlay(t, kustomization, map[string]string{"flux.yaml": helmController})
	require.NoError(t, err)
	want := strings.Replace(helmController, "        - --watch-all-namespaces=true\n",
		"        - --watch-all-namespaces=true\n        - --feature-gates=CancelHealthCheckOnNewRevision=true\n", 1)
	want = strings.Replace(want, "metadata:\n", "metadata:\n  annotations:\n    gateway.sluice.dev/feature-gates: CancelHealthCheckOnNewRevision\n", 1)
	require.Equal(t, want, text)

	_, err = overlay(t, kustomization, map[string]string{"flux.yaml": strings.ReplaceAll(helmController, "helm-controller", "source-controller")})
	require.ErrorContains(t, err, "no matches for Id Deployment.v1.apps/helm-controller.flux-system")
}

// The chart of class wso2 exposes nothing itself: the example's components do, one for each mode.
func TestTheExamplesComponentsBringARoute(t *testing.T) {
	for component, route := range map[string]string{"gateway-api": "HTTPRoute", "openshift": "Route"} {
		text, err := overlay(t, "resources: [FLUX/../examples/wso2]\ncomponents: [FLUX/../examples/wso2/"+component+"]\n", nil)
		require.NoError(t, err)
		kinds := kindsOf(t, text)
		require.Equal(t, []string{"Namespace", "APIGatewayClass", "Secret", "Secret", "ConfigMap", "APIGateway", route}, kinds)
	}
}
