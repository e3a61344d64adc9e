// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/internal/story"
)

const reconcileLong = `Ask for a reconciliation of an APIGateway now: Flux compares the release with the cluster, and corrects drift.

It sets the annotation reconcile.fluxcd.io/requestedAt, as flux does on its own kinds; Sluice hands it on once no Helm action
runs. --force has Flux upgrade even if nothing changed, also after a failure; --reset clears Flux's count of failures.`

const reconcileExample = `  # Have Flux look now
  sluice reconcile web -n apis

  # Try a failed state once more, and see how it goes
  sluice reconcile web -n apis --force --wait`

type reconcileFlags struct {
	force, reset bool
	waitFlags
}

func newReconcile(streams Streams, program string) *cobra.Command {
	var flags reconcileFlags
	cmd := &cobra.Command{
		Use:     "reconcile NAME",
		Short:   "Have Flux look at an APIGateway's release now",
		Long:    reconcileLong,
		Example: reconcileExample,
		Args:    oneGateway,
	}
	connection := connect(cmd)
	cmd.ValidArgsFunction = connection.completeGateway
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := connection.open(streams.Err)
		if err != nil {
			return err
		}
		return c.reconcile(cmd.Context(), streams, flags, args[0], program)
	}
	cmd.Flags().BoolVar(&flags.force, "force", false, "upgrade once even if nothing changed, or attempts have ended")
	cmd.Flags().BoolVar(&flags.reset, "reset", false, "clear Flux's count of failures")
	flags.waitFlags.add(cmd, "Flux has dealt with it and the gateway is Ready")
	return cmd
}

func (c *cluster) reconcile(ctx context.Context, streams Streams, flags reconcileFlags, name, program string) error {
	gateway, err := c.gateway(ctx, name)
	if err != nil {
		return err
	}
	if gateway.DeletionTimestamp != nil {
		return fmt.Errorf("APIGateway %s/%s is being deleted, and nothing is asked of Flux any more", c.namespace, name)
	}
	token := time.Now().UTC().Format(time.RFC3339Nano)
	if err := c.patch(ctx, gateway, map[string]any{"metadata": map[string]any{"annotations": request(flags, token)}}); err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "APIGateway %s/%s: asked for a reconciliation\n", c.namespace, name)
	if flags.wait {
		return c.await(ctx, streams, flags.waitFlags, name, program, story.Wish{Request: token})
	}
	if hr, _ := c.releaseOf(ctx, client.ObjectKeyFromObject(gateway)); hr != nil && hr.Spec.Suspend {
		fmt.Fprintf(streams.Err, "note: HelmRelease %s/%s is suspended, and what is asked waits until it is resumed\n", hr.Namespace, hr.Name)
	}
	return nil
}

// request is the annotations to set. Flux heeds the others only where they equal requestedAt.
func request(flags reconcileFlags, token string) map[string]any {
	annotations := map[string]any{meta.ReconcileRequestAnnotation: token}
	if flags.force {
		annotations[meta.ForceRequestAnnotation] = token
	}
	if flags.reset {
		annotations[helmv2.ResetRequestAnnotation] = token
	}
	return annotations
}
