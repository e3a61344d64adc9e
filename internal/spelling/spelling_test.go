// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package spelling

import "testing"

func TestBegun(t *testing.T) {
	known := []string{"configRef", "replicas", "release", "className", "tag"}
	for what, c := range map[string]struct{ word, want string }{
		"the rest is missing":         {"class", "className"},
		"only the case differs":       {"CONFIGREF", "configRef"},
		"one of two that begin alike": {"rel", "release"},
		"two letters":                 {"ta", ""},
		"nothing begins so":           {"name", ""},
		"a letter":                    {"t", ""},
		"more than the word":          {"tags", ""},
		"no word":                     {"", ""},
	} {
		if got := Begun(c.word, known); got != c.want {
			t.Errorf("%s: %q begins %q, want %q", what, c.word, got, c.want)
		}
	}
	if got := Begun("rep", append(known, "report")); got != "" {
		t.Errorf("of two that begin so it is %q, want none", got)
	}
}

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
