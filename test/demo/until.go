// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/test/cluster"
)

const (
	pollInterval = 100 * time.Millisecond
	// checkInterval is how often a wait makes sure that there is still somebody to wait for.
	checkInterval = time.Second
)

// until repeats a look until it succeeds. It ends early when a process of the cluster has ended. Its error is what the last
// look said.
func (d *demo) until(look action) action {
	return func(ctx context.Context) (string, error) {
		last, checked := errors.New("nothing"), time.Now()
		for {
			shown, err := look(ctx)
			if err == nil {
				return shown, nil
			}
			if ctx.Err() == nil { // else err may only say that the time is over
				last = err
			}
			if time.Since(checked) > checkInterval {
				if ended := d.endedProcesses(); len(ended) > 0 {
					return "", fmt.Errorf("%s has ended; seen last: %w", strings.Join(ended, ", "), last)
				}
				checked = time.Now()
			}
			select {
			case <-ctx.Done():
				return "", last
			case <-time.After(pollInterval):
			}
		}
	}
}

// endedProcesses are the cluster's processes that have ended by themselves; none while there is no cluster.
func (d *demo) endedProcesses() (names []string) {
	if d.cluster == nil {
		return nil
	}
	state, err := cluster.ReadState(d.at.cluster())
	if err != nil {
		return []string{supervisor}
	}
	for _, process := range state.Processes {
		if !d.cluster.Process(process.Name).Alive() {
			names = append(names, process.Name)
		}
	}
	return names
}
