// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesOfValues(t *testing.T) {
	const document = "# none\na:\n  b: 1\n  c:\n  - d: 2\n  - e:\n      f: 3\ng: &g {h: 4}\ni: *g\nj.k: 5\n"
	for path, line := range map[string]int{
		"a": 2, "a.b": 3, "a.c": 4, "a.c[0]": 5, "a.c[1].e": 6, "a.c[1].e.f": 7, "i": 9, "i.h": 8, `j\.k`: 10,
		// Not there: what is nearest.
		"a.x": 2, "a.c[2]": 4, "a.b.x": 3, "x": 2,
	} {
		parsed, err := ParsePath(path)
		require.NoError(t, err, path)
		require.Equal(t, line, LinesOf([]byte(document)).At(parsed), path)
	}
	require.Equal(t, 0, LinesOf([]byte("# none\n")).At(Path{{Key: "a"}}))
	require.Equal(t, 0, LinesOf([]byte("a: [")).At(Path{{Key: "a"}}))
}
