// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// applying are the schema and all others that it has hold, or may have hold, for the same value.
func applying(schemas ...*jsonschema.Schema) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	seen := map[*jsonschema.Schema]bool{nil: true}
	for len(schemas) > 0 {
		s := schemas[0]
		schemas = schemas[1:]
		if seen[s] {
			continue
		}
		seen[s] = true
		all = append(all, s)
		schemas = append(schemas, s.Ref, s.RecursiveRef, s.If, s.Then, s.Else)
		schemas = slices.Concat(schemas, s.AllOf, s.AnyOf, s.OneOf)
		if s.DynamicRef != nil {
			schemas = append(schemas, s.DynamicRef.Ref)
		}
		for _, name := range slices.Sorted(keys(s.DependentSchemas)) {
			schemas = append(schemas, s.DependentSchemas[name])
		}
	}
	return all
}

// allows says whether a value of the type may lie where the schemas hold. Of alternatives it is enough that one allows it.
func allows(schemas []*jsonschema.Schema, wanted string) bool {
	typed := false
	for _, s := range schemas {
		if s.Types == nil {
			continue
		}
		typed = true
		if slices.Contains(s.Types.ToStrings(), wanted) {
			return true
		}
	}
	return !typed
}

// property are the schemas that one schema has for a key, and whether it tells at all which keys there are.
func property(s *jsonschema.Schema, key string) (found []*jsonschema.Schema, describes bool) {
	if own, declared := s.Properties[key]; declared {
		found = append(found, own)
	}
	for pattern, own := range s.PatternProperties {
		if pattern.MatchString(key) {
			found = append(found, own)
		}
	}
	others, isSchema := s.AdditionalProperties.(*jsonschema.Schema)
	if isSchema && len(found) == 0 && !isFalse(others) {
		found = append(found, others)
	}
	closed := s.AdditionalProperties == false || isFalse(s.UnevaluatedProperties) || isSchema && isFalse(others)
	return applying(found...), closed || len(s.Properties)+len(s.PatternProperties) > 0
}

func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Bool != nil && !*s.Bool
}

// items are the schemas that one schema has for a list's element.
func items(s *jsonschema.Schema, index int) []*jsonschema.Schema {
	var found []*jsonschema.Schema
	switch own := s.Items.(type) {
	case *jsonschema.Schema:
		found = append(found, own)
	case []*jsonschema.Schema:
		if index < len(own) {
			found = append(found, own[index])
		} else if rest, isSchema := s.AdditionalItems.(*jsonschema.Schema); isSchema {
			found = append(found, rest)
		}
	}
	if index < len(s.PrefixItems) {
		found = append(found, s.PrefixItems[index])
	} else if s.Items2020 != nil {
		found = append(found, s.Items2020)
	}
	return applying(found...)
}
