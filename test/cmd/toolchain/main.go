// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command toolchain builds the programs that Sluice's tests and demo need into bin/tools, skipping those that are current.
//
//	go run ./test/cmd/toolchain                  # all
//	go run ./test/cmd/toolchain cluster          # those that a cluster needs
//	go run ./test/cmd/toolchain kubectl helm     # these
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "toolchain:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	layout, err := toolchain.Find()
	if err != nil {
		return err
	}
	return layout.Build(ctx, os.Stdout, names...)
}
