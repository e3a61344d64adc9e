// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package diff compares objects as people read them. It stands after internal/render, whose objects internal/cli gives it
// as texts, the one time as they were and the other as they are.
package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Object is a named text.
type Object struct {
	Kind, Namespace, Name string
	// Text of the object, which ends in a line break.
	Text string
}

// String is kind namespace/name.
func (o Object) String() string {
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Change is one object that differs; Before or After is nil where it was made or is gone.
type Change struct {
	Before, After *Object
}

// Renamed says whether two objects are one in two forms, though their names differ.
type Renamed func(before, after Object) bool

// Objects lists what differs, by kind, namespace and name. What is gone is paired with what was made where renamed says so
// of just these two.
func Objects(before, after []Object, renamed Renamed) []Change {
	old := map[string]*Object{}
	for i := range before {
		old[before[i].String()] = &before[i]
	}
	var changes []Change
	for i := range after {
		was := old[after[i].String()]
		delete(old, after[i].String())
		if was == nil || was.Text != after[i].Text {
			changes = append(changes, Change{was, &after[i]})
		}
	}
	changes = append(changes, pair(changes, old, renamed)...)
	slices.SortFunc(changes, func(a, b Change) int {
		x, y := a.object(), b.object()
		return cmp.Or(-cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return changes
}

// pair gives objects that were made those that they were before, and returns the others that are gone.
func pair(changes []Change, gone map[string]*Object, renamed Renamed) []Change {
	wanted := map[*Object][]int{}
	for i, change := range changes {
		var candidates []*Object
		for _, old := range gone {
			if change.Before == nil && renamed(*old, *change.After) {
				candidates = append(candidates, old)
			}
		}
		if len(candidates) == 1 {
			wanted[candidates[0]] = append(wanted[candidates[0]], i)
		}
	}
	var rest []Change
	for _, old := range gone {
		if by := wanted[old]; len(by) == 1 {
			changes[by[0]].Before = old
			continue
		}
		rest = append(rest, Change{Before: old})
	}
	return rest
}

// object is the change's name.
func (c Change) object() *Object {
	return cmp.Or(c.After, c.Before)
}

// nothing is how git and diff name what is not there.
const nothing = "/dev/null"

// Text is a unified diff, headed by the names.
func (c Change) Text() string {
	diff := difflib.UnifiedDiff{FromFile: nothing, ToFile: nothing, Context: 3}
	if c.Before != nil {
		diff.FromFile, diff.A = c.Before.String(), lines(c.Before.Text)
	}
	if c.After != nil {
		diff.ToFile, diff.B = c.After.String(), lines(c.After.Text)
	}
	var out strings.Builder
	_ = difflib.WriteUnifiedDiff(&out, diff) // a Builder takes everything
	return out.String()
}

func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	return all[:len(all)-1]
}
