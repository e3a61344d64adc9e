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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sjson "sigs.k8s.io/json"
)

// decoder fills a typed object from what was read. The object read is used up.
type decoder struct {
	object map[string]any
	into   any
	effort *effort
}

// strict says of every field that has no place in the object, or a value of the wrong type. What is wrong is left out; the
// rest is decoded.
func (d decoder) strict() []fault {
	unknown, faults := d.types()
	for _, err := range unknown {
		f := fault{message: err.Error()}
		if at, ok := errors.AsType[sjson.FieldError](err); ok {
			f = fault{field: at.FieldPath(), message: unknownField(d.into, at.FieldPath())}
		}
		faults = append(faults, f)
	}
	return faults
}

// types does so without judging unknown fields, which it returns.
func (d decoder) types() (unknown []error, faults []fault) {
	for {
		unknown, err := d.try(d.into)
		if err == nil {
			return unknown, faults
		}
		at := d.locate(err)
		faults = append(faults, fault{field: at.path, message: typeMessage(err, typeAt(reflect.TypeOf(d.into), at.path))})
		if at.clear == nil || len(faults) >= maxFaults {
			return nil, faults
		}
		at.clear()
	}
}

func (d decoder) try(into any) (strict []error, err error) {
	data, err := json.Marshal(d.object)
	if err != nil {
		return nil, err
	}
	target := reflect.ValueOf(into).Elem()
	target.SetZero()
	return sjson.UnmarshalStrict(data, into, sjson.DisallowUnknownFields)
}

// size of the object is about what decoding it takes.
func (d decoder) size() int {
	data, _ := json.Marshal(d.object)
	return len(data)
}

// place is a value within the object that was read.
type place struct {
	path  string
	clear func()
}

// locate finds the innermost value that the error is about: the one without which there is another error or none. The
// decoders of durations and quantities do not say where they failed. When the effort is spent, a value around it must do.
func (d decoder) locate(err error) place {
	probe := reflect.New(reflect.TypeOf(d.into).Elem()).Interface()
	size := d.size()
	same := func() bool {
		if !d.effort.spend(size) {
			return true
		}
		_, now := d.try(probe)
		return now != nil && now.Error() == err.Error()
	}
	var found place
	var value any = d.object
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

// typeMessage says a decoding error in the words of YAML rather than of Go. The field is of type t, if that is a struct.
func typeMessage(err error, t reflect.Type) string {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case t == reflect.TypeFor[metav1.Duration](), strings.HasPrefix(err.Error(), "time: "):
		return durationMessage(err, mismatch)
	case !ok:
		return err.Error()
	}
	return fmt.Sprintf("must be %s, not %s", wanted(mismatch.Type), given(mismatch.Value))
}

// durationMessage says how to write a duration. Errors of package time end in what was written, in quotes.
func durationMessage(err error, mismatch *json.UnmarshalTypeError) string {
	const advice = "; write numbers with the units ms, s, m and h, such as 90s, 5m or 1h30m (a day is 24h)"
	if mismatch != nil {
		return "must be a duration, not " + given(mismatch.Value) + advice
	}
	_, written, _ := strings.Cut(err.Error(), "duration ")
	return written + " is not a duration" + advice
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
