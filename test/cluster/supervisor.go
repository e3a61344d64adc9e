// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// Serve makes the calling process the cluster's supervisor: others may Attach to the cluster, and start and stop processes in
// it, until ctx ends or somebody calls Down. Then it stops the cluster and returns what Stop says.
func (c *Cluster) Serve(ctx context.Context) error {
	listener, err := listen(c.dir)
	if err != nil {
		return errors.Join(err, c.Stop())
	}
	ctx, down := context.WithCancel(ctx)
	defer down()
	server := &http.Server{Handler: c.supervisor(down)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
	case err = <-served:
	}
	// Stop comes first: it also ends starts that are under way, for whose answers Shutdown waits.
	stopped := c.Stop()
	closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, stopped, server.Shutdown(closing))
}

func listen(dir string) (net.Listener, error) {
	path := filepath.Join(dir, socketName)
	if len(path) > 107 { // the kernel's limit, of which its error says nothing
		return nil, fmt.Errorf("the path %s is too long for a socket: choose a shorter folder", path)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// When we close it the folder may be another supervisor's already, and so the path.
	listener.SetUnlinkOnClose(false)
	return listener, nil
}

// actRequest asks to do something to a process.
type actRequest struct {
	Name   string `json:"name"`
	Action action `json:"action"`
}

// reply answers every request.
type reply struct {
	Status Status `json:"status"`
	Error  string `json:"error,omitempty"`
}

func (r reply) err() error {
	if r.Error == "" {
		return nil
	}
	return errors.New(r.Error)
}

func (c *Cluster) supervisor(down func()) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start", answer(func(ctx context.Context, spec ProcessSpec) (Status, error) {
		return Status{}, c.owner.start(ctx, spec)
	}))
	mux.HandleFunc("POST /act", answer(func(ctx context.Context, request actRequest) (Status, error) {
		return c.owner.act(ctx, request.Name, request.Action)
	}))
	mux.HandleFunc("POST /down", answer(func(context.Context, struct{}) (Status, error) {
		defer down()
		return Status{}, c.Stop()
	}))
	return mux
}

// answer makes an HTTP handler of a function: JSON in, reply out.
func answer[Request any](do func(context.Context, Request) (Status, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		status, err := do(r.Context(), request)
		answered := reply{Status: status}
		if err != nil {
			answered.Error = err.Error()
		}
		if err := json.NewEncoder(w).Encode(answered); err != nil {
			panic(http.ErrAbortHandler) // the asker has gone; so does the connection
		}
	}
}
