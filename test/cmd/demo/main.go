// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows Sluice at work on a local cluster; see package demo. `make demo` builds what it needs and runs it.
//
//	demo up [--started SECONDS]   # times count from that Unix time
//	demo down
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/test/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: demo up [--started SECONDS] | down")
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:])
	case "down":
		return demo.Down(ctx, os.Stdout)
	case "serve": // for the demo itself
		return demo.Serve(ctx, os.Stdout)
	}
	return fmt.Errorf("unknown command %q: it is up or down", args[0])
}

func up(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	started := flags.Float64("started", 0, "the Unix time, in seconds, from which times count (default now)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *started == 0 {
		return demo.Up(ctx, os.Stdout, time.Now())
	}
	return demo.Up(ctx, os.Stdout, time.UnixMicro(int64(*started*1e6)))
}
