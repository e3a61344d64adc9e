// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/render"
)

const renderLong = `Print the OCIRepository and the HelmRelease of every APIGateway in the files, and nothing else.

The files hold the gateways, the classes that they name and the ConfigMaps that they refer to, as YAML or JSON; other
kinds are passed over. A directory is read with all below it: *.yaml, *.yml and *.json. Neither a cluster nor the
environment is looked at.

After any error nothing is printed on stdout. Each error is a line on stderr: file:line, object, field, what is wrong, and
in parentheses the reason that a cluster would show in the condition Accepted.`

const renderExample = `  # Everything that one folder holds, into the folder that Flux applies
  sluice render -f gateways/ > flux/gateways.yaml

  # A gateway with its class, as one JSON list
  sluice render -f class.yaml -f gateway.yaml -o json

  # What the operator would apply, from what the cluster holds
  kubectl get apigateways,apigatewayclasses,configmaps -A -o yaml | sluice render --share-sources -f -`

type renderFlags struct {
	paths          []string
	shareSources   bool
	output         string
	controllerName string
}

func newRender(streams Streams) *cobra.Command {
	var flags renderFlags
	cmd := &cobra.Command{
		Use:     "render -f FILE|DIRECTORY|- ...",
		Short:   "Print the Flux objects of APIGateways",
		Long:    renderLong,
		Example: renderExample,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return runRender(streams, flags) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&flags.paths, "filename", "f", nil, "file or directory to read, - for stdin; may be repeated")
	f.BoolVar(&flags.shareSources, "share-sources", false, "one OCIRepository for all gateways of a namespace with the same class and chart, "+
		"as the operator makes it, instead of one a gateway")
	f.StringVarP(&flags.output, "output", "o", "yaml", "yaml, or json for one v1 List")
	f.StringVar(&flags.controllerName, "controller-name", v1alpha1.DefaultControllerName, "controllerName of the classes whose gateways are printed")
	return cmd
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("render: %s is no flag; pass files with -f", args[0])
}

func runRender(streams Streams, flags renderFlags) error {
	write, err := writerFor(flags.output)
	if err != nil {
		return err
	}
	set, err := readSet(streams, flags.paths)
	if err != nil {
		return err
	}
	result := set.Render(flags.options())
	report(streams.Err, result)
	if len(result.Problems) > 0 {
		return errReported
	}
	var out bytes.Buffer
	if err := write(&out, result.Objects); err != nil {
		return err
	}
	_, err = streams.Out.Write(out.Bytes())
	return err
}

func (f renderFlags) options() render.Options {
	options := render.Options{Naming: fluxobjects.OwnSources, ControllerName: f.controllerName}
	if f.shareSources {
		options.Naming = fluxobjects.SharedSources
	}
	return options
}

func writerFor(output string) (func(io.Writer, []render.Object) error, error) {
	switch output {
	case "yaml":
		return render.WriteYAML, nil
	case "json":
		return render.WriteJSON, nil
	}
	return nil, fmt.Errorf("--output %q: must be yaml or json", output)
}

func report(w io.Writer, result render.Result) {
	for _, note := range result.Notes {
		fmt.Fprintln(w, "note: "+note.String())
	}
	for _, problem := range result.Problems {
		fmt.Fprintln(w, problem)
	}
}
