// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"
)

// ProcessSpec says how to run one program beside the cluster's own, such as the operator under test.
type ProcessSpec struct {
	// Name is unique among the cluster's processes. A stopped process of the name is replaced.
	Name string `json:"name"`
	// Path is the program's absolute path.
	Path string `json:"path"`
	// Args are its arguments, without the program's name.
	Args []string `json:"args,omitempty"`
	// Env is added to a small environment (PATH, HOME in the cluster's folder), as KEY=value. The environment of the caller is
	// not handed on, so that nobody's KUBECONFIG or proxy settings change what runs.
	Env []string `json:"env,omitempty"`
	// ReadyURL answers 200 once the process is ready; certificates are not checked. Empty: ready when started.
	ReadyURL string `json:"readyURL,omitempty"`
	// ReadyTimeout defaults to two minutes: all of it is needed only on a machine that has much else to do.
	ReadyTimeout time.Duration `json:"readyTimeout,omitempty"`
	// Grace is how long Stop waits after SIGTERM before SIGKILL. 0: SIGKILL at once.
	Grace time.Duration `json:"grace,omitempty"`
}

const defaultReadyTimeout = 2 * time.Minute

// Status is what is known of a process.
type Status struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	Alive bool   `json:"alive"`
	Log   string `json:"log"`
	// Exit says how it ended ("exit status 1", "signal: killed"); empty while alive.
	Exit string `json:"exit,omitempty"`
}

// Process is a handle on one process of the cluster. It stays valid when the process ends or is started again.
type Process struct {
	name  string
	owner owner
}

// owner is whoever the processes are children of: this process, or a supervisor that is asked over its socket.
type owner interface {
	start(context.Context, ProcessSpec) error
	act(ctx context.Context, name string, what action) (Status, error)
}

type action string

const (
	actStart  action = "start"
	actStop   action = "stop"
	actKill   action = "kill"
	actStatus action = "status"
)

// Start starts the process again, with its old spec, and waits until it is ready. It is an error if it runs.
func (p *Process) Start(ctx context.Context) error {
	_, err := p.owner.act(ctx, p.name, actStart)
	return err
}

// Stop ends the process with SIGTERM, and with SIGKILL once its grace is over. It returns when the process is gone; that it
// has ended already is no error.
func (p *Process) Stop() error {
	_, err := p.owner.act(context.Background(), p.name, actStop)
	return err
}

// Kill ends the process with SIGKILL and returns when it is gone.
func (p *Process) Kill() error {
	_, err := p.owner.act(context.Background(), p.name, actKill)
	return err
}

// Status returns what is known of the process now.
func (p *Process) Status() (Status, error) {
	return p.owner.act(context.Background(), p.name, actStatus)
}

// Alive says whether the process runs. It is false too when its supervisor does not answer.
func (p *Process) Alive() bool {
	status, err := p.Status()
	return err == nil && status.Alive
}

// LogPath is the file that takes the process's standard output and error, over all its starts; "" if there is no such process.
func (p *Process) LogPath() string {
	status, err := p.Status()
	if err != nil {
		return ""
	}
	return status.Log
}
