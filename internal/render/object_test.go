// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kubernetesyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Whoever reads what is printed, kustomize-controller or kubectl, must read what was meant.
func FuzzYAMLReadsBack(f *testing.F) {
	for _, text := range []string{
		"yes", "on", "y", "~", "null", "true", "0644", "0o17", "0x1F", "1e3", "1_000", "1:30", ".5", ".inf", "-", "=", "<<",
		"2026-11-30", "12345678901234567890", "a: b # c", "{{ .Values }}", "line\n  more\n\n", "  a \n b\t\n", "é😀\u2028",
		"\r\n", "\u0085", "'", `"`, "*a", "&a", "!a", "%a", "@a", "`a", "- a", "? a", "#", "---", "...", "\ufeff", "\x00",
		"\t\n", "\n\n\ta\nb", "a\n\tb\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "<<" {
			t.Skip("kustomize takes a key << for a merge even in quotes, and drops it")
		}
		key := text
		if strings.HasPrefix(strings.TrimLeft(key, "\n"), "\t") {
			key = "no key of a chart begins with a tab"
		}
		data, err := encode(map[string]any{"text": text, "list": []string{text}, "map": map[string]int{key: 1}})
		if err != nil {
			t.Fatal(err)
		}
		printed := printedRelease(t, data)
		want, err := decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if got := valuesOf(t, asKustomize(t, printed)); !reflect.DeepEqual(got, any(want)) {
			t.Errorf("kustomize reads %v of %v\n%s", got, want, printed)
		}
		if got := valuesOf(t, asKubectl(t, printed)); !reflect.DeepEqual(got, any(want)) {
			t.Errorf("kubectl reads %v of %v\n%s", got, want, printed)
		}
	})
}

// printedRelease is a HelmRelease with these values.
func printedRelease(t *testing.T, values []byte) []byte {
	t.Helper()
	release := &helmv2.HelmRelease{}
	release.Spec.Values = &apiextensionsv1.JSON{Raw: values}
	text, err := releaseObject(release).YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// valuesOf are the values of a HelmRelease that was read back.
func valuesOf(t *testing.T, release []byte) any {
	t.Helper()
	return plainTree(t, release)["spec"].(map[string]any)["values"]
}

func asKustomize(t *testing.T, text []byte) []byte {
	t.Helper()
	objects, faults := readAll(t, string(text))
	if len(objects) != 1 || faults != nil {
		t.Fatalf("read %q, %v of\n%s", objects, faults, text)
	}
	return []byte(objects[0])
}

func asKubectl(t *testing.T, text []byte) []byte {
	t.Helper()
	data, err := kubernetesyaml.ToJSON(text)
	if err != nil {
		t.Fatalf("%v of\n%s", err, text)
	}
	return data
}

func plainTree(t *testing.T, data []byte) map[string]any {
	t.Helper()
	tree, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Numbers within 64 bits go through to the last digit.
func TestNumbersAreExact(t *testing.T) {
	data := []byte(`{"a":9223372036854775807,"b":-9223372036854775808,"c":0.1,"d":1e-7,"e":1.0}`)
	printed := printedRelease(t, data)
	want := "  values:\n    a: 9223372036854775807\n    b: -9223372036854775808\n    c: 0.1\n    d: 1e-07\n    e: 1\n"
	if !strings.HasSuffix(string(printed), want) {
		t.Errorf("got\n%s\nwant\n%s", printed, want)
	}
}

// No input may crash the reader, and what it reads is JSON.
func FuzzAdd(f *testing.F) {
	for _, text := range []string{
		"a: 1\n---\nb: &a [*a]\n", "kind: List\nitems: [1, null, {kind: List, items: []}]\n", "{\"a\": \"\\ud83d\"}",
		"apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: a, namespace: b}\nspec: {suspend: 3}\n",
		"apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGatewayClass\nmetadata: [a]\nspec: null\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}\n", "<<: 1\n", "? [a]\n: b\n", "a: !!float x\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set := &Set{}
		set.Add("file", data)
		for _, problem := range set.Render(Options{}).Problems {
			if problem.Message == "" || problem.Line < 1 && problem.Message != "there is no APIGateway in the input" {
				t.Errorf("a problem that does not say what or where: %#v", problem)
			}
		}
		for _, entry := range set.gateways {
			if _, err := json.Marshal(entry.gateway); err != nil {
				t.Error(err)
			}
		}
	})
}
