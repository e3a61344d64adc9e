// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "fmt"

// pathTree holds the paths that a class's mappings have taken, and where the class says so.
type pathTree struct {
	// by is where the first path through this node stands in the class, and first is that path.
	by    string
	first Path
	// ends: that path ends here.
	ends bool
	// isList: what lies under are elements of a list; otherwise keys of a map.
	isList bool
	under  map[Step]*pathTree
}

// take adds a path, or says how it clashes with an earlier one: it equals it, contains it, lies within it, or takes for a
// list what the other takes for a map. In each case one of the two would be overwritten.
func (t *pathTree) take(path Path, by string) (clash string) {
	node := t
	for i, step := range path {
		switch {
		case node.ends:
			return fmt.Sprintf("%s lies within %s, which %s sets", path, node.first, node.by)
		case len(node.under) > 0 && node.isList != step.IsIndex:
			return fmt.Sprintf("%s takes %s for %s, and %s sets %s", path, path[:i], kind(step), node.by, node.first)
		}
		node = node.enter(step, path, by)
	}
	switch {
	case node.by == by:
		node.ends = true
		return ""
	case node.ends:
		return fmt.Sprintf("%s is set by %s too", path, node.by)
	default:
		return fmt.Sprintf("%s contains %s, which %s sets", path, node.first, node.by)
	}
}

// enter is the node one step below, made where there is none.
func (t *pathTree) enter(step Step, path Path, by string) *pathTree {
	child, ok := t.under[step]
	if !ok {
		if t.under == nil {
			t.under = map[Step]*pathTree{}
		}
		child = &pathTree{by: by, first: path}
		t.under[step] = child
		t.isList = step.IsIndex
	}
	return child
}

func kind(step Step) string {
	if step.IsIndex {
		return "a list"
	}
	return "a map"
}
