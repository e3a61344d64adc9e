// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

// What is worked on side by side comes out as if one thing had followed the other: objects, problems and their lines.
func TestSideBySideIsAsOneByOne(t *testing.T) {
	sound := string(manyGateways(2*atOnce + 7))
	faulty := strings.NewReplacer(
		"name: web-3\n", "name: web-2\n", // twice
		"name: web-17\n", "name: web-17\n  nmae: web\n", // unknown
		"hostnames: [api-600.example.com]", "hostnames: api-600.example.com", // no list
		"hostnames: [api-601.example.com]", "hostnames: [", // no YAML
		"name: web-900\n", "name: Web_900\n", // no name
	).Replace(sound)
	refused := strings.NewReplacer(
		"name: web-3\n", "name: web-2\n",
		"hostnames: [api-5.example.com]", "hostnames: [api-5.example.com]\n    parentRef: {name: edge}",
		"hostnames: [api-700.example.com]", "hostnames: [api-700.example.com]\n    parentRef: {name: edge}",
	).Replace(sound)
	for what, text := range map[string]string{"sound": sound, "faulty": faulty, "refused": refused} {
		many, manyText := renderedOn(t, 8, text)
		one, oneText := renderedOn(t, 1, text)
		if !reflect.DeepEqual(many.Problems, one.Problems) || !reflect.DeepEqual(many.Notes, one.Notes) {
			t.Errorf("%s: side by side\n%v\none by one\n%v", what, many.Problems, one.Problems)
		}
		if manyText != oneText {
			t.Errorf("%s: other objects", what)
		}
		if got := len(one.Problems) > 0; got != (what != "sound") {
			t.Errorf("%s: %v", what, one.Problems)
		}
	}
}

func renderedOn(t *testing.T, processors int, text string) (Result, string) {
	t.Helper()
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(processors))
	set := &Set{}
	set.Add("file", []byte(text))
	result := set.Render(Options{Naming: fluxobjects.OwnSources})
	var out bytes.Buffer
	if err := WriteYAML(&out, result.Objects); err != nil {
		t.Fatal(err)
	}
	result.Objects = nil
	return result, out.String()
}

func TestSideBySideDoesEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 1000} {
		done := make([]int, n)
		sideBySide(n, func(i int) { done[i]++ })
		for i, times := range done {
			if times != 1 {
				t.Fatalf("%d of %d was done %d times", i, n, times)
			}
		}
	}
}
