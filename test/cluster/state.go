// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// State is what state.json in a cluster's folder holds once the cluster is ready, and after every start and end of a process
// that was asked for.
type State struct {
	Dir        string   `json:"dir"`
	PID        int      `json:"pid"` // of the process that owns the others
	Kubeconfig string   `json:"kubeconfig"`
	APIServer  string   `json:"apiServer"`          // URL
	Registry   string   `json:"registry,omitempty"` // host:port
	Git        string   `json:"git,omitempty"`      // URL
	Processes  []Status `json:"processes"`          // by start
}

// writeState writes state.json now and from now on whenever a process starts or ends.
func (s *starter) writeState() error {
	var mu sync.Mutex
	write := func() error {
		mu.Lock()
		defer mu.Unlock()
		return s.state().write()
	}
	s.children.changed = func() {
		if err := write(); err != nil {
			fmt.Fprintln(os.Stderr, "cluster:", err) // the cluster is no worse for it; who attaches reads an older state
		}
	}
	return write()
}

func (s *starter) state() State {
	state := State{
		Dir: s.options.Dir, PID: os.Getpid(), Kubeconfig: s.cluster.Kubeconfig(), APIServer: s.apiServerURL,
		Registry: s.cluster.registry, Processes: s.children.statuses(),
	}
	if s.cluster.git != nil {
		state.Git = s.cluster.git.URL()
	}
	return state
}

func (s State) write() error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, stateName)
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file) // never half a file
}

// removeState removes state.json, if there is one.
func removeState(dir string) error {
	err := os.Remove(filepath.Join(dir, stateName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// ReadState reads state.json in a cluster's folder. The file is there while the cluster runs; one whose owner was killed leaves it.
func ReadState(dir string) (State, error) {
	file := filepath.Join(dir, stateName)
	text, err := os.ReadFile(file)
	if err != nil {
		return State{}, err
	}
	var state State
	if err := json.Unmarshal(text, &state); err != nil {
		return State{}, fmt.Errorf("%s: %w", file, err)
	}
	return state, nil
}
