// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the operator; see package test/bench. The operator and the cluster's programs must have been built.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/test/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	begin := time.Now()
	options := bench.Options{Progress: func(format string, arguments ...any) {
		fmt.Printf("%7.1fs %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, arguments...))
	}}
	sizes := flag.String("sizes", "500,1000,2000,5000", "The numbers of gateways, separated by commas.")
	flag.IntVar(&options.Rounds, "rounds", 3, "Rounds of each emission, of which the median counts.")
	flag.IntVar(&options.Samples, "samples", 200, "Samples of each latency.")
	flag.DurationVar(&options.Rest, "rest", 5*time.Minute, "For how long the operator is watched at rest.")
	flag.IntVar(&options.EndToEnd, "end-to-end", 100, "Gateways that real Flux installs; 0: none.")
	flag.StringVar(&options.Out, "out", filepath.Join("bin", "bench"), "The folder for results.json, table.txt and plot.svg.")
	flag.Parse()
	for text := range strings.SplitSeq(*sizes, ",") {
		size, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || size < 1 {
			return fmt.Errorf("--sizes is %q: use numbers separated by commas, such as 500,1000", *sizes)
		}
		options.Sizes = append(options.Sizes, size)
	}
	results, err := bench.Run(ctx, options)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\nwritten to %s\n", results.Table(), options.Out)
	return nil
}
