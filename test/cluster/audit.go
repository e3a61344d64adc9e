// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// auditPolicy logs each request once, when it is answered (a watch: when it ends), without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
`

func writeAuditPolicy(file string) error { return os.WriteFile(file, []byte(auditPolicy), 0o644) }

func auditLog(dir string) string { return filepath.Join(dir, "logs", "audit.log") }

// AuditLog is the path of the API server's audit log, a JSON object a line. A request is in it before its answer is sent.
func (c *Cluster) AuditLog() string { return auditLog(c.dir) }

// AuditEvent is one request that the API server answered.
type AuditEvent struct {
	Received    time.Time // when the request came
	User        string    // "system:serviceaccount:<namespace>:<name>" for a ServiceAccount
	Verb        string    // get, list, watch, create, update, patch, delete or deletecollection
	Group       string    // "" for the core group
	Resource    string    // the plural, "helmreleases"; "" for a path that is no resource, such as /readyz
	Subresource string    // "status", say
	Namespace   string
	Name        string // "" for a list, and for a create that leaves the name to the server
	URI         string
	Code        int // the HTTP status
}

// IsWrite says whether the request was to change something.
func (e AuditEvent) IsWrite() bool {
	switch e.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// AuditEvents returns the requests that came at the time since or later and that the filter keeps (nil: all), in the order in
// which they were answered. Requests of one user are counted with a filter on AuditEvent.User.
func (c *Cluster) AuditEvents(since time.Time, keep func(AuditEvent) bool) ([]AuditEvent, error) {
	file, err := os.Open(c.AuditLog())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []AuditEvent
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil // what stands after the last line's end is still being written
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.AuditLog(), err)
		}
		event, err := parseAuditEvent(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", c.AuditLog(), err, bytes.TrimSpace(line))
		}
		if !event.Received.Before(since) && (keep == nil || keep(event)) {
			events = append(events, event)
		}
	}
}

func parseAuditEvent(line []byte) (AuditEvent, error) {
	var raw struct {
		RequestReceivedTimestamp time.Time
		RequestURI               string
		Verb                     string
		User                     struct{ Username string }
		ObjectRef                struct{ APIGroup, Resource, Subresource, Namespace, Name string }
		ResponseStatus           struct{ Code int }
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return AuditEvent{}, err
	}
	return AuditEvent{
		Received: raw.RequestReceivedTimestamp, User: raw.User.Username, Verb: raw.Verb,
		Group: raw.ObjectRef.APIGroup, Resource: raw.ObjectRef.Resource, Subresource: raw.ObjectRef.Subresource,
		Namespace: raw.ObjectRef.Namespace, Name: raw.ObjectRef.Name,
		URI: raw.RequestURI, Code: raw.ResponseStatus.Code,
	}, nil
}
