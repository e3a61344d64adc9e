// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

const gatewayHead = "apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: web, namespace: apis}\n"

// allocated is how many bytes a function asks for. Time is not looked at: what takes long here reads much.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// rendered are the problems of one file, and what it took to find them.
func rendered(text string) (problems []Problem, bytes int) {
	bytes = allocated(func() {
		set := &Set{}
		set.Add("file", []byte(text))
		problems = set.Render(Options{}).Problems
	})
	return problems, bytes
}

func TestValuesNestedDeepCostNoMoreThanTheirText(t *testing.T) {
	const depth = 9000
	for what, text := range map[string]string{
		"lists":               "spec:\n  values:\n    a: " + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "\n",
		"maps":                "spec:\n  values:\n    a: " + strings.Repeat("{b: ", depth) + strings.Repeat("}", depth) + "\n",
		"many below the deep": "spec:\n  values:\n    a: " + strings.Repeat("[", depth) + strings.Repeat(".nan,", 9000) + strings.Repeat("]", depth) + "\n",
	} {
		problems, bytes := rendered(gatewayHead + text)
		want := "file:6: APIGateway apis/web: spec.values.a: is nested more than 150 deep; make it flatter"
		if len(problems) != 1 || problems[0].String() != want {
			t.Errorf("%s: got %v", what, problems)
		}
		if bytes > 40<<20 {
			t.Errorf("%s: allocated %d MB", what, bytes>>20)
		}
	}
}

// What plans refuse by their own measure they refuse in their own words.
func TestValuesNestedLessDeepAreThePlansToRefuse(t *testing.T) {
	class := "---\napiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGatewayClass\nmetadata: {name: sluice}\n" +
		"spec: {chart: {url: 'oci://example.com/charts/gateway', ref: {tag: 1.0.0}}}\n"
	problems, _ := rendered(gatewayHead + "spec:\n  className: sluice\n  values:\n    a: " +
		strings.Repeat("[", 120) + strings.Repeat("]", 120) + "\n" + class)
	want := "file:7: APIGateway apis/web: spec.values.a: is nested more than 100 deep, which no chart's values are; make it flatter (InvalidSpec)"
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("got %v", problems)
	}
}

func TestFaultsOfOneObjectAreCounted(t *testing.T) {
	key := strings.Repeat("k", 1000)
	problems, bytes := rendered(gatewayHead + "spec:\n  values:\n    " + key + ":\n" + strings.Repeat("    - .nan\n", 10_000))
	if len(problems) != maxFaults+1 {
		t.Fatalf("%d problems", len(problems))
	}
	if got := problems[maxFaults].String(); got != "file:107: APIGateway apis/web: there are more such faults below; correct these first" {
		t.Error(got)
	}
	if bytes > 60<<20 {
		t.Errorf("allocated %d MB", bytes>>20)
	}
}

// The search for the line of a syntax error reads the text again and again, and so must end.
func TestSyntaxErrorsOfLargeFilesAreFoundInBounds(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for what, c := range map[string]struct{ text, want string }{
		"an unclosed quote in lines that are long":  {"a: \"x\n" + strings.Repeat(long+"\n", 480), "file:482: found unexpected end of stream"},
		"an unclosed quote in lines that are many":  {"a: \"x\n" + strings.Repeat("b: c\n", 100_000), "file:100002: found unexpected end of stream"},
		"documents that are faulty, and there many": {strings.Repeat("a: \"x\n"+strings.Repeat("b: c\n", 50)+"\n---\n", 1000), "file:53: found unexpected end of stream"},
	} {
		var set Set
		bytes := allocated(func() { set.Add("file", []byte(c.text)) })
		if len(set.problems) == 0 || set.problems[0].String() != c.want {
			t.Errorf("%s: got %v", what, set.problems)
		}
		if set.effort.spent > maxEffort || bytes > 400<<20 {
			t.Errorf("%s: spent %d, allocated %d MB", what, set.effort.spent, bytes>>20)
		}
	}
}

// Lines are found in one pass over a document, however many faults there are.
func TestManyFaultyGatewaysOfOneList(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "- apiVersion: gateway.sluice.dev/v1alpha1\n  kind: APIGateway\n  metadata: {name: web-%d, namespace: apis}\n"+
			"  spec:\n    className: gone\n", i)
	}
	problems, bytes := rendered(text.String())
	if len(problems) != 2000 {
		t.Fatalf("%d problems", len(problems))
	}
	want := "file:10003: APIGateway apis/web-1999: spec.className: there is no APIGatewayClass gone, nor any other; create it; " +
		"add the file of the class to the input (ClassNotFound)"
	if got := problems[1999].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if bytes > 200<<20 {
		t.Errorf("allocated %d MB", bytes>>20)
	}
}

// Of a value of the wrong type the place is searched by leaving out one after another.
func TestWrongTypesInLargeObjectsAreFoundInBounds(t *testing.T) {
	text := gatewayHead + "spec:\n  exposure:\n    hostnames:\n" + strings.Repeat("    - a.example.com\n", 50_000) + "    - 1\n    - {}\n"
	var set Set
	set.Add("file", []byte(text))
	if len(set.problems) == 0 || set.effort.spent > maxEffort {
		t.Errorf("spent %d, got %v", set.effort.spent, set.problems)
	}
}
