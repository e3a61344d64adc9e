// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	lockName          = "lock"
	supervisorLogName = "supervisor.log"
	stateName         = "state.json"
	socketName        = "supervisor.sock"
)

var errInUse = errors.New("a cluster runs there")

// takeDir makes a folder a cluster's and removes what an earlier one left. The lock tells for sure whether that one still
// runs, since it ends with its owner; a folder that never was a cluster's must be empty.
func takeDir(dir string) (release func() error, err error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	release, err = lock(dir)
	if errors.Is(err, errInUse) {
		return nil, fmt.Errorf("%s: %w; stop it first (localcluster down --dir %s)", dir, err, dir)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"certs", "data", "home", "kubeconfigs", "logs", "tmp", stateName, socketName} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, errors.Join(err, release())
		}
	}
	return release, nil
}

// checkDir makes the folder and refuses one with somebody else's files.
func checkDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, lockName)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != supervisorLogName {
			return fmt.Errorf("%s is neither empty nor a cluster's folder: it holds %s", dir, entry.Name())
		}
	}
	return nil
}

// lock takes the folder's lock. It is errInUse if another has it.
func lock(dir string) (release func() error, err error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file.Close, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errInUse
	}
	return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
}

// inUse says whether a cluster runs in the folder.
func inUse(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, lockName)); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	release, err := lock(dir)
	if errors.Is(err, errInUse) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, release()
}
