// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

type schema = apiextensionsv1.JSONSchemaProps

// kinds of the API, by their plural.
var kinds = []string{"apigateways", "apigatewayclasses"}

// ofPods are the fields that are a pod's own, which Kubernetes describes.
var ofPods = []string{"affinity", "resources", "tolerations"}

const podReference = "As in a [Pod](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/)."

func apiPage() (string, error) {
	text := "# The API\n\nGroup `gateway.sluice.dev`, version `v1alpha1`. A field that is not required may be left out, and what is the " +
		"same as leaving it out: null, \"\", [] or {}. Conditions, reasons, labels and annotations are in [status.md](status.md).\n"
	for _, plural := range kinds {
		kind, err := apiKind(plural)
		if err != nil {
			return "", err
		}
		text += kind
	}
	return text, nil
}

func apiKind(plural string) (string, error) {
	file := filepath.Join("charts", "sluice", "crds", "gateway.sluice.dev_"+plural+".yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	names := crd.Spec.Names
	text := fmt.Sprintf("\n## %s\n\n%s\n\n%s, short name `%s`.\n", names.Kind, prose(root.Description), crd.Spec.Scope, strings.Join(names.ShortNames, "`, `"))
	if len(root.XValidations) > 0 {
		text += "\n"
	}
	for _, rule := range root.XValidations {
		text += ruleOf("", rule)
	}
	for _, part := range []string{"spec", "status"} {
		t := table{required: map[string]bool{}}
		t.under(part, root.Properties[part])
		if t.err != nil {
			return "", fmt.Errorf("%s: %w", file, t.err)
		}
		text += fmt.Sprintf("\n### %s of %s\n\n", part, names.Kind) + t.String()
	}
	return text, nil
}

// table of the fields of a part, with what holds for several of them below.
type table struct {
	rows, rules []string
	required    map[string]bool
	err         error
}

func (t *table) String() string {
	text := "| field | type | | meaning |\n|---|---|---|---|\n" + strings.Join(t.rows, "\n") + "\n"
	if len(t.rules) > 0 {
		text += "\nBeyond the single fields:\n\n" + strings.Join(t.rules, "")
	}
	return text
}

// ruleOf is what the API server says, of the field that the rule is about.
func ruleOf(path string, rule apiextensionsv1.ValidationRule) string {
	field := strings.TrimPrefix(path+rule.FieldPath, ".")
	said := cmp.Or(rule.Message, "`"+rule.Rule+"`")
	if field == "" {
		return "- " + said + "\n"
	}
	return "- `" + field + "`: " + said + "\n"
}

// under adds the fields of an object, sorted, each with what is below it.
func (t *table) under(path string, of schema) {
	for _, rule := range of.XValidations {
		t.rules = append(t.rules, ruleOf(path, rule))
	}
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		t.field(path+"."+name, of.Properties[name], slices.Contains(of.Required, name))
	}
}

func (t *table) field(path string, of schema, required bool) {
	name := path[strings.LastIndex(path, ".")+1:]
	if len(of.Description) > 390 && strings.HasSuffix(of.Description, "...") && !slices.Contains(ofPods, name) {
		t.err = fmt.Errorf("%s: its description is cut off; make it shorter", path)
	}
	description := prose(of.Description)
	if slices.Contains(ofPods, name) {
		description += " " + podReference
	}
	t.rows = append(t.rows, fmt.Sprintf("| `%s` | %s | %s | %s |", path, typeOf(of), constraints(of, required), strings.TrimSpace(description)))
	if slices.Contains(ofPods, name) {
		return
	}
	switch {
	case of.Items != nil:
		t.under(path+"[]", *of.Items.Schema)
	case of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil:
		t.under(path+".*", *of.AdditionalProperties.Schema)
	default:
		t.under(path, of)
	}
}

// typeOf says what is to be written.
func typeOf(of schema) string {
	switch {
	case of.Items != nil:
		return "list of " + plural(typeOf(*of.Items.Schema))
	case of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil:
		return "map of " + plural(typeOf(*of.AdditionalProperties.Schema))
	case of.XPreserveUnknownFields != nil && *of.XPreserveUnknownFields:
		return "anything, as a map"
	case of.XIntOrString:
		return "integer or string"
	case of.Format == "date-time":
		return "time"
	case of.Format != "":
		return of.Type + " (" + of.Format + ")"
	}
	return of.Type
}

func plural(word string) string {
	if strings.Contains(word, " ") {
		return word
	}
	return word + "s"
}

// constraints are what the API server checks of one field.
func constraints(of schema, required bool) string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if required {
		add("required")
	}
	if of.Default != nil {
		add("default `%s`", of.Default.Raw)
	}
	if len(of.Enum) > 0 {
		all = append(all, oneOf(of.Enum))
	}
	bound := func(what string, least, most *int64) {
		switch {
		case least != nil && most != nil:
			add("%d to %d%s", *least, *most, what)
		case least != nil:
			add("at least %d%s", *least, what)
		case most != nil:
			add("at most %d%s", *most, what)
		}
	}
	bound("", whole(of.Minimum), whole(of.Maximum))
	bound(" characters", of.MinLength, of.MaxLength)
	bound(" elements", of.MinItems, of.MaxItems)
	bound(" keys", of.MinProperties, of.MaxProperties)
	if of.Pattern != "" {
		add("matches `%s`", strings.ReplaceAll(of.Pattern, "|", `\|`))
	}
	if of.Items != nil {
		if each := constraints(*of.Items.Schema, false); each != "" {
			add("each: %s", each)
		}
	}
	if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
		if each := constraints(*of.AdditionalProperties.Schema, false); each != "" {
			add("each: %s", each)
		}
	}
	return strings.Join(all, ", ")
}

// oneOf lists the values of an enum. The empty one is the same as none.
func oneOf(values []apiextensionsv1.JSON) string {
	var words []string
	for _, v := range values {
		if word := strings.Trim(string(v.Raw), `"`); word != "" {
			words = append(words, "`"+word+"`")
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func whole(f *float64) *int64 {
	if f == nil {
		return nil
	}
	i := int64(*f)
	return &i
}

// prose is a description on one line, fit for a table.
func prose(description string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(strings.Join(strings.Fields(description), " "))
}
