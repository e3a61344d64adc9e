// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxIndex bounds a list index, so that no path makes a list of a million nulls.
const maxIndex = 255

// Step is one step of a Path: a key of a map, or an element of a list.
type Step struct {
	// Key of a map; empty for an element.
	Key string
	// Index of an element, where IsIndex is true.
	Index   int
	IsIndex bool
}

// Path leads to one place in a chart's values. Its first step is a key.
type Path []Step

// ParsePath reads a path in the notation of helm --set: keys joined by dots, \. for a dot inside a key, [0] for an element
// of a list. As there, a comma, an equals sign and a bracket inside a key want a backslash too.
func ParsePath(text string) (Path, error) {
	p := pathParser{rest: text}
	for {
		if err := p.key(); err != nil {
			return nil, err
		}
		if err := p.indexes(); err != nil {
			return nil, err
		}
		if p.rest == "" {
			return p.path, nil
		}
		if p.rest[0] != '.' {
			return nil, fmt.Errorf("a dot or [ must follow ], not %q", p.rest)
		}
		p.rest = p.rest[1:]
	}
}

type pathParser struct {
	rest string
	path Path
}

// key reads up to the next dot, bracket or end.
func (p *pathParser) key() error {
	var key strings.Builder
	i := 0
	for ; i < len(p.rest) && !strings.ContainsRune(".[", rune(p.rest[i])); i++ {
		switch c := p.rest[i]; c {
		case '\\':
			i++
			if i == len(p.rest) {
				return errors.New("it ends in a backslash, which must be followed by the character it escapes")
			}
			key.WriteByte(p.rest[i])
		case ',', '=', ']':
			return fmt.Errorf("write \\%c for a %q inside a key", c, c)
		default:
			key.WriteByte(c)
		}
	}
	if i == 0 {
		return errors.New("it has an empty key; keys are joined by single dots, and a path begins with a key")
	}
	p.rest = p.rest[i:]
	p.path = append(p.path, Step{Key: key.String()})
	return nil
}

// indexes reads any number of [n].
func (p *pathParser) indexes() error {
	for strings.HasPrefix(p.rest, "[") {
		digits, rest, found := strings.Cut(p.rest[1:], "]")
		if !found {
			return errors.New("a [ has no ]")
		}
		index, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || index > maxIndex {
			return fmt.Errorf("[%s] is not the index of an element: write a number from 0 to %d", digits, maxIndex)
		}
		p.path = append(p.path, Step{Index: int(index), IsIndex: true})
		p.rest = rest
	}
	return nil
}

// String is the path in the notation that ParsePath reads.
func (p Path) String() string {
	var out strings.Builder
	for i, step := range p {
		if step.IsIndex {
			fmt.Fprintf(&out, "[%d]", step.Index)
			continue
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(escapeKey.Replace(step.Key))
	}
	return out.String()
}

var escapeKey = strings.NewReplacer(".", "\\.", "[", "\\[", "]", "\\]", ",", "\\,", "=", "\\=", "\\", "\\\\")

// key is the path of what lies under a key; the path itself is not changed.
func (p Path) key(name string) Path {
	return append(p[:len(p):len(p)], Step{Key: name})
}

// set puts a value at the path, as helm --set does: what is missing on the way is made, a list that is too short is
// extended with nulls, and what has another shape is replaced. It changes tree and returns it.
func (p Path) set(tree, value any) any {
	if len(p) == 0 {
		return value
	}
	if !p[0].IsIndex {
		node, ok := tree.(map[string]any)
		if !ok {
			node = map[string]any{}
		}
		node[p[0].Key] = p[1:].set(node[p[0].Key], value)
		return node
	}
	list, _ := tree.([]any)
	for len(list) <= p[0].Index {
		list = append(list, nil)
	}
	list[p[0].Index] = p[1:].set(list[p[0].Index], value)
	return list
}
