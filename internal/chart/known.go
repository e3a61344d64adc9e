// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/spelling"
)

// spot is a place in a chart's values, as far as the chart tells of it.
type spot struct {
	// schemas that hold for it, and root of them.
	schemas []*jsonschema.Schema
	root    bool
	// defaults that lie there.
	defaults any
	// sub is the chart whose values begin there.
	sub *Chart
	// open says that the chart leaves what lies below to whoever sets it.
	open bool
}

func (c *Chart) rootSpot() spot {
	s := spot{root: true, sub: c}
	if c.Values != nil {
		s.defaults = c.Values
	}
	if c.schema != nil {
		s.schemas = applying(c.schema)
	}
	return s
}

// Unknown says why the chart has no value at the path; empty where it has one, or leaves open what lies there. The schema
// decides, where one tells of the place, and values.yaml where none does.
func (c *Chart) Unknown(path plan.Path) string {
	at, i := c.follow(path)
	if i == len(path) {
		return ""
	}
	return c.unknown(at, path, i)
}

func (c *Chart) has(path plan.Path) bool {
	_, i := c.follow(path)
	return i == len(path)
}

// follow goes along the path: the last spot that is known, and how many steps it takes to it.
func (c *Chart) follow(path plan.Path) (spot, int) {
	at := c.rootSpot()
	for i, step := range path {
		next, known := at.step(step)
		if !known {
			return at, i
		}
		at = next
	}
	return at, len(path)
}

// UnknownKeys are the uppermost paths of a document of values that the chart does not know, with the reason for each.
func (c *Chart) UnknownKeys(values map[string]any) []Violation {
	var all []Violation
	c.scan(c.rootSpot(), nil, values, &all)
	return all
}

func (c *Chart) scan(at spot, path plan.Path, value any, all *[]Violation) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(keys(v)) {
			c.scanStep(at, path, plan.Step{Key: key}, v[key], all)
		}
	case []any:
		for i, item := range v {
			c.scanStep(at, path, plan.Step{Index: i, IsIndex: true}, item, all)
		}
	}
}

func (c *Chart) scanStep(at spot, path plan.Path, step plan.Step, value any, all *[]Violation) {
	path = append(slices.Clone(path), step)
	next, known := at.step(step)
	if !known && step.IsIndex {
		return // a list where there is none by default is of the wrong type, if it is wrong
	}
	if !known {
		*all = append(*all, Violation{Path: path, Message: c.unknown(at, path, len(path)-1), Unknown: true})
		return
	}
	c.scan(next, path, value, all)
}

// step goes to a key or an element, if there is one.
func (s spot) step(step plan.Step) (spot, bool) {
	switch {
	case s.open:
		return s, true
	case step.IsIndex:
		return s.element(step.Index)
	}
	return s.key(step.Key)
}

func (s spot) key(key string) (spot, bool) {
	if next, found := s.subchart(key); found {
		return next, true
	}
	if !allows(s.schemas, "object") {
		return spot{}, false
	}
	next := spot{}
	described := false
	for _, schema := range s.schemas {
		found, describes := property(schema, key)
		next.schemas = append(next.schemas, found...)
		described = described || describes
	}
	defaults, isMap := s.defaults.(map[string]any)
	value, hasDefault := defaults[key]
	next.defaults = value
	switch {
	case len(next.schemas) > 0 || hasDefault:
		return next, true
	case described:
		return spot{}, false
	case len(s.schemas) > 0 && !s.root:
		return spot{open: true}, true
	}
	// Without a schema, an empty default is there to be filled, and a map lists what there is.
	if (isMap && len(defaults) == 0 && !s.root) || s.defaults == nil && !s.root {
		return spot{open: true}, true
	}
	return spot{}, false
}

