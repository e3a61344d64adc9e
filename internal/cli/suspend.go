// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/story"
)

const suspendLong = `Suspend an APIGateway by spec.suspend: what runs goes on running, and nothing is deployed or repaired until it is resumed.

Where a Kustomization applies the gateway, git has the last word: change it there too.`

const resumeLong = `Resume an APIGateway that is suspended.

What spec.suspend: true suspended is resumed by removing the field, which leaves later suspensions to people again. What
somebody suspended by "flux suspend helmrelease" is resumed by spec.suspend: false, which keeps it resumed from then on.`

// suspension is one of the commands suspend and resume.
type suspension struct {
	streams Streams
	program string
	suspend bool
	waitFlags
}

func newSuspend(streams Streams, program string) *cobra.Command {
	s := &suspension{streams: streams, program: program, suspend: true}
	return s.command(&cobra.Command{
		Use:     "suspend NAME",
		Short:   "Have nothing of an APIGateway deployed until it is resumed",
		Long:    suspendLong,
		Example: "  sluice suspend web -n apis",
	}, "the HelmRelease is suspended")
}

func newResume(streams Streams, program string) *cobra.Command {
	s := &suspension{streams: streams, program: program}
	return s.command(&cobra.Command{
		Use:     "resume NAME",
		Short:   "Resume an APIGateway that is suspended",
		Long:    resumeLong,
		Example: "  sluice resume web -n apis --wait",
	}, "the gateway is Ready")
}

func (s *suspension) command(cmd *cobra.Command, until string) *cobra.Command {
	cmd.Args = oneGateway
	connection := connect(cmd)
	cmd.ValidArgsFunction = connection.completeGateway
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := connection.open(s.streams.Err)
		if err != nil {
			return err
		}
		return s.run(cmd.Context(), c, args[0])
	}
	s.waitFlags.add(cmd, until)
	return cmd
}

func (s *suspension) run(ctx context.Context, c *cluster, name string) error {
	gateway, err := c.gateway(ctx, name)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("APIGateway %s/%s", c.namespace, name)
	if gateway.DeletionTimestamp != nil {
		return fmt.Errorf("%s is being deleted, and spec.suspend has no effect any more", about)
	}
	hr, unread := c.releaseOf(ctx, client.ObjectKeyFromObject(gateway))
	change := changeOf(gateway, hr, unread != nil, s.suspend)
	if change.needed {
		if err := c.patch(ctx, gateway, map[string]any{"spec": map[string]any{"suspend": change.value}}); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.streams.Out, "%s: %s\n", about, change.message)
	if applied := story.AppliedBy(gateway); applied != "" && change.needed {
		fmt.Fprintf(s.streams.Err, "note: Kustomization %s applies this gateway, and where git says otherwise, it puts spec.suspend back: change it in git too\n", applied)
	}
	if !s.wait {
		return nil
	}
	return c.await(ctx, s.streams, s.waitFlags, name, s.program, story.Wish{Suspend: s.suspend})
}

// change of spec.suspend.
type change struct {
	needed  bool
	value   any // true, false, or nil, which removes the field
	message string
}

// changeOf is the least that does it. A suspension that spec.suspend made ends with the field; one that people made only false
// lifts. Where the HelmRelease may not be read, false is sure to.
func changeOf(gateway *v1alpha1.APIGateway, hr *helmv2.HelmRelease, unread, suspend bool) change {
	set := gateway.Spec.Suspend
	isTrue, isFalse := set != nil && *set, set != nil && !*set
	byHand := hr != nil && hr.Spec.Suspend && hr.Annotations[v1alpha1.AnnotationSuspended] != "true"
	switch {
	case suspend && isTrue:
		return change{message: "spec.suspend is true already"}
	case suspend:
		return change{true, true, "spec.suspend is true now"}
	case isFalse:
		return change{message: "spec.suspend is false already, which keeps it resumed"}
	case !byHand && !unread && isTrue:
		return change{true, nil, "spec.suspend is removed"}
	case !byHand && !unread:
		return change{message: "it is not suspended"}
	}
	return change{true, false, "spec.suspend is false now, which keeps it resumed; remove the field to leave suspensions to people"}
}
