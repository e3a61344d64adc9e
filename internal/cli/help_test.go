// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/sluice-gateway/sluice/internal/cli"
)

var calls = regexp.MustCompile(`(?m)(?:^ *|\| )sluice ([^|>\n]+)`)

// Each command has an example, and each example is a command line that the command takes.
func TestExamplesOfTheHelpAreCommandLines(t *testing.T) {
	for _, c := range cli.Commands() {
		if strings.HasPrefix(c.CommandPath(), "sluice completion") { // cobra's own
			continue
		}
		examples := calls.FindAllStringSubmatch(c.Example, -1)
		if len(examples) == 0 {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, example := range examples {
			// Each line is for a root of its own: flags that were given stay.
			root := cli.Commands()[0]
			called, args, err := root.Find(strings.Fields(strings.ReplaceAll(example[1], "'", "")))
			if err != nil {
				t.Errorf("sluice %s: %v", example[1], err)
				continue
			}
			if err := called.ParseFlags(args); err != nil {
				t.Errorf("sluice %s: %v", example[1], err)
			}
			if err := called.ValidateArgs(called.Flags().Args()); err != nil {
				t.Errorf("sluice %s: %v", example[1], err)
			}
			if c.HasParent() && called.CommandPath() != c.CommandPath() {
				t.Errorf("sluice %s is an example of %s", example[1], c.CommandPath())
			}
		}
	}
}

// Commands that build kustomizations say so in their usage.
func TestUsagesNameKustomizations(t *testing.T) {
	got := map[string]string{}
	for _, c := range cli.Commands() {
		if c.Flags().Lookup("kustomize") != nil {
			got[c.Name()] = c.Use
		}
	}
	want := map[string]string{
		"diff":   "diff -f FILE|DIRECTORY|GLOB|- | -k FOLDER ... --against REVISION|FOLDER|cluster",
		"lint":   "lint -f FILE|DIRECTORY|GLOB|- | -k FOLDER ...",
		"render": "render -f FILE|DIRECTORY|GLOB|- | -k FOLDER ...",
	}
	if !maps.Equal(got, want) {
		t.Errorf("usages are %q, want %q", got, want)
	}
}

// Commands that use a cluster tell of each flag by which it is found. Gateways say their own namespace to diff.
func TestTheFlagsOfTheConnectionAreTold(t *testing.T) {
	var connected []string
	for _, c := range cli.Commands() {
		if c.Flags().Lookup("kubeconfig") == nil {
			continue
		}
		connected = append(connected, c.Name())
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Hidden && !(c.Name() == "diff" && flag.Name == "namespace") {
				t.Errorf("%s does not tell of --%s", c.Name(), flag.Name)
			}
		})
	}
	if got, want := strings.Join(connected, " "), "diff get migrate reconcile resume suspend tree"; got != want {
		t.Errorf("connected are %s, want %s", got, want)
	}
}
