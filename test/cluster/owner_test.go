// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFailedStartNamesTheCulpritAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := Start(t.Context(), Options{Dir: dir, Parts: APIServerOnly, Args: map[string][]string{ControllerManager: {"--no-such-flag"}}})
	require.ErrorContains(t, err, "kube-controller-manager: it ended before it was ready: exit status 1; the end of its log "+filepath.Join(dir, "logs"))
	require.ErrorContains(t, err, "unknown flag: --no-such-flag")
	assert.Empty(t, processesIn(dir))
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Start(ctx, Options{Dir: dir, Parts: APIServerOnly, Progress: func(string) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, processesIn(dir))
}

func TestBadOptionsAreRefused(t *testing.T) {
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o644))
	for want, options := range map[string]Options{
		"Options.Dir is not set":                             {},
		`no process is named "helmcontroller"`:               {Dir: t.TempDir(), Args: map[string][]string{"helmcontroller": nil}},
		"neither empty nor a cluster's folder: it holds the": {Dir: foreign},
	} {
		_, err := Start(t.Context(), options)
		require.ErrorContains(t, err, want)
	}
}

// The kernel kills the processes with their owner, however suddenly that ends.
func TestAKilledOwnerLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), ownerDir+"="+dir)
	var printed bytes.Buffer
	owner.Stdout, owner.Stderr = &printed, &printed
	require.NoError(t, owner.Start())
	err := Await(t.Context(), 2*time.Minute, "the cluster", func(context.Context) error {
		_, err := Attach(dir)
		return err
	})
	killed := owner.Process.Kill()
	_ = owner.Wait() // says that it was killed
	require.NoError(t, err, printed.String())
	require.NoError(t, killed)
	requireNoProcesses(t, dir)

	_, err = Attach(dir)
	require.ErrorContains(t, err, "no cluster is served from "+dir)
	require.NoError(t, Down(t.Context(), dir), "of what is gone already")
	again, err := Start(t.Context(), Options{Dir: dir, Parts: APIServerOnly})
	require.NoError(t, err, "what a killed owner left is cleared away")
	require.NoError(t, again.Stop())
}

func TestADetachedClusterOutlivesWhoMadeItAndTakesFurtherProcesses(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(ownerDir, dir)
	t.Cleanup(func() { assert.NoError(t, Down(context.Background(), dir)) })
	var shown bytes.Buffer
	_, err := UpDetached(t.Context(), dir, &shown, os.Args[0])
	require.NoError(t, err)
	assert.Contains(t, shown.String(), "kube-apiserver is ready")
	_, err = UpDetached(t.Context(), dir, io.Discard, os.Args[0])
	require.ErrorContains(t, err, "a cluster runs there; stop it first")

	attached, err := Attach(dir)
	require.NoError(t, err)
	require.NoError(t, attached.Apply(t.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: demo}}"))
	require.ErrorContains(t, attached.Stop(), "use Down")

	process, err := attached.StartProcess(t.Context(), ProcessSpec{Name: "operator", Path: "/bin/sleep", Args: []string{"1000"}})
	require.NoError(t, err)
	_, err = attached.StartProcess(t.Context(), ProcessSpec{Name: "operator", Path: "/bin/sleep", Args: []string{"1000"}})
	require.ErrorContains(t, err, "operator runs already")
	require.NoError(t, process.Stop())
	require.False(t, process.Alive())
	require.NoError(t, process.Start(t.Context()))
	require.True(t, process.Alive())
	state, err := ReadState(dir)
	require.NoError(t, err)
	last := state.Processes[len(state.Processes)-1]
	assert.Equal(t, Status{Name: "operator", PID: last.PID, Alive: true, Log: filepath.Join(dir, "logs", "operator.log")}, last)

	require.NoError(t, Down(t.Context(), dir))
	assert.Empty(t, processesIn(dir))
	require.NoError(t, Down(t.Context(), dir), "a second time")
}

func TestASupervisorThatFailsSaysWhy(t *testing.T) {
	var shown bytes.Buffer
	_, err := UpDetached(t.Context(), t.TempDir(), &shown, "/bin/sh", "-c", "echo no room; exit 3")
	require.ErrorContains(t, err, "the supervisor ended before the cluster was ready: exit status 3")
	assert.Equal(t, "no room\n", shown.String())
}
