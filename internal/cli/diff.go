// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/diff"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/render"
)

const diffLong = `Show what a change of APIGateways, classes or ConfigMaps does to the Flux objects.

The files are rendered as render does, and what comes of them is compared with what came of them before: at a git revision,
or of a folder that is read in place of what -f or -k names. Each object that differs is a unified diff. A source whose
name changed, since its name ends in a hash of its spec, is shown as one object.

With --against=cluster it is compared with what the cluster holds: what the operator makes (as with --share-sources) is sent
to the API server as a dry run, which changes nothing, but wants the right to write HelmReleases and OCIRepositories. What the
API server and the operator note in the metadata is left out, and so are objects that are not rendered.

The exit code is 0 where nothing differs, 1 where something does, and 2 after an error.`

const diffExample = `  # What the working tree changes
  sluice diff -f gateways/ --against HEAD

  # What a merge request changes, for production
  sluice diff -k overlays/production --against origin/main

  # Against another folder
  sluice diff -f new/ --against old/

  # What the operator would change in the cluster of the present context
  sluice diff -k overlays/production --against=cluster`

// Exit codes of diff.
const (
	exitDiffers = 1
	exitFailed  = 2
)

type diffFlags struct {
	against        string
	shareSources   bool
	controllerName string
	inputs
	clusterFlags
}

func newDiff(streams Streams) *cobra.Command {
	var flags diffFlags
	var c *connection
	failed := func(err error) error {
		if err == nil {
			return nil
		}
		return exitError{exitFailed, err}
	}
	cmd := &cobra.Command{
		Use:     "diff -f FILE|DIRECTORY|GLOB|- | -k FOLDER ... --against REVISION|FOLDER|cluster",
		Short:   "Show what a change does to the Flux objects",
		Long:    diffLong,
		Example: diffExample,
		Args:    func(cmd *cobra.Command, args []string) error { return failed(onlyFlags("diff")(cmd, args)) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			differs, err := runDiff(cmd.Context(), streams, c, flags)
			if differs && err == nil {
				return exitError{exitDiffers, errReported}
			}
			return failed(err)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return failed(err) })
	f := cmd.Flags()
	flags.inputs.add(f)
	addGiven(f, &flags.against, "against", "", "what to compare with: a git revision, a folder to read in place of what -f or -k names, or cluster")
	f.BoolVar(&flags.shareSources, "share-sources", false, "compare what the operator makes: one OCIRepository for all gateways of a namespace "+
		"with the same class and chart")
	addGiven(f, &flags.controllerName, "controller-name", v1alpha1.DefaultControllerName, "controllerName of the classes whose gateways are compared")
	flags.clusterFlags.add(f)
	c = connect(cmd)
	f.Lookup("namespace").Hidden = true // gateways say their own
	return cmd
}

// runDiff prints what differs, and says whether anything does.
func runDiff(ctx context.Context, streams Streams, c *connection, flags diffFlags) (bool, error) {
	options, err := flags.options()
	if err != nil {
		return false, err
	}
	set, err := readSet(streams, flags.inputs)
	if err != nil {
		return false, err
	}
	same := func(text string) string { return text }
	after, err := renderAll(streams.Err, set, options, same)
	if err != nil {
		return false, err
	}
	changes, err := flags.compare(ctx, streams, c, set, after)
	if err != nil {
		return false, err
	}
	return len(changes) > 0, writeChanges(streams.Out, changes)
}

// compare with what --against names.
func (f diffFlags) compare(ctx context.Context, streams Streams, c *connection, set *render.Set, after []render.Object) ([]diff.Change, error) {
	if f.against == againstCluster {
		if len(after) == 0 {
			return nil, f.nothing("in the input")
		}
		open, err := c.open(streams.Err)
		if err != nil {
			return nil, err
		}
		return compareCluster(ctx, open, set, after)
	}
	old, err := readEarlier(ctx, streams, f.against, f.inputs)
	if err != nil {
		return nil, err
	}
	defer old.close()
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	before, err := renderAll(streams.Err, old.set, options, old.named)
	if err != nil {
		return nil, err
	}
	if len(before)+len(after) == 0 {
		return nil, f.nothing("in the input, neither now nor before")
	}
	return compareObjects(before, after)
}

// nothing: to say that nothing differs would hide what an edited class does to the gateways that were not given.
func (f diffFlags) nothing(where string) error {
	return fmt.Errorf("diff: there is no APIGateway of %s %s: classes and ConfigMaps alone make no objects; pass the gateways' files with -f, too",
		f.controllerName, where)
}

func (f diffFlags) options() (render.Options, error) {
	switch {
	case len(f.paths)+len(f.folders) == 0:
		return render.Options{}, errors.New("diff: -f is missing: name a file, a directory, or - for stdin; or name a kustomization's folder with -k")
	case f.against == "":
		return render.Options{}, errors.New("diff: --against is missing: name a git revision, a folder, or cluster")
	}
	environment, err := f.environment()
	options := render.Options{Naming: fluxobjects.OwnSources, ControllerName: f.controllerName, Environment: environment}
	if f.shareSources || f.against == againstCluster {
		options.Naming = fluxobjects.SharedSources
	}
	return options, err
}

// renderAll renders a set that may be empty: then everything is new, or everything is gone.
func renderAll(w io.Writer, set *render.Set, options render.Options, named func(string) string) ([]render.Object, error) {
	result := set.Render(options)
	for _, note := range result.Notes {
		fmt.Fprintln(w, "note: "+named(note.String()))
	}
	failed := false
	for _, problem := range result.Problems {
		if problem.File == "" && problem.Object == "" { // there is nothing to render
			continue
		}
		failed = true
		fmt.Fprintln(w, named(problem.String()))
	}
	if failed {
		return nil, errReported
	}
	return result.Objects, nil
}

func compareObjects(before, after []render.Object) ([]diff.Change, error) {
	old, err := texts(before)
	if err != nil {
		return nil, err
	}
	now, err := texts(after)
	if err != nil {
		return nil, err
	}
	return diff.Objects(old, now, renamedSource), nil
}

func texts(objects []render.Object) ([]diff.Object, error) {
	var all []diff.Object
	for _, o := range objects {
		text, err := o.YAML()
		if err != nil {
			return nil, err
		}
		all = append(all, diff.Object{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Text: string(text)})
	}
	return all, nil
}

// renamedSource says whether two sources are of one gateway or class: their names are the same but for the hash.
func renamedSource(before, after diff.Object) bool {
	return before.Kind == sourcev1.OCIRepositoryKind && after.Kind == before.Kind && before.Namespace == after.Namespace &&
		withoutHash(before.Name) == withoutHash(after.Name)
}

func withoutHash(name string) string {
	return name[:max(0, strings.LastIndex(name, "-"))]
}

// writeChanges colours them on a terminal, unless NO_COLOR is set.
func writeChanges(w io.Writer, changes []diff.Change) error {
	colour := printers.AllowsColorOutput(w)
	for _, change := range changes {
		text := change.Text()
		if colour {
			text = coloured(text)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// coloured is a unified diff in the colours of git.
func coloured(text string) string {
	const bold, red, green, cyan, plain = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[m"
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		colour := ""
		switch {
		case i < 2: // the names
			colour = bold
		case strings.HasPrefix(line, "@@"):
			colour = cyan
		case strings.HasPrefix(line, "-"):
			colour = red
		case strings.HasPrefix(line, "+"):
			colour = green
		}
		if colour != "" {
			line = colour + line + plain
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}
