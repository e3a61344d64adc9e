// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command sluice is the command line of Sluice; internal/cli holds its commands.
package main

import (
	"os"

	"github.com/sluice-gateway/sluice/internal/cli"
	"github.com/sluice-gateway/sluice/internal/version"
)

func main() {
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Run(os.Args, streams, version.Version))
}
