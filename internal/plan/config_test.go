// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const withConfig = "spec: {configRef: {name: orders-values}}"

// The wanted values are also what sigs.k8s.io/yaml, and so Helm, makes of each document.
func TestConfigIsReadAsHelmReadsAValuesFile(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"words of YAML 1.1 are booleans": {
			"a: yes\nb: no\nc: on\nd: Off\ne: y\nf: true\n",
			`{"a":true,"b":false,"c":true,"d":false,"e":true,"f":true}`,
		},
		"words in quotes are text":              {"a: \"yes\"\nb: 'on'\nc: \"0644\"\n", `{"a":"yes","b":"on","c":"0644"}`},
		"numbers of YAML 1.1":                   {"a: 0644\nb: 0x1F\nc: 1_000\nd: 0b11\ne: 08\nf: 0o17\n", `{"a":420,"b":31,"c":1000,"d":3,"e":8,"f":15}`},
		"whole floats become integers":          {"a: 1.0\nb: 1e3\nc: 1.5\nd: -0.0\n", `{"a":1,"b":1000,"c":1.5,"d":0}`},
		"whole floats beyond a float's digits":  {"a: 20000000000000008.0\n", `{"a":20000000000000010}`},
		"dates stay text":                       {"a: 2026-11-01\nb: 2026-11-01T00:00:00Z\n", `{"a":"2026-11-01","b":"2026-11-01T00:00:00Z"}`},
		"times of day stay text":                {"a: 1:30\n", `{"a":"1:30"}`},
		"nulls stay":                            {"a: null\nb: ~\nc:\n", `{"a":null,"b":null,"c":null}`},
		"keys become text":                      {"1: a\ntrue: b\n1.5: c\n", `{"1":"a","1.5":"c","true":"b"}`},
		"anchors, aliases and merges":           {"a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n", `{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}`},
		"a merged key that is overridden":       {"a: &x {b: 1, c: 1}\nd: {<<: *x, b: 2}\n", `{"a":{"b":1,"c":1},"d":{"b":2,"c":1}}`},
		"of two merged maps the last":           {"a: &x {b: 1}\nc: &y {b: 2}\nd: {<<: [*x, *y]}\n", `{"a":{"b":1},"c":{"b":2},"d":{"b":1}}`},
		"tags":                                  {"a: !!str 1\nb: !!binary aGVsbG8=\nc: !!int '1'\nd: !!timestamp 2026-11-01\n", `{"a":"1","b":"hello","c":1,"d":"2026-11-01"}`},
		"JSON":                                  {`{"a": [1, {"b": null}]}`, `{"a":[1,{"b":null}]}`},
		"a marker before the only document":     {"# values\n---\na: 1\n", `{"a":1}`},
		"a marker after it, and nothing else":   {"a: 1\n---\n# nothing\n", `{"a":1}`},
		"an end of the document":                {"---\na: 1\n...\n", `{"a":1}`},
		"text that looks like a marker":         {"a: |\n  ---\n  b\n", "{\"a\":\"---\\nb\\n\"}"},
		"an empty document":                     {"", ""},
		"comments alone":                        {"# nothing\n\n", ""},
		"an empty map":                          {"{}\n", ""},
		"a null document":                       {"null\n", ""},
		"text in other scripts, and emphasised": {"a: \"é\\u00e9 \\U0001F600\"\n", `{"a":"éé 😀"}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, valuesOf(t, "{}", withConfig, c.document))
			if c.want == "" {
				return
			}
			helms, err := yaml.YAMLToJSON([]byte(c.document))
			require.NoError(t, err)
			require.JSONEq(t, string(helms), c.want)
		})
	}
}

func TestIntegersOfAConfigAreKeptExactly(t *testing.T) {
	require.Equal(t, `{"beyondFloat":9007199254740993,"least":-9223372036854775808,"most":9223372036854775807}`,
		valuesOf(t, "{}", withConfig, "most: 9223372036854775807\nleast: -9223372036854775808\nbeyondFloat: 9007199254740993\n"))
}

func TestConfigsThatCannotBeReadAreRefused(t *testing.T) {
	const rounded = ": the API server would round this integer, which does not fit 64 bits; put it in quotes"
	for name, c := range map[string]struct {
		document string
		want     []string
	}{
		"duplicate keys": {
			"a: 1\nb: {c: 1,\n  c: 2}\na: 2\n",
			[]string{`line 3: key "c" already set in map`, `line 4: key "a" already set in map`},
		},
		"duplicate keys beside a merge": {
			"a: &x {b: 1}\nc: {<<: *x, b: 2, b: 3}\n",
			[]string{`line 2: key "b" already set in map`, `line 2: key "b" already set in map`},
		},
		"numbers that are one, beside a merge": {
			"a: &x {1: a}\nc: {<<: *x, 1: b, 0x1: c}\n",
			[]string{`line 2: key 1 already set in map`, `line 2: key 1 already set in map`},
		},
		"keys that are one in JSON": {
			"x:\n  1: a\n  \"1\": b\n",
			[]string{"line 2: x.1: is set twice"},
		},
		"no YAML":                                    {"a: 1\n b: 2\n", []string{"line 2: mapping values are not allowed in this context"}},
		"a tab":                                      {"a:\n\tb: 1\n", []string{"line 2: found character that cannot start any token"}},
		"a key that stands between two others":       {"a:\n  b: 1\n c: 2\n", []string{"line 3: did not find expected key"}},
		"a list that is not closed":                  {"a: 1\nb: [1, 2\nc: 3\n", []string{"line 3: did not find expected ',' or ']'"}},
		"a map that is not closed":                   {"a: 1\nb: {c: 1\nd: 3\n", []string{"line 3: did not find expected ',' or '}'"}},
		"an item among keys":                         {"a: 1\n- b\n", []string{"line 2: did not find expected key"}},
		"a key among items":                          {"- a\nb: 1\n", []string{"line 2: did not find expected '-' indicator"}},
		"a bracket too many":                         {"a: ]\n", []string{"line 1: did not find expected node content"}},
		"a quote that is not closed":                 {"a: 1\nb: \"x\nc: 2\n", []string{"line 3: found unexpected end of stream"}},
		"an unknown handle of a tag":                 {"a: 1\nb: !x!y z\n", []string{"line 2: found undefined tag handle"}},
		"another version of YAML":                    {"%YAML 1.2\n---\na: 1\n", []string{"line 1: found incompatible YAML document"}},
		"an unknown anchor":                          {"a: *b\n", []string{"unknown anchor 'b' referenced"}},
		"no UTF-8":                                   {"a: \xff\n", []string{"invalid leading UTF-8 octet"}},
		"a list":                                     {"- a\n", []string{"a list is not a map, and values are one"}},
		"text":                                       {"values\n", []string{"a string is not a map, and values are one"}},
		"a number":                                   {"5\n", []string{"a number is not a map, and values are one"}},
		"a number out of range":                      {"18446744073709551616\n", []string{"line 1" + rounded}},
		"two documents":                              {"a: 1\n---\nb: 1\n", []string{"line 2: another document begins, and values are one"}},
		"a second document of another kind":          {"---\n# first\na: 1\n\n--- # second\n- b\n", []string{"line 5: another document begins, and values are one"}},
		"a second document that is broken":           {"a: 1\n---\n{\n", []string{"line 2: another document begins, and values are one"}},
		"a second document without a marker":         {"a: 1\n...\n# second\nb: 1\n", []string{"line 4: another document begins, and values are one"}},
		"a second document after an empty first one": {"---\n---\na: 1\n", []string{"line 2: another document begins, and values are one"}},
		"integers outside int64": {
			"a:\n  b: [1, 9223372036854775808]\nc: 18446744073709551616\nd: -9223372036854775809\n\"e.f\": 1e19\n",
			[]string{"line 2: a.b[1]" + rounded, "line 3: c" + rounded, "line 4: d" + rounded, `line 5: e\.f` + rounded},
		},
		"what JSON has no word for": {
			"a: .inf\nb: .nan\n~: 1\n",
			[]string{
				"line 3: the key null here is neither a string nor a number nor a boolean; quote it",
				"line 1: a: JSON cannot express this number", "line 2: b: JSON cannot express this number",
			},
		},
		"bytes that are no text": {
			"a: !!binary 7000\n!!binary gIGC: b\n",
			[]string{
				`line 2: the key "\x80\x81\x82" here is not UTF-8 text, and JSON has no other`,
				"line 1: a: is not UTF-8 text, and JSON has no other; leave out !!binary and give the base64 text, if the chart expects that",
			},
		},
		"values that are not what their tags say": {
			"a:\n- b\n- c: !!int x\n  d: !!bool y\n",
			[]string{`line 3: a[1].c: is tagged !!int, and "x" is not an integer; leave out the tag, if it is meant as text`},
		},
		"bytes that are no base64": {
			"a: &a {b: 1}\nc: {<<: *a, d: !!binary 'a!'}\n",
			[]string{`line 2: c.d: is tagged !!binary, and "a!" is not base64; leave out the tag, if it is meant as text`},
		},
		"a key that is not what its tag says": {
			"a:\n  !!float x: 1\n",
			[]string{`line 2: a: is tagged !!float, and "x" is not a number; leave out the tag, if it is meant as text`},
		},
		"keys that are lists": {
			"a:\n  b: 1\n  [c]: 2\n",
			[]string{"line 3: a: a key here is a list or a map, and must be a string"},
		},
		"a value below what is merged": {
			"a: &a\n  b: {c: .inf}\nd: {<<: *a}\n",
			[]string{"line 2: a.b.c: JSON cannot express this number", "line 3: d.b.c: JSON cannot express this number"},
		},
		"aliases without end": {
			"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
				"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
			[]string{"document contains excessive aliasing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, "{}", withConfig)
			in.Config = aConfig(c.document)
			for i := range c.want {
				c.want[i] = "InvalidConfig spec.configRef.name: ConfigMap team/orders-values, key values.yaml, " + c.want[i]
			}
			require.Equal(t, c.want, refusal(t, in))
		})
	}
}

func TestAConfigThatIsNotThere(t *testing.T) {
	for name, c := range map[string]struct {
		config *corev1.ConfigMap
		want   string
	}{
		"no ConfigMap": {nil, "ConfigMap team/orders-values does not exist"},
		"no such key": {
			&corev1.ConfigMap{Data: map[string]string{"values.yml": "", "config.yaml": ""}},
			"ConfigMap team/orders-values has no key values.yaml under data; it has: config.yaml, values.yml",
		},
		"the key under binaryData": {
			&corev1.ConfigMap{BinaryData: map[string][]byte{"values.yaml": []byte("a: 1")}},
			"ConfigMap team/orders-values has no key values.yaml under data; it is under binaryData, which is not read; move it to data, as text",
		},
		"nothing at all": {
			&corev1.ConfigMap{},
			"ConfigMap team/orders-values has no key values.yaml under data; it has: none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, "{}", withConfig)
			in.Config = c.config
			require.Equal(t, []string{"ConfigNotFound spec.configRef.name: " + c.want}, refusal(t, in))
		})
	}
}

func TestAConfigThatNobodyNamesIsNotRead(t *testing.T) {
	in := input(t, "{}", "{}")
	in.Config = aConfig("a: 1")
	require.Nil(t, made(t, in).Release.Values)
}

// What is read back from the API server must encode to the same bytes, or an unchanged object would be written for ever.
func TestEncodedValuesDecodeAndEncodeToTheSameBytes(t *testing.T) {
	document := "a: 1.0\nb: 0.1\nc: 1e-7\nd: 123456789.125\ne: 9007199254740993\nf: \"<é\\u2028>\"\ng: [{}, [], null]\n"
	once := valuesOf(t, "{}", withConfig, document)
	var decoded any
	require.NoError(t, json.Unmarshal([]byte(once), &decoded))
	again := string(encode(decodeObject("", []byte(once), &faults{})))
	require.Equal(t, once, again)
	require.Equal(t, "{\"a\":1,\"b\":0.1,\"c\":1e-7,\"d\":123456789.125,\"e\":9007199254740993,\"f\":\"<é\\u2028>\",\"g\":[{},[],null]}", once)
}
