// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/render"
)

const renderLong = `Print the OCIRepository and the HelmRelease of every APIGateway in the input, and nothing else.

The input is what -f and -k name: the gateways, the classes that they name and the ConfigMaps that they refer to, as YAML
or JSON; other kinds are passed over. A directory is read with all below it, links followed: *.yaml, *.yml and *.json. A
glob is put in quotes. The folder of a kustomization is built as kustomize-controller does; where that renames a
ConfigMap, a Secret, a class or a gateway, the gateways that name it follow. Neither a cluster, nor a network, nor the
environment is looked at: what the operator would know of a cluster is said by --api-versions, --exposure-mode,
--external-ca-issuer-name and --cluster-name.

The folder of --output-dir lies apart from every folder that -f reads.

After any error nothing is printed on stdout, nor written by --output-dir. Each error is a line on stderr: file:line,
object, field, what is wrong, and in parentheses the reason that a cluster would show in the condition Accepted. An input
without a gateway is an error, since an empty output would make Flux delete what it applied before.

As a KRM function, sluice runs without arguments. A kustomization names this object under transformers, or under generators:

  apiVersion: fn.sluice.dev/v1alpha1
  kind: Render
  metadata:
    name: gateways
    annotations:
      config.kubernetes.io/function: "exec: {path: sluice}"
  spec:
    files: [../class.yaml]   # more input, as -f from the kustomization's folder on; a generator has no other
    shareSources: false      # and so on: controllerName, apiVersions, exposureMode, externalCAIssuerName, clusterName

As a transformer it puts the Flux objects in the place of the gateways and classes, and leaves everything else. It belongs
into the outermost overlay, since kustomize knows no references between Flux objects. kustomize runs it with
--enable-alpha-plugins --enable-exec; kustomize-controller runs no functions.`

const renderExample = `  # Everything that one folder holds, into the folder that Flux applies, a file an object
  sluice render -f gateways/ --output-dir flux/gateways

  # An overlay, and a class that is no part of it
  sluice render -k overlays/production -f class.yaml

  # The gateways of all teams with their class, as one JSON list
  sluice render -f class.yaml -f 'teams/*/gateway.yaml' -o json

  # What the operator would apply, from what the cluster holds
  kubectl get apigateways,apigatewayclasses,configmaps -A -o yaml | sluice render --share-sources -f -`

type renderFlags struct {
	shareSources   bool
	output         string
	folder         string
	controllerName string
	inputs
	clusterFlags
}

func newRender(streams Streams) *cobra.Command {
	var flags renderFlags
	cmd := &cobra.Command{
		Use:     "render -f FILE|DIRECTORY|GLOB|- | -k FOLDER ...",
		Short:   "Print the Flux objects of APIGateways",
		Long:    renderLong,
		Example: renderExample,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return runRender(streams, flags) },
	}
	f := cmd.Flags()
	flags.inputs.add(f)
	f.BoolVar(&flags.shareSources, "share-sources", false, "one OCIRepository for all gateways of a namespace with the same class and chart, "+
		"as the operator makes it, instead of one a gateway")
	f.StringVarP(&flags.output, "output", "o", "yaml", "yaml, or json for one v1 List")
	addGiven(f, &flags.folder, "output-dir", "", "folder to write into instead of stdout: a file an object, and a kustomization.yaml that lists them; "+
		"files that an earlier run wrote there for objects that are gone are removed, and no others are touched")
	addGiven(f, &flags.controllerName, "controller-name", v1alpha1.DefaultControllerName, "controllerName of the classes whose gateways are printed")
	flags.clusterFlags.add(f)
	return cmd
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("render: %s is no flag; pass files with -f", args[0])
}

func runRender(streams Streams, flags renderFlags) error {
	options, err := flags.options()
	if err != nil {
		return err
	}
	write, err := flags.writer(streams)
	if err != nil {
		return err
	}
	if flags.folder != "" {
		if err := apartFrom(flags.paths, flags.folder); err != nil {
			return err
		}
	}
	set, err := readSet(streams, flags.inputs)
	if err != nil {
		return err
	}
	result := set.Render(options)
	report(streams.Err, result)
	if len(result.Problems) > 0 {
		return errReported
	}
	if err := write(result.Objects); err != nil {
		fmt.Fprintln(streams.Err, fileError(err))
		return errReported
	}
	return nil
}

func (f renderFlags) options() (render.Options, error) {
	environment, err := f.environment()
	options := render.Options{Naming: fluxobjects.OwnSources, ControllerName: f.controllerName, Environment: environment}
	if f.shareSources {
		options.Naming = fluxobjects.SharedSources
	}
	return options, err
}

// writer is where objects go.
func (f renderFlags) writer(streams Streams) (func([]render.Object) error, error) {
	switch {
	case f.output != "yaml" && f.output != "json":
		return nil, fmt.Errorf("--output %q: must be yaml or json", f.output)
	case f.folder != "" && f.output == "json":
		return nil, errors.New("--output json: goes to stdout; --output-dir writes YAML")
	case f.folder != "":
		return func(objects []render.Object) error { return writeObjects(f.folder, objects) }, nil
	case f.output == "json":
		return func(objects []render.Object) error { return writeWhole(streams.Out, objects, render.WriteJSON) }, nil
	}
	return func(objects []render.Object) error { return writeWhole(streams.Out, objects, render.WriteYAML) }, nil
}

// writeWhole writes everything or nothing.
func writeWhole(w io.Writer, objects []render.Object, encode func(io.Writer, []render.Object) error) error {
	var out bytes.Buffer
	if err := encode(&out, objects); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

func writeObjects(folder string, objects []render.Object) error {
	files, err := render.Files(objects)
	if err != nil {
		return err
	}
	return writeFolder(folder, files)
}

func report(w io.Writer, result render.Result) {
	for _, note := range result.Notes {
		fmt.Fprintln(w, "note: "+note.String())
	}
	for _, problem := range result.Problems {
		fmt.Fprintln(w, problem)
	}
}
