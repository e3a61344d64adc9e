// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/internal/migrate"
	"github.com/sluice-gateway/sluice/internal/render"
)

const migrateLong = `Print the APIGateways that take over from operators which drive Helm themselves, with their classes.

The input is what -f names, as YAML or JSON:

  - the old resources: APIGateways of gateway.api-platform.wso2.com (v1 and v1alpha1), and Gateways of HyperShell, in either
    form of its manifests, or as its API gives them;
  - the classes that the new gateways get, wso2 and openshell of flux/classes, or your own;
  - the ConfigMaps that the old resources name in configRef, and gateway-trusted-ca of HyperShell;
  - for --check, the Secrets in which Helm stores its releases.

The new gateways have the release names of the old operators (<gateway>-gw, and openshell-gateway), so that Flux takes the
running releases over. What WSO2's operator gave every gateway is read of --operator-values and goes into the values of the
class. Every field is moved, or named in a warning on stderr with the reason. The old operators passed many of their fields
over: one that contradicts what they installed is left out, and one that acts from now on is named.

With --from-cluster the gateways of WSO2's operator are read of the cluster that kubectl would talk to (-n: of one namespace),
with the ConfigMaps and Helm's Secrets beside them; -f holds the classes then. It changes nothing there. What the cluster
serves is looked up too, where --api-versions does not say it.

With --check nothing is printed but what would change: chart, values, and the pods that are replaced although nothing else
changes. After any error nothing is printed on stdout.`

const migrateExample = `  # What the cluster holds, into the repository that Flux applies
  sluice migrate --from-cluster -f flux/classes/wso2.yaml --operator-values gateway_values.yaml > gateways.yaml

  # What would change
  sluice migrate --from-cluster --check -f flux/classes/wso2.yaml --operator-values gateway_values.yaml

  # The same without a cluster
  sluice migrate --check -f old.yaml -f releases.yaml -f flux/classes --operator-values gateway_values.yaml --api-versions cert-manager.io/v1`

type migrateFlags struct {
	paths          []string
	operatorValues string
	wso2Class      string
	openShellClass string
	releaseNames   []string
	output         string
	check          bool
	fromCluster    bool
	clusterFlags
}

func newMigrate(streams Streams) *cobra.Command {
	var flags migrateFlags
	cmd := &cobra.Command{
		Use:     "migrate -f FILE|DIRECTORY|GLOB|- ... [--from-cluster]",
		Short:   "Print the APIGateways that take over from other operators",
		Long:    migrateLong,
		Example: migrateExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("migrate: %s is no flag; pass files with -f", args[0])
			}
			return nil
		},
	}
	connection := connect(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return runMigrate(cmd.Context(), streams, flags, connection)
	}
	f := cmd.Flags()
	f.VarP((*givenList)(&flags.paths), "filename", "f", "file, directory or quoted glob to read, - for stdin; may be repeated")
	addGiven(f, &flags.operatorValues, "operator-values", "", "file of the values that WSO2's operator gave every gateway, or the values of the operator's own chart")
	addGiven(f, &flags.wso2Class, "wso2-class", "wso2", "class of the gateways of WSO2's operator")
	addGiven(f, &flags.openShellClass, "openshell-class", "openshell", "class of HyperShell's gateways")
	f.StringArrayVar(&flags.releaseNames, "release-name", nil, "Helm release of a gateway, as NAMESPACE/GATEWAY=RELEASE, where the rule does not tell it; may be repeated")
	f.StringVarP(&flags.output, "output", "o", "yaml", "yaml, or json for one v1 List")
	f.BoolVar(&flags.check, "check", false, "say instead what would change in the running releases, whose Secrets are in the input too")
	f.BoolVar(&flags.fromCluster, "from-cluster", false, "read the old gateways of a cluster, beside the files")
	flags.clusterFlags.add(f)
	return cmd
}

func runMigrate(ctx context.Context, streams Streams, flags migrateFlags, connection *connection) error {
	if len(flags.paths) == 0 {
		return errors.New("migrate: -f is missing: name a file, a directory, or - for stdin")
	}
	write, err := migrateWriter(flags)
	if err != nil {
		return err
	}
	options, err := flags.options(streams.Err)
	if err != nil {
		return err
	}
	reader, err := readAny(streams, flags.paths)
	if err != nil {
		return err
	}
	if flags.fromCluster {
		served, err := readCluster(ctx, connection, streams.Err, reader, flags.check)
		if err != nil {
			return err
		}
		if flags.apiVersions == nil {
			options.Environment.APIs = served
		}
	}
	result := migrate.Run(reader, options)
	for _, warning := range result.Warnings {
		fmt.Fprintln(streams.Err, "warning: "+warning.String())
	}
	if reported(streams.Err, result.Problems) {
		return errReported
	}
	if !flags.check {
		return write(streams.Out, result.Objects)
	}
	report, problems := result.Check(options)
	if reported(streams.Err, problems) {
		return errReported
	}
	_, err = io.WriteString(streams.Out, report)
	return err
}

func migrateWriter(flags migrateFlags) (func(io.Writer, []render.Object) error, error) {
	switch {
	case flags.output == "json" && !flags.check:
		return render.WriteJSON, nil
	case flags.output == "yaml":
		return render.WriteYAML, nil
	case flags.output == "json":
		return nil, errors.New("--output json: goes with the objects; --check prints a text")
	}
	return nil, fmt.Errorf("--output %q: must be yaml or json", flags.output)
}

// options are what the flags say. What is wrong in the file of --operator-values is reported.
func (f migrateFlags) options(errs io.Writer) (migrate.Options, error) {
	environment, err := f.environment()
	options := migrate.Options{
		WSO2Class: f.wso2Class, OpenShellClass: f.openShellClass, Environment: environment,
		ReleaseNames: map[types.NamespacedName]string{},
	}
	if err != nil {
		return options, err
	}
	for _, text := range f.releaseNames {
		gateway, release, found := strings.Cut(text, "=")
		namespace, name, whole := strings.Cut(gateway, "/")
		if !found || !whole || namespace == "" || name == "" || release == "" {
			return options, fmt.Errorf("--release-name %q: must be NAMESPACE/GATEWAY=RELEASE", text)
		}
		options.ReleaseNames[types.NamespacedName{Namespace: namespace, Name: name}] = release
	}
	if f.operatorValues == "" {
		return options, nil
	}
	data, err := os.ReadFile(f.operatorValues)
	if err != nil {
		return options, fmt.Errorf("--operator-values: %s", fileError(err))
	}
	values, problems := migrate.ReadOperatorValues(f.operatorValues, data)
	if reported(errs, problems) {
		return options, errReported
	}
	options.OperatorValues = values
	return options, nil
}

// readAny reads objects of any kind. Every file that cannot be read is an error of its own.
func readAny(streams Streams, paths []string) (*render.Reader, error) {
	reader := &render.Reader{}
	found := expand(paths)
	failed := found.failed
	for _, file := range found.files {
		data, err := readFile(streams.In, file)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		reader.Add(displayName(file), data)
	}
	for _, directory := range found.unread {
		fmt.Fprintln(streams.Err, "warning: "+directory.path+": "+directory.why)
	}
	for _, err := range failed {
		fmt.Fprintln(streams.Err, fileError(err))
	}
	if len(failed) > 0 {
		return nil, errReported
	}
	return reader, nil
}

// reported writes problems, and says whether there were any.
func reported(w io.Writer, problems []render.Problem) bool {
	for _, problem := range problems {
		fmt.Fprintln(w, problem)
	}
	return len(problems) > 0
}
