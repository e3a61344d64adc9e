// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/diff"
)

// list makes objects of "kind name text" each.
func list(entries ...string) []diff.Object {
	var all []diff.Object
	for _, entry := range entries {
		parts := strings.SplitN(entry, " ", 3)
		all = append(all, diff.Object{Kind: parts[0], Namespace: "apis", Name: parts[1], Text: parts[2]})
	}
	return all
}

// sameInitial pairs objects whose names begin alike.
func sameInitial(before, after diff.Object) bool {
	return before.Kind == after.Kind && before.Name[0] == after.Name[0]
}

func TestObjects(t *testing.T) {
	for what, c := range map[string]struct {
		before, after []diff.Object
		want          string
	}{
		"nothing":             {nil, nil, ""},
		"the same":            {list("A a 1\n", "B a 1\n"), list("B a 1\n", "A a 1\n"), ""},
		"new":                 {nil, list("A a 1\n2\n"), "--- /dev/null\n+++ A apis/a\n@@ -0,0 +1,2 @@\n+1\n+2\n"},
		"gone":                {list("A a 1\n"), nil, "--- A apis/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"},
		"changed":             {list("A a 1\n2\n"), list("A a 1\n3\n"), "--- A apis/a\n+++ A apis/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"},
		"renamed":             {list("A a1 1\n"), list("A a2 2\n"), "--- A apis/a1\n+++ A apis/a2\n@@ -1 +1 @@\n-1\n+2\n"},
		"renamed to either":   {list("A a1 1\n"), list("A a2 2\n", "A a3 3\n"), "--- A apis/a1\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- /dev/null\n+++ A apis/a2\n@@ -0,0 +1 @@\n+2\n--- /dev/null\n+++ A apis/a3\n@@ -0,0 +1 @@\n+3\n"},
		"renamed from either": {list("A a1 1\n", "A a2 2\n"), list("A a3 3\n"), "--- A apis/a1\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- A apis/a2\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n--- /dev/null\n+++ A apis/a3\n@@ -0,0 +1 @@\n+3\n"},
		"another kind":        {list("A a1 1\n"), list("B a2 1\n"), "--- /dev/null\n+++ B apis/a2\n@@ -0,0 +1 @@\n+1\n--- A apis/a1\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"},
	} {
		t.Run(what, func(t *testing.T) {
			got := ""
			for _, change := range diff.Objects(c.before, c.after, sameInitial) {
				got += change.Text()
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
