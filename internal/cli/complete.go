// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// completionTimeout: a shell that asks waits for the answer.
const completionTimeout = 3 * time.Second

// completeGateway completes the name of a gateway. A cluster that does not answer completes nothing, in silence.
func (c *connection) completeGateway(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, func(ctx context.Context, k *cluster) (names []string) {
		list := &v1alpha1.APIGatewayList{}
		if k.List(ctx, list, client.InNamespace(k.namespace)) == nil {
			for _, g := range list.Items {
				names = append(names, g.Name)
			}
		}
		return names
	})
}

func (c *connection) completeNamespace(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.complete(cmd, func(ctx context.Context, k *cluster) (names []string) {
		list := &corev1.NamespaceList{}
		if k.List(ctx, list) == nil {
			for _, n := range list.Items {
				names = append(names, n.Name)
			}
		}
		return names
	})
}

func (c *connection) complete(cmd *cobra.Command, list func(context.Context, *cluster) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	k, err := c.open(io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return list(ctx, k), cobra.ShellCompDirectiveNoFileComp
}

func (c *connection) completeContext(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

// completeConnection completes the values of kubectl's flags.
func completeConnection(cmd *cobra.Command, c *connection) {
	must(cmd.RegisterFlagCompletionFunc("namespace", c.completeNamespace))
	must(cmd.RegisterFlagCompletionFunc("context", c.completeContext))
}

// addOutput adds -o with its values.
func addOutput(cmd *cobra.Command, output *string, usage string, values ...string) {
	cmd.Flags().StringVarP(output, "output", "o", "", usage)
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// must: a completion is registered for a flag that there is, once.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
