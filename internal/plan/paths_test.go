// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func key(name string) Step { return Step{Key: name} }

func element(index int) Step { return Step{Index: index, IsIndex: true} }

func TestReadingPaths(t *testing.T) {
	for text, want := range map[string]Path{
		"a":                     {key("a")},
		"deployment.replicas":   {key("deployment"), key("replicas")},
		`a\.b.c`:                {key("a.b"), key("c")},
		`a\\b`:                  {key(`a\b`)},
		`a\[0\]`:                {key("a[0]")},
		`a\,b\=c`:               {key("a,b=c")},
		`\a`:                    {key("a")},
		"hosts[0]":              {key("hosts"), element(0)},
		"hosts[0].name":         {key("hosts"), element(0), key("name")},
		"a[1][255].b[2]":        {key("a"), element(1), element(255), key("b"), element(2)},
		"é.ü":                   {key("é"), key("ü")},
		"annotations.a/b:c d-e": {key("annotations"), key("a/b:c d-e")},
		"a[007]":                {key("a"), element(7)},
		"0":                     {key("0")},
	} {
		path, err := ParsePath(text)
		require.NoError(t, err, text)
		require.Equal(t, want, path, text)

		again, err := ParsePath(path.String())
		require.NoError(t, err, path.String())
		require.Equal(t, path, again, "%s, written as %s", text, path)
	}
}

func TestWhatIsNoPathIsRefused(t *testing.T) {
	const (
		empty = "it has an empty key; keys are joined by single dots, and a path begins with a key"
		index = " is not the index of an element: write a number from 0 to 255"
	)
	for text, want := range map[string]string{
		"":         empty,
		".a":       empty,
		"a.":       empty,
		"a..b":     empty,
		"[0]":      empty,
		"a.[0]":    empty,
		"a[0]b":    `a dot or [ must follow ], not "b"`,
		"a[0].":    empty,
		"a[":       "a [ has no ]",
		"a[0":      "a [ has no ]",
		"a[]":      "[]" + index,
		"a[x]":     "[x]" + index,
		"a[-1]":    "[-1]" + index,
		"a[+1]":    "[+1]" + index,
		"a[256]":   "[256]" + index,
		"a[65536]": "[65536]" + index,
		"a]":       `write \] for a ']' inside a key`,
		"a,b":      `write \, for a ',' inside a key`,
		"a=1":      `write \= for a '=' inside a key`,
		`a\`:       "it ends in a backslash, which must be followed by the character it escapes",
	} {
		path, err := ParsePath(text)
		require.EqualError(t, err, want, text)
		require.Nil(t, path, text)
	}
}
