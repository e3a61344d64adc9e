// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func manifest(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return strings.NewReplacer(replace...).Replace(string(text))
}

func kubectlOK(t *testing.T, c *Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...)
	require.NoError(t, err)
	return out
}

func TestFluxInstallsAChartFromTheRegistry(t *testing.T) {
	c := sharedCluster(t)
	image := func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("{replicas: 2, image: example.com/edited:1}"), 0o644)
	}
	chart, err := c.PushChart(t.Context(), "testdata/chart", "1.2.3", image)
	require.NoError(t, err)
	assert.Equal(t, Chart{Name: "small", Version: "1.2.3", URL: "oci://" + c.Registry() + "/charts/small", Digest: chart.Digest}, chart)

	require.NoError(t, c.Apply(t.Context(), manifest(t, "release.yaml", "URL", chart.URL, "VERSION", chart.Version)))
	kubectlOK(t, c, "wait", "helmrelease/small", "--for=condition=Ready", "--timeout=60s")
	pods := kubectlOK(t, c, "get", "pods", "-l", "app=small", "-o", `jsonpath={range .items[*]}{.status.phase} {.spec.containers[0].image}{"\n"}{end}`)
	assert.Equal(t, strings.Repeat("Running example.com/edited:1\n", 2), pods)

	digest := kubectlOK(t, c, "get", "ocirepository/small", "-o", "jsonpath={.status.artifact.revision}")
	assert.Equal(t, "1.2.3@"+chart.Digest, digest)
	out, err := c.Flux(t.Context(), "get", "helmreleases", "-n", "default")
	require.NoError(t, err)
	assert.Contains(t, out, "Helm install succeeded")
	out, err = c.Helm(t.Context(), "list", "-n", "default")
	require.NoError(t, err)
	assert.Contains(t, out, "small-1.2.3")
}

func TestFluxAppliesACommit(t *testing.T) {
	c := sharedCluster(t)
	url, err := c.Git().CreateRepository(t.Context(), "team")
	require.NoError(t, err)
	tree, err := c.Git().Clone(t.Context(), "team", t.TempDir())
	require.NoError(t, err)
	commit := func(change func() error) string {
		require.NoError(t, change())
		hash, err := tree.Commit(t.Context(), "Change")
		require.NoError(t, err)
		require.NoError(t, tree.Push(t.Context()))
		return hash
	}
	reconcile := func() {
		_, err := c.Flux(t.Context(), "reconcile", "kustomization", "team", "-n", "default", "--with-source")
		require.NoError(t, err)
	}
	hash := commit(func() error {
		return tree.Write("apps/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-git, namespace: default}, data: {a: b}}")
	})
	require.NoError(t, c.Apply(t.Context(), manifest(t, "kustomization.yaml", "URL", url)))
	kubectlOK(t, c, "wait", "kustomization/team", "--for=condition=Ready", "--timeout=60s")
	assert.Equal(t, "main@sha1:"+hash, kubectlOK(t, c, "get", "kustomization/team", "-o", "jsonpath={.status.lastAppliedRevision}"))
	assert.Equal(t, "b", kubectlOK(t, c, "get", "configmap/from-git", "-o", "jsonpath={.data.a}"))

	large := make([]byte, 3<<20) // above the size from which git pushes in chunks
	rand.NewChaCha8([32]byte{}).Read(large)
	commit(func() error { return tree.Write("large.bin", string(large)) })
	commit(func() error { return tree.Remove("apps/a.yaml") })
	require.NoError(t, tree.Write("apps/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: default}}"))
	commit(func() error { return nil })
	reconcile()
	kubectlOK(t, c, "wait", "configmap/from-git", "--for=delete", "--timeout=30s")
	kubectlOK(t, c, "get", "configmap/second")
}

func TestPodsRunUnlessTheyAreBroken(t *testing.T) {
	c := sharedCluster(t)
	require.NoError(t, c.Apply(t.Context(), manifest(t, "pods.yaml")))
	kubectlOK(t, c, "wait", "job/once", "--for=condition=Complete", "--timeout=30s")
	kubectlOK(t, c, "wait", "pod/whole", "--for=condition=Ready", "--timeout=30s")
	kubectlOK(t, c, "wait", "pod/halting", "--for=condition=PodScheduled", "--timeout=30s")
	assert.Equal(t, "Pending", kubectlOK(t, c, "get", "pod/halting", "-o", "jsonpath={.status.phase}"))
	kubectlOK(t, c, "delete", "pod/halting", "pod/whole", "--timeout=30s")
}

