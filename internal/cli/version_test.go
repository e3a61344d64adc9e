// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "testing"

func TestVersionText(t *testing.T) {
	for commit, want := range map[string]string{"": "dev\n", "5f6c5a5, modified": "dev\ncommit 5f6c5a5, modified\n"} {
		if got := versionText("dev", commit); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
