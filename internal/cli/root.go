// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command sluice, at the end of the flow: it brings files and clusters to the stages and their answers
// to the terminal. Nothing is decided here.
package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Streams of the terminal.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// errReported ends a command that has said on stderr what is wrong.
var errReported = errors.New("reported")

// Run executes the command line (without the program's name) and returns the exit code: 0, or 1 after any error.
func Run(args []string, streams Streams, version string) int {
	root := newRoot(streams, version)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(streams.Err, "sluice: "+err.Error())
	}
	return 1
}

func newRoot(streams Streams, version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "API gateways on Flux",
		Long: "Sluice turns APIGateways, which teams commit, into the OCIRepositories and HelmReleases that Flux installs.\n" +
			"This command does so offline, for those who commit the Flux objects themselves.",
		Example:       "  sluice render -f examples/quickstart",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.AddCommand(newRender(streams), newVersion(streams, version))
	return root
}