func TestAServiceAccountMayDoWhatItsRoleSaysAndIsAudited(t *testing.T) {
	c := sharedCluster(t)
	require.NoError(t, c.Apply(t.Context(), manifest(t, "reader.yaml")))
	kubeconfig, err := c.KubeconfigFor(t.Context(), "default", "reader")
	require.NoError(t, err)
	begin := time.Now()
	kubectlOK(t, c, "--kubeconfig", kubeconfig, "create", "configmap", "made-by-reader")
	out, err := c.Kubectl(t.Context(), "--kubeconfig", kubeconfig, "get", "secrets")
	require.ErrorContains(t, err, "kubectl --kubeconfig "+kubeconfig+" get secrets: exit status 1")
	require.ErrorContains(t, err, `"system:serviceaccount:default:reader" cannot list resource "secrets"`)
	assert.Contains(t, out, "Forbidden")

	writes := func(since time.Time) []AuditEvent {
		events, err := c.AuditEvents(since, func(e AuditEvent) bool { return e.IsWrite() && e.User == "system:serviceaccount:default:reader" })
		require.NoError(t, err)
		return events
	}
	events := writes(begin)
	require.Len(t, events, 1)
	assert.Equal(t, AuditEvent{
		Received: events[0].Received, User: "system:serviceaccount:default:reader", Verb: "create", Resource: "configmaps",
		Namespace: "default", Name: "made-by-reader", URI: events[0].URI, Code: 201,
	}, events[0])
	assert.Empty(t, writes(time.Now()))

	_, err = c.KubeconfigFor(t.Context(), "default", "nobody")
	assert.ErrorContains(t, err, `token for ServiceAccount default/nobody: serviceaccounts "nobody" not found`)
}

func TestAProcessIsKilledStoppedAndStartedAgain(t *testing.T) {
	c := sharedCluster(t)
	process := c.Process(HelmController)
	before, err := process.Status()
	require.NoError(t, err)
	require.True(t, before.Alive)
	require.ErrorContains(t, process.Start(t.Context()), "helm-controller runs already")

	require.NoError(t, process.Kill())
	require.False(t, process.Alive())
	after, err := process.Status()
	require.NoError(t, err)
	assert.Equal(t, "signal: killed", after.Exit)
	require.NoError(t, process.Start(t.Context()))
	require.True(t, process.Alive())

	registry := c.Process(Registry)
	require.NoError(t, registry.Stop())
	require.Error(t, answers(t.Context(), "http://"+c.Registry()+"/v2/"))
	require.NoError(t, registry.Start(t.Context()))
	require.NoError(t, answers(t.Context(), "http://"+c.Registry()+"/v2/"))

	_, err = c.Process("no-such").Status()
	require.ErrorContains(t, err, `the cluster has no process named "no-such"`)
}

func TestAShardOfAControllerWatchesItsLabelAlone(t *testing.T) {
	c := sharedCluster(t)
	shard, err := c.StartFluxController(t.Context(), HelmController, "helm-controller-shard1", "--watch-label-selector=sharding.fluxcd.io/key=shard1")
	require.NoError(t, err)
	assert.True(t, shard.Alive())
	assert.Equal(t, filepath.Join(c.Dir(), "logs", "helm-controller-shard1.log"), shard.LogPath())
	require.NoError(t, shard.Stop())
}

func TestTwoClustersRunSideBySideAndStopLeavesNothing(t *testing.T) {
	first, dir := sharedCluster(t), t.TempDir()
	second, err := Start(t.Context(), Options{Dir: dir, Nodes: 1, Progress: progressSince(time.Now())})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, second.Stop()) })
	require.NoError(t, second.Apply(t.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: second}}"))
	_, err = first.Kubectl(t.Context(), "get", "namespace/second")
	require.ErrorContains(t, err, "NotFound")
	require.Equal(t, "node-1", kubectlOK(t, second, "get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"))

	_, err = Start(t.Context(), Options{Dir: dir})
	require.ErrorContains(t, err, "a cluster runs there; stop it first")

	assert.Len(t, processesIn(dir), len(components))
	begin := time.Now()
	require.NoError(t, second.Stop())
	fmt.Printf("stopped in %.1fs\n", time.Since(begin).Seconds())
	assert.Empty(t, processesIn(dir))
	require.NoError(t, second.Stop(), "a second time")
	_, err = second.StartProcess(context.Background(), ProcessSpec{Name: "late", Path: "/bin/sh"})
	require.ErrorIs(t, err, errStopped)
}
