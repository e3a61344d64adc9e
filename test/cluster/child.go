// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is a process that is ours. Its methods may be called at the same time.
type child struct {
	spec ProcessSpec
	log  string
	env  []string

	starting sync.Mutex // held over a whole start
	mu       sync.Mutex // for what follows
	command  *exec.Cmd
	gone     chan struct{} // closed once the command has ended
	exit     error         // how it ended
	asked    bool          // we ended it
	retired  bool          // never to be started again
}

// start runs the program and waits until it is ready. If it does not get ready it is killed.
func (c *child) start(ctx context.Context) error {
	c.starting.Lock()
	defer c.starting.Unlock()
	if c.status().Alive {
		return fmt.Errorf("%s runs already", c.spec.Name)
	}
	if err := c.launch(); err != nil {
		return fmt.Errorf("%s: %w", c.spec.Name, err)
	}
	err := c.awaitReady(ctx)
	if err == nil {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) { // then nothing is wrong with the process
		return errors.Join(fmt.Errorf("%s: %w", c.spec.Name, ctx.Err()), c.end(0))
	}
	return errors.Join(c.fault(err), c.end(0))
}

func (c *child) launch() error {
	if err := os.MkdirAll(filepath.Dir(c.log), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the child has a copy of its own
	command := exec.Command(c.spec.Path, c.spec.Args...)
	command.Env, command.Stdout, command.Stderr = c.env, log, log
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return errStopped
	}
	if err := spawnBound(command); err != nil {
		return err
	}
	c.command, c.gone, c.exit, c.asked = command, make(chan struct{}), nil, false
	go c.reap(command, c.gone)
	return nil
}

// retire ends the process for good.
func (c *child) retire() error {
	c.mu.Lock()
	c.retired = true
	c.mu.Unlock()
	return errors.Join(c.crash(), c.end(c.spec.Grace))
}

func (c *child) reap(command *exec.Cmd, gone chan struct{}) {
	err := command.Wait()
	if err == nil {
		err = errors.New("exit status 0")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exit = err
	close(gone)
}

func (c *child) awaitReady(ctx context.Context) error {
	if c.spec.ReadyURL == "" {
		return nil
	}
	timeout := c.spec.ReadyTimeout
	if timeout == 0 {
		timeout = defaultReadyTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not ready after %s", timeout))
	defer cancel()
	var last error
	for {
		answer := answers(ctx, c.spec.ReadyURL)
		select {
		case <-c.gone: // asked first, since a stranger on our port could answer in its place
			return fmt.Errorf("it ended before it was ready: %w", c.exit)
		default:
		}
		if answer == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil { // else it may only say that the time is over
			last = answer
		}
		select {
		case <-c.gone:
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", context.Cause(ctx), last)
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// end ends the process and waits until it is gone.
func (c *child) end(grace time.Duration) error {
	c.mu.Lock()
	command, gone := c.command, c.gone
	c.asked = true
	c.mu.Unlock()
	if command == nil {
		return nil
	}
	if grace > 0 {
		signalAndWait(command, gone, syscall.SIGTERM, grace)
	}
	if !signalAndWait(command, gone, syscall.SIGKILL, 10*time.Second) {
		return fmt.Errorf("%s (pid %d) is still there 10s after SIGKILL", c.spec.Name, command.Process.Pid)
	}
	return nil
}

// signalAndWait signals the whole process group, and says whether its leader was gone in time.
func signalAndWait(command *exec.Cmd, gone chan struct{}, signal syscall.Signal, wait time.Duration) bool {
	select {
	case <-gone:
		return true
	default:
	}
	// An error means that there is nobody to signal any more, which the wait will tell.
	_ = syscall.Kill(-command.Process.Pid, signal)
	select {
	case <-gone:
		return true
	case <-time.After(wait):
		return false
	}
}

// crash is an error if the process ended though nobody asked it to.
func (c *child) crash() error {
	c.mu.Lock()
	crashed := c.exit != nil && !c.asked
	exit := c.exit
	c.mu.Unlock()
	if !crashed {
		return nil
	}
	return c.fault(fmt.Errorf("it ended by itself: %w", exit))
}

func (c *child) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := Status{Name: c.spec.Name, Log: c.log}
	if c.command == nil {
		return status
	}
	status.PID = c.command.Process.Pid
	if c.exit == nil {
		status.Alive = true
	} else {
		status.Exit = c.exit.Error()
	}
	return status
}

// fault names the process, says what is wrong and shows the end of its log.
func (c *child) fault(what error) error {
	return &faultError{name: c.spec.Name, what: what, log: c.log, end: endOfFile(c.log)}
}

type faultError struct {
	name, log, end string
	what           error
}

func (e *faultError) Error() string {
	return fmt.Sprintf("%s: %v; the end of its log %s:\n%s", e.name, e.what, e.log, e.end)
}

func (e *faultError) Unwrap() error { return e.what }

// portTaken says whether a process failed since another had taken its port.
func portTaken(err error) bool {
	var fault *faultError
	return errors.As(err, &fault) && strings.Contains(fault.end, "address already in use")
}

// endOfFile returns the last lines of a file, indented.
func endOfFile(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "    " + err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	lines = lines[max(0, len(lines)-15):]
	return "    " + strings.Join(lines, "\n    ")
}

var readyClient = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // the components sign their certificates themselves
		DisableKeepAlives: true,
	},
}

// answers returns nil if the URL answers 200.
func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := readyClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 2000)) // only to be shown
	return fmt.Errorf("%s: %s %s", url, response.Status, strings.TrimSpace(string(text)))
}
