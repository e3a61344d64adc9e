// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command sluice, at the end of the flow: it brings files and clusters to the stages and their answers
// to the terminal. Nothing is decided here.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

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

// Names of the program. kubectl finds its plugins, and what completes their command lines, by the name of the file.
const (
	programName   = "sluice"
	pluginName    = "kubectl-sluice"
	pluginDisplay = "kubectl sluice"
	completerName = "kubectl_complete-sluice"
)

// Run executes the command line, of which args[0] is the program's file, and returns the exit code: 0, or 1 after any error.
func Run(args []string, streams Streams, version string) int {
	name := filepath.Base(args[0])
	args = args[1:]
	if name == completerName {
		name, args = pluginName, append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	err := execute(name, args, streams, version)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(streams.Err, "sluice: "+err.Error())
	}
	return exitCode(err)
}

// execute runs the command that the arguments name; without any, as a KRM function, what is piped in.
func execute(name string, args []string, streams Streams, version string) error {
	if len(args) == 0 {
		in, err := pipedInput(streams.In)
		if err != nil {
			return err
		}
		if len(in) > 0 {
			return runFunction(streams, in)
		}
	}
	root := newRoot(streams, name, version)
	root.SetArgs(args)
	return root.ExecuteContext(context.Background())
}

// Commands are all commands that people may see, each after the one above it: for the reference that is generated of them.
func Commands() []*cobra.Command {
	root := newRoot(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, programName, "dev")
	return visible(root)
}

func visible(c *cobra.Command) []*cobra.Command {
	c.InitDefaultHelpFlag()
	all := []*cobra.Command{c}
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			all = append(all, visible(child)...)
		}
	}
	return all
}

func newRoot(streams Streams, name, version string) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "API gateways on Flux",
		Long: "Sluice turns APIGateways, which teams commit, into the OCIRepositories and HelmReleases that Flux installs.\n" +
			"render does so offline, for those who commit the Flux objects themselves; lint and diff judge a change before it is\n" +
			"committed. The other commands talk to a cluster.",
		Example:       "  sluice render -f examples/quickstart\n  sluice lint -f examples/quickstart\n  sluice get -A\n  sluice tree web -n apis",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	display := programName
	if name == pluginName {
		display = pluginDisplay
		root.Use, root.Annotations = pluginName, map[string]string{cobra.CommandDisplayNameAnnotation: display}
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.AddCommand(newRender(streams), newLint(streams, version), newDiff(streams), newMigrate(streams), newVersion(streams, version), newGet(streams),
		newTree(streams, display), newReconcile(streams, display), newSuspend(streams, display), newResume(streams, display))
	addVersionFlag(root, version)
	refuseUnknown(root)
	callBy(display, root)
	return root
}

// refuseUnknown has the commands that cobra adds refuse names that they do not know, as all others do, instead of printing help.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.DisableFlagsInUseLine = cobra.ArbitraryArgs, true
			c.RunE = func(c *cobra.Command, args []string) error {
				if len(args) > 0 {
					return unknownCommand(c, args[0])
				}
				return c.Help()
			}
		case "help":
			show := c.Run
			c.Run, c.RunE = nil, func(help *cobra.Command, args []string) error {
				found, rest, _ := root.Find(args) // its error is about the rest
				if len(rest) > 0 {
					return unknownCommand(found, rest[0])
				}
				show(help, args)
				return nil
			}
		}
	}
}

// unknownCommand says which commands there are instead.
func unknownCommand(c *cobra.Command, name string) error {
	var known []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			known = append(known, child.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q; it has: %s", name, c.CommandPath(), orNone(known))
}

// ownName is the program's name where it begins a command line.
var ownName = regexp.MustCompile(`(?m)(^ *|\| )` + programName + ` `)

// callBy has the examples of all commands call the program by the name that people used.
func callBy(display string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.Example = ownName.ReplaceAllString(c.Example, "${1}"+display+" ")
		callBy(display, c.Commands()...)
	}
}
