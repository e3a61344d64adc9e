// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"replicas", "resources", "className", "tag"}
	for what, c := range map[string]struct {
		word  string
		typos int
		want  string
	}{
		"a letter is missing":         {"replica", 2, "replicas"},
		"two letters are swapped":     {"replcias", 2, "replicas"},
		"only the case differs":       {"classname", 0, "className"},
		"the word itself":             {"tag", 0, "tag"},
		"too far away":                {"replics", 0, ""},
		"as far as may be":            {"resurce", 2, "resources"},
		"nothing is like nothing":     {"", 2, ""},
		"nothing is near a long word": {"infrastructure", 4, ""},
	} {
		if got := Nearest(c.word, known, c.typos); got != c.want {
			t.Errorf("%s: nearest to %q is %q, want %q", what, c.word, got, c.want)
		}
	}
	if got := Nearest("tap", []string{"tag", "tab"}, 1); got != "tag" {
		t.Errorf("of two that are as near it is %q, want the first", got)
	}
}
