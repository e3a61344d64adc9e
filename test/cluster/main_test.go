// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ownerDir, when set in the environment, makes the test program own a cluster there, as a test's or the demo's process does.
const ownerDir = "SLUICE_TEST_OWNER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerDir); dir != "" {
		if err := ownCluster(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the shared cluster:", err)
		code = 1
	}
	os.Exit(code)
}

func ownCluster(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	progress := func(text string) { fmt.Println(text) }
	owned, err := Start(ctx, Options{Dir: dir, Parts: APIServerOnly, Progress: progress})
	if err != nil {
		return err
	}
	return owned.Serve(ctx)
}

// shared is one full cluster for all tests that leave it usable.
var shared struct {
	sync.Once
	dir     string
	cluster *Cluster
	err     error
}

func sharedCluster(t *testing.T) *Cluster {
	t.Helper()
	shared.Do(func() {
		shared.dir, shared.err = os.MkdirTemp("", "sluice-cluster-")
		if shared.err == nil {
			shared.cluster, shared.err = Start(context.Background(), Options{Dir: shared.dir, Progress: progressSince(time.Now())})
		}
	})
	require.NoError(t, shared.err)
	return shared.cluster
}

func stopShared() error {
	if shared.cluster == nil {
		return nil
	}
	if err := shared.cluster.Stop(); err != nil {
		return err
	}
	if left := processesIn(shared.dir); len(left) > 0 {
		return fmt.Errorf("left running: %s", strings.Join(left, ", "))
	}
	return os.RemoveAll(shared.dir)
}

// progressSince prints each step with its time: the record of how fast a cluster starts.
func progressSince(begin time.Time) func(string) {
	return func(text string) { fmt.Printf("%5.1fs %s\n", time.Since(begin).Seconds(), text) }
}

// processesIn finds the processes of the cluster in a folder, whoever their parent is now, by the HOME that all are given.
func processesIn(dir string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // fails for a bad pattern only
	for _, file := range files {
		environ, err := os.ReadFile(file) // fails for a process that has just gone
		if err == nil && strings.Contains(string(environ), "HOME="+dir+"/") {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm")) // the same
			found = append(found, strings.TrimSpace(string(command)))
		}
	}
	return found
}

// requireNoProcesses waits a little, since the kernel's kill of orphans, and of who is in a killed process's group, is not instant.
func requireNoProcesses(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, Await(t.Context(), 5*time.Second, "the end of all processes", func(context.Context) error {
		if left := processesIn(dir); len(left) > 0 {
			return fmt.Errorf("still running: %s", strings.Join(left, ", "))
		}
		return nil
	}))
}
