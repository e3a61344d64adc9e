// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/stretchr/testify/require"
)

// patched is a gateway with one patch, of a class that allows patches.
func patched(t *testing.T, patch string, target *kustomize.Selector) Input {
	t.Helper()
	in := input(t, "spec: {release: {serviceAccountName: flux}, policy: {allowPatches: true}}", "{}")
	in.Gateway.Spec.Patches = []kustomize.Patch{{Patch: patch, Target: target}}
	return in
}

func deployments() *kustomize.Selector { return &kustomize.Selector{Kind: "Deployment"} }

func TestSoundPatches(t *testing.T) {
	for name, c := range map[string]struct {
		patch  string
		target *kustomize.Selector
	}{
		"every operation": {patch: `
- {op: add, path: /metadata/labels/a, value: b}
- {op: replace, path: /spec/replicas, value: 0}
- {op: test, path: /a~1b, value: null}
- {op: remove, path: /spec/template}
- {op: move, from: /a, path: /b}
- {op: copy, from: /a/-, path: /b}
`, target: deployments()},
		"operations as JSON": {patch: `[{"op": "remove", "path": "/spec/replicas"}]`, target: deployments()},
		"a part of an object": {patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n" +
			"spec: {template: {spec: {containers: [{name: web, $patch: delete}, {name: b, image: c}]}}}"},
		"parts of two objects":         {patch: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: b}"},
		"the deletion of an object":    {patch: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n$patch: delete"},
		"an object of an unknown kind": {patch: "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {list: [1]}"},
		"a part for every target":      {patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: any}\nspec: {replicas: 2}", target: deployments()},
		"every part of a target": {patch: "- {op: remove, path: /a}", target: &kustomize.Selector{
			Group: "apps|batch", Version: "v1", Kind: "Deployment", Namespace: "a.*", Name: "^b$", LabelSelector: "a in (b,c),d!=e", AnnotationSelector: "!f"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := patched(t, c.patch, c.target)
			require.Equal(t, in.Gateway.Spec.Patches, made(t, in).Release.Patches)
		})
	}
}

func TestFaultyPatches(t *testing.T) {
	const notReadable = "InvalidSpec spec.patches[0].patch: is neither a list of JSON patch operations nor an object with apiVersion, kind and metadata.name to merge: "
	for name, c := range map[string]struct {
		patch  string
		target *kustomize.Selector
		want   string
	}{
		"nothing":                     {" \n", nil, "InvalidSpec spec.patches[0].patch: is empty; write what is to change"},
		"a comment":                   {"# later", nil, "InvalidSpec spec.patches[0].patch: is empty; write what is to change"},
		"no operation":                {"[]", deployments(), "InvalidSpec spec.patches[0].patch: has no operation"},
		"operations without a target": {"- {op: remove, path: /a}", nil, "InvalidSpec spec.patches[0].patch: is a JSON patch, which needs a target; set target.kind or target.name"},
		"an unknown operation":        {"- {op: remove, path: /a}\n- {op: set, path: /a, value: 1}", deployments(), "InvalidSpec spec.patches[0].patch: operation 2: op is none of add, remove, replace, move, copy and test"},
		"no path":                     {"- {op: remove}", deployments(), `InvalidSpec spec.patches[0].patch: operation 1: "remove" needs path, a JSON pointer such as /spec/replicas`},
		"a path that is no pointer":   {"- {op: remove, path: spec.replicas}", deployments(), `InvalidSpec spec.patches[0].patch: operation 1: "remove" needs path, a JSON pointer such as /spec/replicas`},
		"no value":                    {"- {op: add, path: /a}", deployments(), `InvalidSpec spec.patches[0].patch: operation 1: "add" needs a value`},
		"no from":                     {"- {op: move, path: /a}", deployments(), `InvalidSpec spec.patches[0].patch: operation 1: "move" needs from, a JSON pointer such as /spec/replicas`},
		"flow style that is no JSON":  {"[{op: remove, path: /a}]", deployments(), "InvalidSpec spec.patches[0].patch: begins with [ and so must be JSON, with double quotes around every key and string; or write a list of lines that begin with -"},
		"a list of words":             {"- a\n- b", deployments(), "InvalidSpec spec.patches[0].patch: is not a JSON patch: json: cannot unmarshal string into Go value of type jsonpatch.Operation"},
		"a word":                      {"x", nil, notReadable + "missing Resource metadata"},
		"an object without a name":    {"{apiVersion: v1, kind: Service, spec: {}}", deployments(), notReadable + "missing metadata.name in object {{v1 Service} {{ } map[] map[]}}"},
		"an object without a kind":    {"{apiVersion: v1, metadata: {name: a}}", nil, notReadable + "missing kind in object {{v1 } {{a } map[] map[]}}"},
		"what is not YAML":            {"a: [", nil, "InvalidSpec spec.patches[0].patch: is not YAML: yaml: line 1: did not find expected node content"},
		"two objects and a target":    {"{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: v1, kind: A, metadata: {name: b}}", deployments(), "InvalidSpec spec.patches[0].patch: holds 2 objects, and with a target it must be one; write a patch for each"},
		"a map that holds itself":     {"spec: &a {x: *a}", nil, "InvalidSpec spec.patches[0].patch: line 1: has an anchor or an alias; write out what it stands for"},
		"operations that grow":        {"- {op: add, path: /a, value: &a [*a]}", deployments(), "InvalidSpec spec.patches[0].patch: line 1: has an anchor or an alias; write out what it stands for"},
		"what is nested too deep":     {strings.Repeat("{a: ", 200) + strings.Repeat("}", 200), nil, "InvalidSpec spec.patches[0].patch: is nested more than 100 deep, which no object is"},
		"what kustomize panics at":    {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: [a]}}", nil, "InvalidSpec spec.patches[0].patch: kustomize cannot read it: runtime error: index out of range [1] with length 1"},
		"a key twice":                 {"- {op: add, path: /a, path: /b, value: 1}", deployments(), "InvalidSpec spec.patches[0].patch: line 1: path is set twice"},
		"a second document":           {"- {op: remove, path: /a}\n---\n- {op: remove, path: /b}", deployments(), "InvalidSpec spec.patches[0].patch: is a JSON patch and goes on after its list; write a patch for each"},
		"a stray key":                 {"- {op: remove, path: /a, vlaue: 1}", deployments(), "InvalidSpec spec.patches[0].patch: operation 1: vlaue is no part of an operation, which has op, path, and value or from"},
		"the whole document":          {"- {op: remove, path: ''}", deployments(), `InvalidSpec spec.patches[0].patch: operation 1: "remove" needs path, a JSON pointer such as /spec/replicas`},
		"a patch that is too long":    {strings.Repeat("#", 16<<10+1), nil, "InvalidSpec spec.patches[0].patch: has 16385 bytes; at most 16384 are allowed"},
		"a target that is too long":   {"- {op: remove, path: /a}", &kustomize.Selector{Name: strings.Repeat("[a-z]{900}", 30)}, "InvalidSpec spec.patches[0].target: has a field of 300 characters; at most 253 are allowed"},
		"a target that is empty":      {"- {op: remove, path: /a}", &kustomize.Selector{}, "InvalidSpec spec.patches[0].target: is empty, and so would match every object; set at least kind"},
		"a name that is no pattern":   {"- {op: remove, path: /a}", &kustomize.Selector{Name: "a("}, "InvalidSpec spec.patches[0].target.name: is not a regular expression: error parsing regexp: missing closing ): `^(?:a()$`"},
		"a kind that is no pattern":   {"- {op: remove, path: /a}", &kustomize.Selector{Kind: "*"}, "InvalidSpec spec.patches[0].target.kind: is not a regular expression: error parsing regexp: missing argument to repetition operator: `*`"},
		"labels that are no selector": {"- {op: remove, path: /a}", &kustomize.Selector{LabelSelector: "a in b"}, "InvalidSpec spec.patches[0].target.labelSelector: is not a selector, such as app=web,tier!=back: unable to parse requirement: found 'b' expected: '('"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []string{c.want}, refusal(t, patched(t, c.patch, c.target)))
		})
	}
}

func TestPatchesTogetherAreLimited(t *testing.T) {
	in := patched(t, "- {op: remove, path: /a}", deployments())
	for range 5 {
		in.Gateway.Spec.Patches = append(in.Gateway.Spec.Patches, kustomize.Patch{
			Patch: "- {op: remove, path: /a}\n#" + strings.Repeat("#", 16<<10-100), Target: deployments()})
	}
	require.Equal(t, []string{
		"InvalidSpec spec.patches: hold more than 65536 bytes together; a chart that needs so much wants values of its own",
	}, refusal(t, in))
}

// A patch that nobody may apply is not even read.
func TestPatchesWithoutThePolicyAreRefused(t *testing.T) {
	in := patched(t, "spec: &a {x: *a}", deployments())
	in.Classes[0].Spec.Policy.AllowPatches = false
	require.Equal(t, []string{"NotAllowed spec.patches: class wso2 does not let gateways patch the chart (policy.allowPatches); remove it"}, refusal(t, in))
}