// subchart goes to the values that the chart hands on.
func (s spot) subchart(key string) (spot, bool) {
	if s.sub == nil {
		return spot{}, false
	}
	if key == globalKey {
		return spot{open: true}, true
	}
	for _, sub := range s.sub.Subcharts {
		if sub.Key == key {
			next := sub.Chart.rootSpot()
			next.schemas, next.defaults = slices.Clone(next.schemas), overDefaults(next.defaults, s.defaults, key)
			return next, true
		}
	}
	return spot{}, false
}

// overDefaults are a subchart's defaults with its parent's for it.
func overDefaults(own, parents any, key string) any {
	parent, _ := parents.(map[string]any)
	over, _ := parent[key].(map[string]any)
	under, _ := own.(map[string]any)
	return overlay(under, over, true)
}

func (s spot) element(index int) (spot, bool) {
	if !allows(s.schemas, "array") {
		return spot{}, false
	}
	next := spot{}
	for _, schema := range s.schemas {
		next.schemas = append(next.schemas, items(schema, index)...)
	}
	if len(next.schemas) > 0 {
		return next, true
	}
	switch s.defaults.(type) {
	case nil, []any:
		// Lists replace one another, so that the elements of the default one say little of others.
		return spot{open: true}, true
	}
	return spot{open: true}, len(s.schemas) > 0
}

// unknown says what is missing at path[i], which at knows not.
func (c *Chart) unknown(at spot, path plan.Path, i int) string {
	where := "at its top"
	if i > 0 {
		where = "under " + path[:i].String()
	}
	text := fmt.Sprintf("is no value of the chart %s, which has no %s %s", c, path[i:i+1], where)
	if meant := c.meant(at, path, i); meant != nil {
		text += fmt.Sprintf("; did you mean %s?", meant)
	}
	return text
}

// meant is the path that is spelt nearly so, or else the only one that ends alike; nil where there is none.
func (c *Chart) meant(at spot, path plan.Path, i int) plan.Path {
	key := path[i].Key
	if near := nearest(key, at.keys()); near != "" {
		corrected := append(append(slices.Clone(path[:i]), plan.Step{Key: near}), path[i+1:]...)
		if !c.has(corrected) {
			corrected = corrected[:i+1]
		}
		return corrected
	}
	var ends []plan.Path
	endings(c.Values, nil, path[len(path)-1].Key, &ends)
	if len(ends) == 1 {
		return ends[0]
	}
	return nil
}

// nearest is the name that is spelt nearly so, or else the only one that begins alike or holds the key, as replicaCount does
// replicas and logLevel level; empty where there is none.
func nearest(key string, names []string) string {
	if near := spelling.Nearest(key, names, min(3, 1+len(key)/3)); near != "" {
		return near
	}
	var alike []string
	for _, name := range names {
		if isAlike(strings.ToLower(key), strings.ToLower(name)) {
			alike = append(alike, name)
		}
	}
	if len(alike) != 1 {
		return ""
	}
	return alike[0]
}

func isAlike(a, b string) bool {
	const begins, holds = 6, 4
	if len(a) >= begins && strings.HasPrefix(b, a[:begins]) {
		return true
	}
	return len(a) >= holds && strings.Contains(b, a) || len(b) >= holds && strings.Contains(a, b)
}

// endings collects the paths of the defaults that end in the key.
func endings(values map[string]any, path plan.Path, key string, all *[]plan.Path) {
	for _, name := range slices.Sorted(keys(values)) {
		here := append(slices.Clone(path), plan.Step{Key: name})
		if name == key {
			*all = append(*all, here)
		}
		if below, isMap := values[name].(map[string]any); isMap {
			endings(below, here, key, all)
		}
	}
}

// keys that the chart names here, sorted.
func (s spot) keys() []string {
	names := map[string]bool{}
	for _, schema := range s.schemas {
		for name := range schema.Properties {
			names[name] = true
		}
	}
	defaults, _ := s.defaults.(map[string]any)
	for name := range defaults {
		names[name] = true
	}
	if s.sub != nil {
		for _, sub := range s.sub.Subcharts {
			names[sub.Key] = true
		}
	}
	return slices.Sorted(keys(names))
}
