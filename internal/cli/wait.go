// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/internal/story"
)

// waitFlags are those of commands that can wait.
type waitFlags struct {
	wait    bool
	timeout time.Duration
}

func (f *waitFlags) add(cmd *cobra.Command, until string) {
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until "+until+", with a line for each change; exit 1 if that fails")
	f.timeout = 10 * time.Minute
	cmd.Flags().Var((*span)(&f.timeout), "timeout", "how long --wait waits")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("timeout") && !f.wait {
			return errors.New("--timeout says how long --wait waits: give --wait too, or leave it out")
		}
		return nil
	}
}

// await prints a line whenever things stand otherwise, until the wish has come true. It fails when the wish does, and when
// time is up.
func (c *cluster) await(ctx context.Context, streams Streams, flags waitFlags, name, program string, wish story.Wish) error {
	// Shortly before a deadline the client refuses requests for want of time; so the time ends the context, and is no deadline.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(flags.timeout, cancel).Stop()
	hint := fmt.Sprintf("see: %s tree %s -n %s", program, name, c.namespace)
	last := ""
	for signs := c.changes(ctx, name); ; {
		o, err := c.outcome(ctx, name, wish)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil && o.Message != last {
			last = o.Message
			fmt.Fprintf(streams.Out, "%s %s\n", time.Now().Format(time.TimeOnly), last)
		}
		switch {
		case o.Done:
			return nil
		case o.Failed:
			return fmt.Errorf("APIGateway %s/%s: %s; %s", c.namespace, name, o.Message, hint)
		}
		select {
		case <-signs:
		case <-ctx.Done():
			return errors.New(timedOut(c, name, flags, last, hint))
		}
	}
}

func timedOut(c *cluster, name string, flags waitFlags, last, hint string) string {
	return fmt.Sprintf("APIGateway %s/%s: timed out after %s: %s; %s", c.namespace, name, flags.timeout, last, hint)
}

func (c *cluster) outcome(ctx context.Context, name string, wish story.Wish) (story.Outcome, error) {
	gateway, err := c.gateway(ctx, name)
	if err != nil {
		return story.Outcome{}, err
	}
	// Who may not read HelmReleases takes the gateway's word.
	hr, _ := c.releaseOf(ctx, client.ObjectKeyFromObject(gateway))
	return story.Await(gateway, hr, wish), nil
}

// releaseOf is nil where there is no HelmRelease, and beside an error.
func (c *cluster) releaseOf(ctx context.Context, gateway client.ObjectKey) (*helmv2.HelmRelease, error) {
	hr := &helmv2.HelmRelease{}
	if err := c.Get(ctx, gateway, hr); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return hr, nil
}
