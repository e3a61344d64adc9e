// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	sjson "sigs.k8s.io/json"
)

// decodeStrict fills the typed object from what was read and says of every field that has no place in it, or a value of
// the wrong type. What is wrong is left out; the rest is decoded. The object read is used up.
func decodeStrict(object map[string]any, into any) []fault {
	unknown, faults := decodeTypes(object, into)
	return append(faults, unknownFields(unknown)...)
}

// decodeTypes does so without judging unknown fields, which it returns.
func decodeTypes(object map[string]any, into any) (unknown []error, faults []fault) {
	for {
		unknown, err := tryDecode(object, into)
		if err == nil {
			return unknown, faults
		}
		at := locate(object, into, err)
		faults = append(faults, fault{field: at.path, message: typeMessage(err)})
		if at.clear == nil {
			return nil, faults
		}
		at.clear()
	}
}

func tryDecode(object map[string]any, into any) (strict []error, err error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	target := reflect.ValueOf(into).Elem()
	target.SetZero()
	return sjson.UnmarshalStrict(data, into, sjson.DisallowUnknownFields)
}

func unknownFields(errs []error) []fault {
	var faults []fault
	for _, err := range errs {
		f := fault{message: err.Error()}
		if at, ok := errors.AsType[sjson.FieldError](err); ok {
			f = fault{field: at.FieldPath(), message: "is not a field that this version knows"}
		}
		faults = append(faults, f)
	}
	return faults
}

// place is a value within the object that was read.
type place struct {
	path  string
	clear func()
}

// locate finds the innermost value that the error is about: the one without which there is another error or none. The
// decoders of durations and quantities do not say where they failed.
func locate(object map[string]any, into any, err error) place {
	probe := reflect.New(reflect.TypeOf(into).Elem()).Interface()
	same := func() bool {
		_, now := tryDecode(object, probe)
		return now != nil && now.Error() == err.Error()
	}
	var found place
	var value any = object
	for {
		inner, child := blame(value, found.path, same)
		if inner.clear == nil {
			return found
		}
		found, value = inner, child
	}
}

// blame tries the children of value one by one: which one's absence changes the error?
func blame(value any, path string, same func() bool) (place, any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			child := v[key]
			delete(v, key)
			changed := !same()
			v[key] = child
			if changed {
				return place{keyPath(path, key), func() { delete(v, key) }}, child
			}
		}
	case []any:
		for i, child := range v {
			v[i] = nil
			changed := !same()
			v[i] = child
			if changed {
				return place{indexPath(path, i), func() { v[i] = nil }}, child
			}
		}
	}
	return place{}, nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// typeMessage says a decoding error in the words of YAML rather than of Go.
func typeMessage(err error) string {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("must be %s, not %s", wanted(mismatch.Type), given(mismatch.Value))
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string (quoted, if it looks like something else)"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case reflect.Slice:
		return "a list"
	default:
		return "a map"
	}
}

func given(json string) string {
	switch json {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "string", "number":
		return "a " + json
	}
	return strings.TrimPrefix(json, "number ")
}
