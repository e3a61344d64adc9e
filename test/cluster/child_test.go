// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shell(name, script string) ProcessSpec {
	return ProcessSpec{Name: name, Path: "/bin/sh", Args: []string{"-c", script}}
}

func newTestChildren(t *testing.T) *children {
	t.Helper()
	all := newChildren(t.TempDir())
	t.Cleanup(func() { _ = all.stop() }) // a test that minds stops them itself
	return all
}

// logged waits until a process has logged something.
func logged(t *testing.T, all *children, name string) string {
	t.Helper()
	var text []byte
	require.NoError(t, Await(t.Context(), 10*time.Second, "a line in the log of "+name, func(context.Context) error {
		var err error
		text, err = os.ReadFile(filepath.Join(all.dir, "logs", name+".log"))
		if err == nil && len(text) == 0 {
			err = errors.New("it is empty")
		}
		return err
	}))
	return string(text)
}

func TestStopGivesAProcessItsGrace(t *testing.T) {
	all := newTestChildren(t)
	spec := shell("polite", `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done`)
	spec.Grace = 10 * time.Second
	require.NoError(t, all.start(t.Context(), spec))
	logged(t, all, "polite")
	require.NoError(t, all.stop())
	assert.Contains(t, logged(t, all, "polite"), "bye\n")
}

func TestStopKillsAProcessThatDoesNotListen(t *testing.T) {
	all := newTestChildren(t)
	spec := shell("deaf", `trap '' TERM; echo ready; while :; do sleep 0.02; done`)
	spec.Grace = 50 * time.Millisecond
	require.NoError(t, all.start(t.Context(), spec))
	logged(t, all, "deaf")
	status, err := all.act(t.Context(), "deaf", actStop)
	require.NoError(t, err)
	assert.Equal(t, "signal: killed", status.Exit)
	requireNoProcesses(t, all.dir) // nor of its group
}

func TestStopTellsOfAProcessThatEndedByItself(t *testing.T) {
	all := newTestChildren(t)
	require.NoError(t, all.start(t.Context(), shell("crashing", `echo out of memory; exit 7`)))
	require.Eventually(t, func() bool { return !all.statuses()[0].Alive }, 10*time.Second, 10*time.Millisecond)
	err := all.stop()
	require.ErrorContains(t, err, "crashing: it ended by itself: exit status 7; the end of its log")
	require.ErrorContains(t, err, "    out of memory")
}

func TestAProcessThatDoesNotGetReadyIsEnded(t *testing.T) {
	all := newTestChildren(t)
	unready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "etcd is away", http.StatusServiceUnavailable)
	}))
	defer unready.Close()
	spec := shell("slow", `echo warming up; sleep 1000`)
	spec.ReadyURL, spec.ReadyTimeout = unready.URL, 2*time.Second
	err := all.start(t.Context(), spec)
	require.ErrorContains(t, err, "slow: not ready after 2s")
	require.ErrorContains(t, err, "503 Service Unavailable etcd is away")
	require.ErrorContains(t, err, "    warming up")
	requireNoProcesses(t, all.dir)
	assert.Empty(t, all.statuses())
}

func TestTheCallersEnvironmentIsNotHandedOn(t *testing.T) {
	t.Setenv("KUBECONFIG", "/home/me/.kube/production")
	all := newTestChildren(t)
	spec := shell("env", `env; sleep 1000`)
	spec.Env = []string{"MINE=1"}
	require.NoError(t, all.start(t.Context(), spec))
	text := logged(t, all, "env")
	assert.Contains(t, text, "MINE=1\n")
	assert.NotContains(t, text, "KUBECONFIG")
}

func TestAComponentWhosePortWasTakenIsTriedOnceMore(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	s := &starter{children: newTestChildren(t), options: Options{Progress: func(string) {}}}
	tries := 0
	start := func(fail int) error {
		tries = 0
		return s.startComponent(t.Context(), func() (ProcessSpec, error) {
			tries++
			spec := shell("server", `sleep 1000`)
			if tries <= fail {
				spec = shell("server", fmt.Sprintf("echo listen tcp %s: bind: address already in use; exit 1", taken.Addr()))
				spec.ReadyURL = "http://" + address(1)
			}
			return spec, nil
		})
	}
	require.ErrorContains(t, start(2), "address already in use")
	assert.Equal(t, 2, tries)
	require.NoError(t, start(1))
	assert.Equal(t, 2, tries)
}

func TestFreePortsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port, err := freePort()
		require.NoError(t, err)
		require.False(t, seen[port])
		seen[port] = true
	}
}

func TestAwaitSaysWhatCheckSaidLast(t *testing.T) {
	err := Await(t.Context(), 250*time.Millisecond, "rain", func(context.Context) error { return fmt.Errorf("the sky is blue") })
	require.ErrorContains(t, err, "awaited rain for 250ms: context deadline exceeded; last: the sky is blue")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
