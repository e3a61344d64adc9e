// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/cli"
)

// cliPage is what -h prints of every command, and of the operator.
func cliPage() (string, error) {
	text := "# The command line\n\nWhat `-h` prints of each command, and of the [operator](#sluice-controller).\n"
	all := cli.Commands()
	for _, c := range all {
		text += fmt.Sprintf("\n## %s\n\n```text\n%s```\n", c.CommandPath(), help(c))
	}
	usage, err := operatorUsage()
	return text + fmt.Sprintf("\n## sluice-controller\n\nThe operator. Its kubeconfig is found as controller-runtime does; charts/sluice sets "+
		"these flags by its values.\n\n```text\n%s```\n", usage), err
}

func help(c *cobra.Command) string {
	var out strings.Builder
	c.SetOut(&out)
	if err := c.Help(); err != nil {
		return err.Error()
	}
	return trimmed(out.String())
}

// operatorUsage is what the operator prints, without the first line, which says where its file is.
func operatorUsage() (string, error) {
	command := exec.Command("go", "run", "./cmd/sluice-controller", "-h")
	command.Env = append(os.Environ(), "EXTERNAL_CA_ISSUER_NAME=")
	out, err := command.CombinedOutput()
	_, usage, found := strings.Cut(string(out), "\n")
	if err != nil || !found {
		return "", fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return trimmed(strings.ReplaceAll(usage, "\t", "    ")), nil
}

// trimmed has no blanks at the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n "), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
