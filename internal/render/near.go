// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/sluice-gateway/sluice/internal/spelling"
)

// unknownField says that a field is not known, and which one may have been meant: one beside it, spelt alike or longer.
func unknownField(into any, path string) string {
	const message = "is not a field that this version knows"
	above, name := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		above, name = path[:i], path[i+1:]
	}
	object := typeAt(reflect.TypeOf(into), above)
	if object == nil {
		return message
	}
	names := fieldNames(object)
	if near := cmp.Or(spelling.Nearest(name, names, max(1, len(name)/3)), spelling.Begun(name, names)); near != "" {
		return message + "; did you mean " + near + "?"
	}
	return message
}

// typeAt is the type of what lies at a path below a value of type t; nil where that is no struct.
func typeAt(t reflect.Type, path string) reflect.Type {
	for t != nil {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
			continue
		case reflect.Slice, reflect.Map:
			if path == "" {
				return nil
			}
			_, path = cutName(path)
			t = t.Elem()
			continue
		case reflect.Struct:
		default:
			return nil
		}
		if path == "" {
			return t
		}
		var name string
		name, path = cutName(path)
		t = fieldType(t, name)
	}
	return nil
}

// cutName cuts the first key or index off a path.
func cutName(path string) (name, rest string) {
	if strings.HasPrefix(path, "[") {
		name, rest, _ = strings.Cut(path, "]")
		return name, strings.TrimPrefix(rest, ".")
	}
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], strings.TrimPrefix(path[i:], ".")
	}
	return path, ""
}

func fieldType(t reflect.Type, name string) reflect.Type {
	for _, field := range reflect.VisibleFields(t) {
		if jsonName(field) == name {
			return field.Type
		}
	}
	return nil
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for _, field := range reflect.VisibleFields(t) {
		if name := jsonName(field); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// jsonName is a field's name in JSON; empty where it has none of its own.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if !field.IsExported() || name == "-" {
		return ""
	}
	return name
}
