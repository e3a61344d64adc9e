// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/version"
)

const versionLong = `Print the version of this command, and on a second line, where the build noted it, the commit that it was built from.`

func newVersion(streams Streams, number string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this command",
		Long:    versionLong,
		Example: "  sluice version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(streams.Out, versionText(number, version.Commit()))
			return err
		},
	}
}

// addVersionFlag adds --version, which prints what the command version does.
func addVersionFlag(root *cobra.Command, number string) {
	root.Version = versionText(number, version.Commit())
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print the version of this command")
}

func versionText(number, commit string) string {
	if commit == "" {
		return number + "\n"
	}
	return number + "\ncommit " + commit + "\n"
}
