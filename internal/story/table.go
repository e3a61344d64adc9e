// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
)

// maxCell is how much of a message a table shows, in characters; the verdict shows all.
const maxCell = 200

// table aligns cells; rows may be marked bad.
type table struct {
	rows [][]string
	bad  []bool
}

func newTable(heads ...string) *table {
	t := &table{}
	if len(heads) > 0 {
		t.add(false, heads...)
	}
	return t
}

func (t *table) add(bad bool, cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = cut(short(oneLine(cell)), maxCell)
	}
	t.rows, t.bad = append(t.rows, row), append(t.bad, bad)
}

// cut shortens a text to a number of characters.
func cut(text string, length int) string {
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	return string(runes[:length-1]) + "…"
}

// table prints the rows aligned; colours come last, since they have no width.
func (p *page) table(t *table) {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	w.Flush()
	for i, line := range strings.Split(strings.TrimSuffix(aligned.String(), "\n"), "\n") {
		if line = strings.TrimRight(line, " "); line == "" {
			continue
		}
		if t.bad[i] {
			line = p.paint(red, line)
		}
		p.line("%s", line)
	}
}

// digests, and git's commits, are shortened on a screen as git and helm-controller do it.
var digests = regexp.MustCompile(`(sha256:[0-9a-f]{12})[0-9a-f]{52}|(sha1:[0-9a-f]{12})[0-9a-f]{28}`)

func short(text string) string { return digests.ReplaceAllString(text, "$1$2") }
