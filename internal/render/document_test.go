// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
)

// readAll is every document of a file as JSON.
func readAll(t *testing.T, text string) ([]string, []fault) {
	t.Helper()
	documents, faults := split([]byte(text))
	var objects []string
	for _, d := range documents {
		root, wrong := parse(d, &effort{})
		faults = append(faults, wrong...)
		if root == nil {
			continue
		}
		object, wrong := toMap(root)
		faults = append(faults, wrong...)
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, string(data))
	}
	return objects, faults
}

// kustomizeReads is the same by kustomize itself, which kustomize-controller builds with.
func kustomizeReads(t *testing.T, text string) []string {
	t.Helper()
	nodes, err := kio.FromBytes([]byte(text))
	if err != nil {
		t.Fatalf("kustomize refuses it: %v", err)
	}
	var objects []string
	for _, node := range nodes {
		data, err := node.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, string(data))
	}
	return objects
}

func TestReadsAsKustomize(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		want []string
	}{
		"words that YAML 1.1 takes for booleans are strings": {
			"a: yes\nb: on\nc: y\nd: No\ne: true\n",
			[]string{`{"a":"yes","b":"on","c":"y","d":"No","e":true}`},
		},
		"dates are timestamps": {
			"day: 2026-11-30\nquoted: \"2026-11-30\"\n", []string{`{"day":"2026-11-30T00:00:00Z","quoted":"2026-11-30"}`},
		},
		"numbers": {
			"a: 0644\nb: 0o17\nc: 0x10\nd: 1_000\ne: 1.0\nf: 1e3\ng: 9223372036854775807\nh: 1:30\ni: .5\n",
			[]string{`{"a":420,"b":15,"c":16,"d":1000,"e":1,"f":1000,"g":9223372036854775807,"h":"1:30","i":0.5}`},
		},
		"nulls stay": {"a:\nb: ~\nc: null\nd: \"\"\n", []string{`{"a":null,"b":null,"c":null,"d":""}`}},
		"block scalars keep their line breaks, also at a document's end": {
			"a: |\n  x: yes\n  y: 0644\n---\nb: >-\n  one\n  two\n",
			[]string{`{"a":"x: yes\ny: 0644\n"}`, `{"b":"one two"}`},
		},
		"anchors and merges, of which the first wins": {
			"a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}\nd: *a\n",
			[]string{`{"a":{"x":1,"y":1},"b":{"y":2,"z":2},"c":{"x":1,"y":1,"z":3},"d":{"x":1,"y":1}}`},
		},
		"Windows line ends":                  {"a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n", []string{`{"a":1}`, `{"b":"x\ny\n"}`}},
		"a byte order mark":                  {"\ufeffa: 1\n", []string{`{"a":1}`}},
		"empty documents and comments":       {"---\n# nothing\n---\n---\na: 1\n--- # more\n\n---\nb: 2\n---", []string{`{"a":1}`, `{"b":2}`}},
		"the end marker before the dashes":   {"a: 1\n...\n---\nb: 2\n", []string{`{"a":1}`, `{"b":2}`}},
		"JSON, with tabs and escapes":        {"{\n\t\"a\": [1, 2.5, null],\n\t\"b\": \"\\u003c\\t\"\n}\n", []string{`{"a":[1,2.5,null],"b":"\u003c\t"}`}},
		"a literal that looks like a divide": {"a: |\n  ---\n  b\n", []string{`{"a":"---\nb\n"}`}},
		"an integer that is tagged a float":  {"a: !!float 5\n", []string{`{"a":5}`}},
		"binary":                             {"a: !!binary aGVsbG8=\n", []string{`{"a":"hello"}`}},
		"nothing":                            {"", nil},
	} {
		t.Run(what, func(t *testing.T) {
			got, faults := readAll(t, c.text)
			if faults != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("read %q, %v\nwant %q", got, faults, c.want)
			}
			if theirs := kustomizeReads(t, strings.TrimPrefix(c.text, "\ufeff")); !reflect.DeepEqual(theirs, c.want) {
				t.Errorf("kustomize reads %q\nwant %q", theirs, c.want)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		want []fault
	}{
		"bad indentation in the second document": {
			"a: 1\n---\nb:\n  c: 1\n d: 2\n", []fault{{line: 5, message: "did not find expected key"}},
		},
		"a mapping where none can be": {
			"a: 1\n---\nb: c: d\n", []fault{{line: 3, message: "mapping values are not allowed in this context"}},
		},
		"a tab": {
			"# one\n---\na:\n\tb: 1\n", []fault{{line: 4, message: "found character that cannot start any token"}},
		},
		"an unclosed quote": {
			"a: 1\n---\nb: 1\nc: \"x\n", []fault{{line: 4, message: "found unexpected end of stream"}},
		},
		"every document is looked at": {
			"a: [\n---\nb: {\n---\nc: 1\n",
			[]fault{{line: 1, message: "did not find expected node content"}, {line: 3, message: "did not find expected node content"}},
		},
		"a key twice": {
			"a: 1\n---\nb: 1\nc: 2\nb: 3\n", []fault{{line: 5, field: "b", message: `mapping key "b" already defined at line 3`}},
		},
		"an unknown anchor":         {"---\na: *x\n", []fault{{line: 2, message: "unknown anchor 'x' referenced"}}},
		"an anchor within itself":   {"x: 1\n---\na: &a [*a]\n", []fault{{line: 3, message: "anchor 'a' value contains itself"}}},
		"text after the dashes":     {"a: 1\n--- b: 2\nc: 3\n", []fault{{line: 2, message: "nothing but a comment may follow --- on its line"}}},
		"text after the end marker": {"a: 1\n...\nb: 2\n", []fault{{line: 3, message: "did not find expected <document start>"}}},
		"a document on the line of the dashes": {
			"a: 1\n--- {b: 2}", []fault{{line: 2, message: "a document must begin after a line of its own that says ---"}},
		},
		"a number that is no string's key": {
			"a:\n  8080: x\n", []fault{{line: 2, field: "a", message: "the key 8080 is not a string; quote it"}},
		},
		"integers that would be rounded": {
			"a: 9223372036854775808\nb:\n- 123456789012345678901234567890\nc: -9223372036854775809\n",
			[]fault{
				{line: 1, field: "a", message: "9223372036854775808 is outside the 64-bit integers and would be rounded; quote it"},
				{line: 3, field: "b[0]", message: "123456789012345678901234567890 is outside the 64-bit integers and would be rounded; quote it"},
				{line: 4, field: "c", message: "-9223372036854775809 is outside the 64-bit integers and would be rounded; quote it"},
			},
		},
		"scalars that are not what their tags say": {
			"a: !!int x\nb: {c: [!!binary 'a!', !!float 1_000, !!bool \"true\"]}\n",
			[]fault{
				{line: 1, field: "a", message: `is tagged !!int, and "x" is not an integer; leave out the tag, if it is meant as text`},
				{line: 2, field: "b.c[0]", message: `is tagged !!binary, and "a!" is not base64; leave out the tag, if it is meant as text`},
			},
		},
		"bytes that are no text": {
			"a:\n- !!binary 7000\n",
			[]fault{{line: 2, field: "a[0]", message: "is not UTF-8 text, and JSON has no other; leave out !!binary and give the base64 text, if that is expected here"}},
		},
		"what is no number to JSON": {
			"a.b: .nan\n", []fault{{line: 1, field: `a\.b`, message: ".nan is a number that JSON does not have; quote it, if it is meant as text"}},
		},
	} {
		t.Run(what, func(t *testing.T) {
			if _, got := readAll(t, c.text); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// An anchor that doubles itself forty times must be refused, not written out.
func TestAliasesDoNotExplode(t *testing.T) {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		text += "a" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+", ", 9) + "*a" + from + "]\n"
	}
	_, faults := readAll(t, text)
	if len(faults) != 1 || !strings.Contains(faults[0].message, "excessive aliasing") {
		t.Errorf("got %v", faults)
	}
}

// kustomize cannot read these escapes of JSON, but what other programs write into a pipe is full of them.
func TestReadsEveryEscapeOfJSON(t *testing.T) {
	got, faults := readAll(t, `{"a": "\ud83d\ude00 \/", "b": 9007199254740993}`)
	want := []string{`{"a":"😀 /","b":9007199254740993}`}
	if faults != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %q, %v\nwant %q", got, faults, want)
	}
}

// YAML's parser refuses these escapes, so that JSON is read in another way. That way drops nothing either.
func TestJSONThatYAMLRefusesIsReadWholeOrRefused(t *testing.T) {
	for what, c := range map[string]struct {
		text   string
		object string
		faults []fault
	}{
		"one object":          {`{"x":"a\/b"}`, `{"x":"a/b"}`, nil},
		"a key that is twice": {`{"x":"a\/b","x":2}`, "", []fault{{line: 1, message: `duplicate field "x"`}}},
		"something that follows": {
			`{"x":"a\/b"} {"y":1}`, "", []fault{{line: 1, message: "found unknown escape character"}},
		},
	} {
		t.Run(what, func(t *testing.T) {
			objects, faults := readAll(t, c.text)
			if got := strings.Join(objects, " "); got != c.object || !reflect.DeepEqual(faults, c.faults) {
				t.Errorf("got %s and %v", got, faults)
			}
		})
	}
}

func TestJSONWithComments(t *testing.T) {
	const message = ", and JSON has none; leave it out, or write YAML, whose comments begin with #"
	for what, c := range map[string]struct {
		text    string
		objects []string
		faults  []fault
	}{
		"behind a value":            {"{\n  \"a\": \"b\", // c\n  \"d\": 1\n}\n", nil, []fault{{line: 2, message: "a comment begins with //" + message}}},
		"which YAML takes for text": {"{\n  \"a\": 1 // c\n}\n", nil, []fault{{line: 2, message: "a comment begins with //" + message}}},
		"above it":                  {"\n// c\n{\"a\": 1}", nil, []fault{{line: 2, message: "a comment begins with //" + message}}},
		"below it":                  {"{\"a\": 1}\n// c", nil, []fault{{line: 2, message: "a comment begins with //" + message}}},
		"of several lines, in the second document": {"a: 1\n---\n[\n1,\n/* c\n\" */ 2]", []string{`{"a":1}`},
			[]fault{{line: 5, message: "a comment begins with /*" + message}}},
		"two, of which the first is named": {"{/* a */\"a\": 1\n// b\n}", nil, []fault{{line: 1, message: "a comment begins with /*" + message}}},
		"in strings they are none":         {`{"a": "oci://b", "c": "/* d */", "e\"// f": "g\\"}`, []string{`{"a":"oci://b","c":"/* d */","e\"// f":"g\\"}`}, nil},
		"YAML is not judged":               {"{a: b // c\n}", []string{`{"a":"b // c"}`}, nil},
		"nor what is neither":              {"{\"a\": 1 // c", nil, []fault{{line: 1, message: "did not find expected ',' or '}'"}}},
		"which does not end":               {"{\"a\": 1} /* c", nil, []fault{{line: 1, message: "a comment begins with /*" + message}}},
	} {
		objects, faults := readAll(t, c.text)
		if !reflect.DeepEqual(objects, c.objects) || !reflect.DeepEqual(faults, c.faults) {
			t.Errorf("%s: got %q, %+v", what, objects, faults)
		}
	}
}
