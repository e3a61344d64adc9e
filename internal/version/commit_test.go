// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	const hash = "5f6c5a5d0c1e2f3a4b5c6d7e8f9a0b1c2d3e4f50"
	for want, settings := range map[string][]debug.BuildSetting{
		"":                  {{Key: "vcs.modified", Value: "true"}},
		hash:                {{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "false"}},
		hash + ", modified": {{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "true"}},
	} {
		if got := commit(settings); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
