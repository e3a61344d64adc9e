// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/lint"
	"github.com/sluice-gateway/sluice/internal/render"
)

const lintLong = `Say what is wrong with APIGateways and their classes before they are committed.

The files are read as render reads them, and whatever keeps them from rendering is an error. More is looked at on demand:

  --chart     the charts: every path that a class maps must be a value of its chart, and what a gateway's values come to must
              satisfy the chart's schema. A chart is a folder, a .tgz, or oci://registry/repository:tag; with CLASS= before it
              is the chart of that class. --pull takes the charts from where the classes (and gateways) say they are.
              Templates are not run: what they alone refuse, Helm tells. A gateway that asks for another version than its
              class's chart has is NotChecked: give the chart in that version, or let --pull take it.
  --against   what the input was before: edits that would move a release, which a cluster refuses, and gateways that go.
  --for=git   life without the operator: what rendered objects lack.

Registries are asked with the credentials of docker's configuration file, and only for oci:// and --pull.

Each finding is a line: file:line, object, field, severity, what is wrong, and in parentheses the rule. The exit code is 1
after errors, and 0 where there are warnings at most. A gateway whose class another controller serves is a warning; where that
is so of all, it is an error, as to render: --controller-name names the controller.`

const lintExample = `  # Whether a folder renders
  sluice lint -f gateways/

  # A class against its chart, before either is published
  sluice lint -f class.yaml --chart ../charts/gateway

  # In a pipeline: what a merge request would do, for code scanning
  sluice lint -k overlays/production --pull --against origin/main -o sarif > sluice.sarif`

type lintFlags struct {
	against        string
	purpose        string
	output         string
	controllerName string
	inputs
	clusterFlags
	chartFlags
}

func newLint(streams Streams, version string) *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:     "lint -f FILE|DIRECTORY|GLOB|- | -k FOLDER ...",
		Short:   "Say what is wrong with APIGateways and classes",
		Long:    lintLong,
		Example: lintExample,
		Args:    onlyFlags("lint"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLint(cmd.Context(), streams, flags, version) },
	}
	f := cmd.Flags()
	flags.inputs.add(f)
	flags.chartFlags.add(f)
	addGiven(f, &flags.against, "against", "", "what the input was: a git revision, or a folder to read in place of what -f or -k names")
	f.StringVar(&flags.purpose, "for", "operator", "operator, or git for objects that are rendered and committed")
	f.StringVarP(&flags.output, "output", "o", "text", "text, json, or sarif (2.1.0)")
	addGiven(f, &flags.controllerName, "controller-name", v1alpha1.DefaultControllerName, "controllerName of the classes whose gateways are judged")
	flags.clusterFlags.add(f)
	return cmd
}

// onlyFlags refuses arguments of a command that takes none.
func onlyFlags(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s: %s is no flag; pass files with -f", command, args[0])
	}
}

func runLint(ctx context.Context, streams Streams, flags lintFlags, version string) error {
	write, err := findingsWriter(flags.output, version)
	if err != nil {
		return err
	}
	in, err := flags.input()
	if err != nil {
		return err
	}
	if in.Set, err = readSet(streams, flags.inputs); err != nil {
		return err
	}
	var chartErr error
	if in.Charts, chartErr = readCharts(ctx, flags.chartFlags, in); chartErr != nil && !errors.As(chartErr, new(*noClassError)) {
		return chartErr
	}
	name := func(file string) string { return file }
	if flags.against != "" {
		old, err := readEarlier(ctx, streams, flags.against, flags.inputs)
		if err != nil {
			return err
		}
		defer old.close()
		in.Before, name = old.set, old.named
	}
	findings := lint.Lint(in)
	for i := range findings {
		findings[i].File = name(findings[i].File)
	}
	if err := write(streams.Out, findings); err != nil {
		return err
	}
	if chartErr != nil {
		return chartErr
	}
	if countOf(findings, lint.Error) > 0 {
		return errReported
	}
	return nil
}

// input is what the flags say beside the files.
func (f lintFlags) input() (lint.Input, error) {
	if len(f.paths)+len(f.folders) == 0 {
		return lint.Input{}, errors.New("lint: -f is missing: name a file, a directory, or - for stdin; or name a kustomization's folder with -k")
	}
	if f.purpose != "operator" && f.purpose != "git" {
		return lint.Input{}, fmt.Errorf("--for %q: must be operator or git", f.purpose)
	}
	environment, err := f.environment()
	options := render.Options{Naming: fluxobjects.SharedSources, ControllerName: f.controllerName, Environment: environment}
	if f.purpose == "git" {
		options.Naming = fluxobjects.OwnSources
	}
	return lint.Input{Options: options, ForGit: f.purpose == "git"}, err
}

func countOf(findings []lint.Finding, severity lint.Severity) int {
	n := 0
	for _, f := range findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}
