// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/internal/story"
)

const treeLong = `Tell the whole story of an APIGateway on one screen.

The first lines say what is wrong, the causes, what to do now, and what happens next by itself. Below stand the gateway's
conditions, its chart's source, the HelmRelease with the revisions that are known and what each changed, the health of every
object of the release, the pods that are not ready and why, and the last events. Where a Flux Kustomization applies the
gateway and has not applied what was committed, that is a cause too, with the revision that waits.

Only get and list are used, and of Secrets and ConfigMaps no more is read than that they exist. What you may not read is
named at the end. -o json prints the story as an object of kind GatewayStory, for programs.`

const treeExample = `  # What is wrong with gateway web, and what to do
  sluice tree web -n apis

  # Stay, and draw it again when something changes
  sluice tree web -n apis --watch

  # The causes alone
  sluice tree web -n apis -o json | jq -r '.verdict.causes[]'`

type treeFlags struct {
	output string
	watch  bool
}

func newTree(streams Streams, program string) *cobra.Command {
	var flags treeFlags
	cmd := &cobra.Command{
		Use:     "tree NAME",
		Short:   "Tell what is wrong with an APIGateway, why, and what to do",
		Long:    treeLong,
		Example: treeExample,
		Args:    oneGateway,
	}
	connection := connect(cmd)
	cmd.ValidArgsFunction = connection.completeGateway
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := oneOf("--output", flags.output, "", "json", "yaml"); err != nil {
			return err
		}
		c, err := connection.open(streams.Err)
		if err != nil {
			return err
		}
		return c.tree(cmd.Context(), streams, flags, args[0], program)
	}
	addOutput(cmd, &flags.output, "json or yaml, instead of text", "json", "yaml")
	cmd.Flags().BoolVarP(&flags.watch, "watch", "w", false, "draw again when something changes, until interrupted")
	return cmd
}

func (c *cluster) tree(ctx context.Context, streams Streams, flags treeFlags, name, program string) error {
	in, err := c.gather(ctx, name, program)
	if err != nil {
		return err
	}
	d := newDrawing(streams.Out, flags)
	if err := d.draw(story.Tell(in)); err != nil || !flags.watch {
		return err
	}
	for range c.changes(ctx, name) {
		// Changes come in bursts; what they lead to is drawn once.
		time.Sleep(burst)
		if in, err = c.gather(ctx, name, program); err != nil {
			return err
		}
		if err := d.draw(story.Tell(in)); err != nil {
			return err
		}
	}
	return nil
}

// burst is how long a change waits for others.
const burst = 200 * time.Millisecond

// clearScreen empties a terminal, and leaves what was scrolled away.
const clearScreen = "\x1b[H\x1b[2J"

// drawing is a story that is drawn again and again.
type drawing struct {
	out      io.Writer
	flags    treeFlags
	terminal bool
	style    story.Style
	last     string
}

func newDrawing(out io.Writer, flags treeFlags) *drawing {
	return &drawing{out: out, flags: flags, terminal: printers.IsTerminal(out), style: story.Style{Colour: printers.AllowsColorOutput(out)}}
}

// draw prints the story. The second and later times a terminal is cleared first; elsewhere only what is new is printed, after
// an empty line.
func (d *drawing) draw(s story.Story) error {
	text, err := d.text(s)
	if err != nil {
		return err
	}
	unaged, err := d.unaged(s)
	if err != nil || !d.terminal && unaged == d.last {
		return err
	}
	switch {
	case d.terminal && d.flags.watch:
		text = clearScreen + text
	case d.last != "" && d.flags.output == "":
		text = "\n" + text
	}
	d.last = unaged
	_, err = io.WriteString(d.out, text)
	return err
}

func (d *drawing) text(s story.Story) (string, error) {
	switch d.flags.output {
	case "json":
		return marshalled(s, d.flags.watch)
	case "yaml":
		data, err := yaml.Marshal(s)
		return "---\n" + string(data), err
	}
	return s.Text(d.style), nil
}

// unaged is the story without the time at which it was told.
func (d *drawing) unaged(s story.Story) (string, error) {
	s.Time.Reset()
	return marshalled(s, true)
}

// marshalled is JSON, compact for a stream of lines.
func marshalled(s story.Story, compact bool) (string, error) {
	marshal := func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "  ") }
	if compact {
		marshal = json.Marshal
	}
	data, err := marshal(s)
	return string(data) + "\n", err
}

// oneOf says which values a flag has.
func oneOf(flag, value string, allowed ...string) error {
	text := ""
	for i, a := range allowed {
		if value == a {
			return nil
		}
		switch {
		case a == "" || text == "":
		case i == len(allowed)-1:
			text += " or "
		default:
			text += ", "
		}
		text += a
	}
	return fmt.Errorf("%s %q: must be %s", flag, value, text)
}
