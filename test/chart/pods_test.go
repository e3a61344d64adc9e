// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
)

// The same code as in the API server decides.
func TestPodsPassRestrictedPodSecurity(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	for name, values := range map[string]string{
		"default":                  "",
		"everything":               everything,
		"IDs left to the platform": "podSecurityContext: {runAsUser: null, runAsGroup: null}",
		"draining without a shell": "drain: {mode: Sleep}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := renderObjects(t, values)
			for what, pod := range map[string]corev1.PodTemplateSpec{"gateway": o.Deployment.Spec.Template, "test": o.Test.Spec.Template} {
				for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
					assert.True(t, result.Allowed, "%s: %s: %s", what, result.ForbiddenReason, result.ForbiddenDetail)
				}
				assert.Equal(t, ptr.To(true), pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem, what)
				assert.Equal(t, ptr.To(false), pod.Spec.AutomountServiceAccountToken, what)
			}
		})
	}
}

var restricted = api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}

func TestEvaluatorRefuses(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	pod := renderObjects(t, "securityContext: {allowPrivilegeEscalation: true}").Deployment.Spec.Template
	var refused []string
	for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			refused = append(refused, result.ForbiddenReason)
		}
	}
	assert.Equal(t, []string{"allowPrivilegeEscalation != false"}, refused)
}

// Flux appends the artifact's digest to the chart's version. Were a trace of it in a pod template, a release could not be
// adopted, nor a chart patched, without new pods; in a label it would not even be valid.
func TestChartVersionLeavesNoTrace(t *testing.T) {
	t.Parallel()
	const version = "9.8.7+7fff28b7a7a2"
	other := filepath.Join(t.TempDir(), "gateway")
	require.NoError(t, os.CopyFS(other, os.DirFS(chartDir(t))))
	file := filepath.Join(other, "Chart.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "\nversion: 1.0.0\n")
	changed := strings.Replace(string(text), "\nversion: 1.0.0\n", "\nversion: "+version+"\n", 1)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))

	for _, values := range []string{"", everything} {
		assert.Equal(t, render(t, values), renderChart(t, other, values))
	}
}

// New pods come with a change of what Envoy reads at its start, and with nothing else that the pods do not show themselves.
func TestChecksumFollowsEnvoysFiles(t *testing.T) {
	t.Parallel()
	checksum := func(values string) string {
		return renderObjects(t, values).Deployment.Spec.Template.Annotations["checksum/config"]
	}
	base := checksum("")
	assert.NotEqual(t, base, checksum("http: {trustedHops: 1}"))
	assert.NotEqual(t, base, checksum("trustedCA: {name: ca}"))
	assert.Equal(t, base, checksum("{replicaCount: 5, service: {type: NodePort}, serviceAccount: {annotations: {a: b}}}"))
}

func TestReplicasAreLeftToTheAutoscaler(t *testing.T) {
	t.Parallel()
	without := renderObjects(t, "replicaCount: 3")
	assert.Equal(t, ptr.To(int32(3)), without.Deployment.Spec.Replicas)
	assert.Nil(t, without.Autoscaler)

	with := renderObjects(t, "{replicaCount: 3, autoscaling: {enabled: true, maxReplicas: 7}}")
	assert.Nil(t, with.Deployment.Spec.Replicas)
	assert.Equal(t, ptr.To(int32(3)), with.Autoscaler.Spec.MinReplicas)
	assert.Equal(t, int32(7), with.Autoscaler.Spec.MaxReplicas)
	assert.Equal(t, with.Deployment.Name, with.Autoscaler.Spec.ScaleTargetRef.Name)
}

func TestImageIsPutTogether(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a", 64)
	for values, want := range map[string]string{
		``: "docker.io/envoyproxy/envoy:v1.39.6",
		`image: {registry: registry.example.com:5000, repository: acme/gw, tag: "1.4"}`: "registry.example.com:5000/acme/gw:1.4",
		`image: {registry: null, repository: gw, tag: broken}`:                          "gw:broken",
		`image: {digest: "` + digest + `"}`:                                             "docker.io/envoyproxy/envoy@" + digest,
		`image: {tag: v1, digest: "` + digest + `"}`:                                    "docker.io/envoyproxy/envoy:v1@" + digest,
	} {
		o := renderObjects(t, values)
		assert.Equal(t, want, o.Deployment.Spec.Template.Spec.Containers[0].Image, values)
		assert.Equal(t, want, o.Test.Spec.Template.Spec.Containers[0].Image, values)
	}
}
