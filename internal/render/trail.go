// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// trail is the way from an object to one of its values. It becomes text only where something is at fault: made at every
// level, the texts of one deeply nested value would take memory by the square of its depth.
type trail struct {
	above *trail
	depth int
	key   string
	index int
	// inList says that index counts, and not key.
	inList bool
}

func (t *trail) keyed(key string) *trail {
	return &trail{above: t, depth: t.level() + 1, key: key}
}

func (t *trail) at(index int) *trail {
	return &trail{above: t, depth: t.level() + 1, index: index, inList: true}
}

// level is the number of steps; the object itself is at 0.
func (t *trail) level() int {
	if t == nil {
		return 0
	}
	return t.depth
}

// first is the beginning of the way, of at most n steps.
func (t *trail) first(n int) *trail {
	for t.level() > n {
		t = t.above
	}
	return t
}

// String is the path, in the notation of a plan's paths.
func (t *trail) String() string {
	var steps []*trail
	for at := t; at != nil; at = at.above {
		steps = append(steps, at)
	}
	slices.Reverse(steps)
	var text strings.Builder
	for i, step := range steps {
		switch {
		case step.inList:
			text.WriteString(indexPath("", step.index))
		case i > 0:
			text.WriteString("." + keyPath("", step.key))
		default:
			text.WriteString(keyPath("", step.key))
		}
	}
	return text.String()
}

// keyPath is the path of a key below path: a dot within the key is escaped.
func keyPath(path, key string) string {
	own := plan.Path{{Key: key}}.String()
	if path == "" {
		return own
	}
	return path + "." + own
}

func indexPath(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}
