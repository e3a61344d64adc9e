// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawnBound starts a command that the kernel kills when this process ends. The kernel takes the death of the thread that
// forked for the death of the parent, and Go ends threads at will; so all forks come from one thread that lives for ever.
// The command leads a process group of its own: Ctrl-C at a terminal then reaches us alone, and we stop things in order.
func spawnBound(command *exec.Cmd) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	lastingThread() <- func() { result <- command.Start() }
	return <-result
}

var lastingThread = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})
