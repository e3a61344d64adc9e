// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"
)

// Await calls check every 100 ms until it returns nil. After the timeout, or when ctx ends, the error says what was awaited
// and what check said last.
func Await(ctx context.Context, timeout time.Duration, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // else err may only say that the time is over
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("awaited %s for %s: %w; last: %w", what, timeout, ctx.Err(), last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
