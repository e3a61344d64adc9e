// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"testing"
)

// Every example of the bundled chart's gateways fits that chart.
func TestExamplesFitTheChart(t *testing.T) {
	const bundled = "../../charts/gateway"
	for _, name := range exampleNames(t) {
		folder := filepath.Join(examples, name)
		switch name {
		case "postgres", "wso2", "openshell", "migrate": // are of other charts
		case "overlays":
			// Staging tries another version than the bundled one.
			lintsClean(t, "-f", filepath.Join(folder, "platform"), "-k", filepath.Join(folder, "overlays", "production"), "--chart", bundled)
		default:
			lintsClean(t, "-f", folder, "--chart", bundled)
		}
	}
}

func lintsClean(t *testing.T, args ...string) {
	t.Helper()
	if code, stdout, stderr := sluice("", append([]string{"lint"}, args...)...); code != 0 || stdout != "" || stderr != "" {
		t.Errorf("%q exits %d\n%s%s", args, code, stdout, stderr)
	}
}
