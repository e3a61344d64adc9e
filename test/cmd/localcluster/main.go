// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command localcluster runs a whole cluster on this machine, for the demo and for trying things by hand.
//
//	localcluster up --dir DIR             # until Ctrl-C
//	localcluster up --dir DIR --detach    # until down
//	localcluster down --dir DIR
//
// The programs must have been built: go run ./test/cmd/toolchain cluster.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/sluice-gateway/sluice/test/cluster"
)

const usage = "usage: localcluster up --dir DIR [--detach] [--nodes N] [--arg PROCESS=FLAG ...] | down --dir DIR"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "localcluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s", usage)
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:])
	case "down":
		return down(ctx, args[1:])
	}
	return fmt.Errorf("unknown command %q; %s", args[0], usage)
}

func up(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	options := cluster.Options{Args: map[string][]string{}, Progress: func(text string) { fmt.Println(text) }}
	flags.StringVar(&options.Dir, "dir", "", "the cluster's folder")
	flags.IntVar(&options.Nodes, "nodes", 0, "the number of fake nodes (default 3)")
	detach := flags.Bool("detach", false, "return once the cluster is ready; it runs on until down")
	flags.Func("arg", "a further flag for one of the cluster's processes, as in helm-controller=--concurrent=20", func(text string) error {
		process, arg, _ := strings.Cut(text, "=")
		options.Args[process] = append(options.Args[process], arg)
		return nil
	})
	if err := parse(flags, args, &options.Dir); err != nil {
		return err
	}
	if *detach {
		return upDetached(ctx, options.Dir, args)
	}
	started, err := cluster.Start(ctx, options)
	if err != nil {
		return err
	}
	fmt.Printf("kubeconfig %s\nregistry   %s\ngit        %s\n", started.Kubeconfig(), started.Registry(), started.Git().URL())
	return started.Serve(ctx)
}

// upDetached runs the same command once more, without --detach, in the background.
func upDetached(ctx context.Context, dir string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := append([]string{self, "up"}, args...)
	command = append(command, "--detach=false") // the later flag wins
	_, err = cluster.UpDetached(ctx, dir, os.Stdout, command...)
	return err
}

func down(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("down", flag.ContinueOnError)
	dir := flags.String("dir", "", "the cluster's folder")
	if err := parse(flags, args, dir); err != nil {
		return err
	}
	return cluster.Down(ctx, *dir)
}

func parse(flags *flag.FlagSet, args []string, dir *string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" || flags.NArg() > 0 {
		return fmt.Errorf("%s", usage)
	}
	return nil
}
