// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/test/cluster"
)

// takeTurn makes the calling process the one that owns the demo's folder: a demo that still shows its steps is interrupted,
// and the cluster that an earlier one left running is stopped. The turn ends with the process, or with release.
func takeTurn(ctx context.Context, at places, out *report) (release func(), err error) {
	if err := os.MkdirAll(at.root, 0o755); err != nil {
		return nil, err
	}
	turn, err := os.OpenFile(at.turn(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	release = func() { turn.Close() }
	if err := lockTurn(ctx, turn, out); err != nil {
		release()
		return nil, err
	}
	if err := stopCluster(ctx, at, out); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// lockTurn takes the lock, and has whoever holds it end first. Its holder stops its own cluster.
func lockTurn(ctx context.Context, turn *os.File, out *report) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopWithin, errors.New("it did not end"))
	defer cancel()
	asked := 0
	for {
		holder, err := lockOrHolder(turn)
		if err != nil || holder == 0 {
			return err
		}
		if holder != asked {
			out.result("interrupt the demo that runs", fmt.Sprintf("pid %d", holder))
			if err := syscall.Kill(holder, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("interrupt the demo that runs (pid %d): %w", holder, err)
			}
			asked = holder
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the demo that runs (pid %d): %w", asked, context.Cause(ctx))
		case <-time.After(pollInterval):
		}
	}
}

// lockOrHolder takes the lock, or says which process holds it. It is a record lock, since these know their holders.
func lockOrHolder(file *os.File) (holder int, err error) {
	for {
		lock := syscall.Flock_t{Type: syscall.F_WRLCK}
		err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock)
		if err == nil {
			return 0, nil
		}
		if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EACCES) {
			return 0, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock); err != nil {
			return 0, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if lock.Type != syscall.F_UNLCK { // else it was given up in between
			return int(lock.Pid), nil
		}
	}
}

// stopCluster stops the cluster, also one that is still starting, and says so if one ran.
func stopCluster(ctx context.Context, at places, out *report) error {
	_, err := cluster.ReadState(at.cluster())
	ran := err == nil
	end := out.begin("stop the cluster")
	err = cluster.Down(ctx, at.cluster())
	end()
	if err == nil && ran {
		out.result("cluster stopped", "")
	}
	return err
}
