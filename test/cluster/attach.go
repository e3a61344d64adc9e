// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

// Attach returns the cluster that a supervisor in another process serves from dir. It can do all that the supervisor's own can
// but Stop: processes that it starts are the supervisor's, and stay when the caller ends.
func Attach(dir string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	layout, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	remote := newSupervisorClient(dir)
	if _, err := remote.act(context.Background(), APIServer, actStatus); err != nil {
		return nil, fmt.Errorf("no cluster is served from %s: %w", dir, err)
	}
	state, err := ReadState(dir)
	if err != nil {
		return nil, err
	}
	attached := &Cluster{layout: layout, dir: dir, registry: state.Registry, owner: remote}
	if state.Git != "" {
		attached.git = &GitServer{url: state.Git, root: gitRoot(dir)}
	}
	return attached, attached.connect()
}

// Down asks the supervisor of the cluster in dir to stop it, returns when all its processes are gone, and says what Stop said.
// That none runs is no error.
func Down(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	remote := newSupervisorClient(dir)
	var stopped error
	unheard := errors.New("not asked")
	for {
		running, err := inUse(dir)
		if err != nil || !running {
			return errors.Join(err, stopped)
		}
		if unheard != nil { // asked again too, since one that is still starting does not listen yet
			var answered reply
			answered, unheard = remote.call(ctx, "/down", struct{}{})
			stopped = answered.err()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster in %s still runs: %w (its supervisor: %w)", dir, ctx.Err(), errors.Join(unheard, stopped))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// supervisorClient asks a supervisor over its socket.
type supervisorClient struct{ http *http.Client }

func newSupervisorClient(dir string) *supervisorClient {
	var dialer net.Dialer
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", filepath.Join(dir, socketName))
	}
	return &supervisorClient{&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

func (s *supervisorClient) start(ctx context.Context, spec ProcessSpec) error {
	answered, err := s.call(ctx, "/start", spec)
	return errors.Join(err, answered.err())
}

func (s *supervisorClient) act(ctx context.Context, name string, what action) (Status, error) {
	answered, err := s.call(ctx, "/act", actRequest{Name: name, Action: what})
	return answered.Status, errors.Join(err, answered.err())
}

// call asks once. Its error says that there was no answer; what the supervisor has to complain of is in the reply.
func (s *supervisorClient) call(ctx context.Context, path string, request any) (reply, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return reply{}, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://supervisor"+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	response, err := s.http.Do(post)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	var answered reply
	if err := json.Unmarshal(text, &answered); err != nil {
		return reply{}, fmt.Errorf("the supervisor said %s: %s", response.Status, strings.TrimSpace(string(text)))
	}
	return answered, nil
}
