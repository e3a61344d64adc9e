// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// UpDetached runs a command that starts a cluster in dir and Serves it, in a session of its own, so that it outlives the
// caller and its terminal. It copies to out what the command prints, returns the cluster once it is served, and ends the
// command if that does not come about. A cluster that runs in dir already is an error. All that the command prints is kept in
// supervisor.log in dir.
func UpDetached(ctx context.Context, dir string, out io.Writer, command ...string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	running, err := inUse(dir)
	if err != nil {
		return nil, err
	}
	if running {
		return nil, fmt.Errorf("%s: %w; stop it first (localcluster down --dir %s)", dir, errInUse, dir)
	}
	log, err := os.Create(filepath.Join(dir, supervisorLogName))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	supervisor := exec.Command(command[0], command[1:]...)
	supervisor.Stdout, supervisor.Stderr = log, log
	supervisor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := supervisor.Start(); err != nil {
		return nil, err
	}
	return awaitServed(ctx, dir, out, supervisor)
}

// awaitServed waits until the supervisor serves, and shows what it prints meanwhile.
func awaitServed(ctx context.Context, dir string, out io.Writer, supervisor *exec.Cmd) (*Cluster, error) {
	printed, err := os.Open(filepath.Join(dir, supervisorLogName))
	if err != nil {
		return nil, err
	}
	defer printed.Close()
	ended := make(chan error, 1)
	go func() { ended <- supervisor.Wait() }()
	for {
		attached, attachErr := Attach(dir)
		if _, err := io.Copy(out, printed); err != nil {
			attachErr = errors.Join(attachErr, err)
		}
		if attachErr == nil {
			return attached, nil
		}
		select {
		case err := <-ended:
			_, copyErr := io.Copy(out, printed)
			return nil, errors.Join(fmt.Errorf("the supervisor ended before the cluster was ready: %w", err), copyErr)
		case <-ctx.Done():
			err := supervisor.Process.Signal(syscall.SIGTERM)
			return nil, errors.Join(ctx.Err(), err, <-ended)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
