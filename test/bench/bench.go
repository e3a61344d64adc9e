// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package bench measures the operator on the local cluster: how fast it says gateways in Flux's terms, against clients that
// make the same writes and nothing else; how soon it reacts; what it costs at rest and at a restart; and how all of that
// grows. Flux's controllers do not run meanwhile, so that nothing but Sluice is measured; what they would report is written by
// the benchmark. Last, with real Flux, it tells where the time of a gateway goes.
//
// What is compared is measured side by side: in one run, on one cluster that is warm, in turns, several rounds each.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

// Options of a run.
type Options struct {
	// Sizes are the numbers of gateways, ascending.
	Sizes []int
	// Rounds of each emission; the median counts.
	Rounds int
	// Samples of each latency.
	Samples int
	// Rest is for how long the operator is watched while nothing happens.
	Rest time.Duration
	// EndToEnd is the number of gateways that real Flux installs; 0: none.
	EndToEnd int
	// Out is the folder for the results; it is made if it is missing.
	Out string
	// Progress is told what has been measured.
	Progress func(format string, arguments ...any)
}

// concurrent is the number of workers of the operator, of the clients that it is compared with, and of the people who apply.
const concurrent = 10

// Run measures everything, and writes results.json, table.txt and plot.svg.
func Run(ctx context.Context, o Options) (Results, error) {
	results := Results{Options: described(o)}
	layout, err := toolchain.Find()
	if err != nil {
		return results, err
	}
	for _, size := range o.Sizes {
		at, err := measureSize(ctx, layout, o, size)
		if err != nil {
			return results, fmt.Errorf("with %d gateways: %w", size, err)
		}
		results.Sizes = append(results.Sizes, at)
		if err := results.write(o.Out); err != nil { // what comes may fail
			return results, err
		}
	}
	if o.EndToEnd > 0 {
		whole, err := measureEndToEnd(ctx, layout, o)
		if err != nil {
			return results, fmt.Errorf("end to end: %w", err)
		}
		results.EndToEnd = &whole
	}
	return results, results.write(o.Out)
}

// measureSize measures with one number of gateways, on a cluster of its own.
func measureSize(ctx context.Context, layout toolchain.Layout, o Options, size int) (at Size, err error) {
	at.Gateways = size
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return at, err
	}
	s, err := newStage(ctx, layout, dir)
	if err != nil {
		return at, err
	}
	defer func() {
		err = errors.Join(err, s.cluster.Stop())
		if err == nil {
			err = os.RemoveAll(dir)
		} else {
			err = fmt.Errorf("%w (logs are in %s)", err, filepath.Join(dir, "logs"))
		}
	}()
	for _, measure := range []func(context.Context, Options, *Size) error{s.emission, s.latency, s.rest, s.restart} {
		if err := measure(ctx, o, &at); err != nil {
			return at, err
		}
		o.Progress("%d gateways: %s", size, at.latest())
	}
	return at, nil
}
