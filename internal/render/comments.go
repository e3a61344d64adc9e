// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"strings"
)

// commentFaults refuses what is JSON but for comments. YAML's parser mostly fails far from them, and takes some for text.
func (d document) commentFaults() []fault {
	begin := strings.TrimLeft(d.text, " \t\n")
	if begin == "" || !strings.ContainsRune("{[/", rune(begin[0])) {
		return nil
	}
	plain, first := withoutComments(d.text)
	if first < 0 || !json.Valid([]byte(plain)) {
		return nil
	}
	line := d.above + strings.Count(d.text[:first], "\n") + 1
	return []fault{{line: line, message: "a comment begins with " + d.text[first:first+2] +
		", and JSON has none; leave it out, or write YAML, whose comments begin with #"}}
}

// withoutComments is JSON without its comments, and where the first one begins; -1 where there is none.
func withoutComments(text string) (plain string, first int) {
	var out strings.Builder
	first = -1
	kept := 0 // up to here the text is in out, or left out
	for i := 0; i < len(text); {
		switch length := commentLength(text[i:]); {
		case length > 0:
			if first < 0 {
				first = i
			}
			out.WriteString(text[kept:i] + " ")
			i += length
			kept = i
		case text[i] == '"':
			i += stringLength(text[i:])
		default:
			i++
		}
	}
	if first < 0 {
		return text, first
	}
	out.WriteString(text[kept:])
	return out.String(), first
}

// commentLength is that of the comment with which the text begins; 0 where it begins with none.
func commentLength(text string) int {
	var length int
	switch {
	case strings.HasPrefix(text, "//"):
		length = strings.IndexByte(text, '\n')
	case strings.HasPrefix(text, "/*"):
		if length = strings.Index(text[2:], "*/"); length >= 0 {
			length += 4
		}
	default:
		return 0
	}
	if length < 0 {
		return len(text)
	}
	return length
}

// stringLength is that of the string in quotes with which the text begins.
func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
