// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// filled is a T in which every leaf is set, so that no field can be forgotten.
func filled[T any]() *T {
	out := new(T)
	eachLeaf(reflect.ValueOf(out).Elem(), "", func(string, reflect.Value) {})
	return out
}

// changed calls use with a filled T for each of its leaves, in which that leaf alone has another value.
func changed[T any](t *testing.T, use func(leaf string, value *T)) {
	t.Helper()
	var paths []string
	eachLeaf(reflect.ValueOf(new(T)).Elem(), "", func(path string, _ reflect.Value) { paths = append(paths, path) })
	if len(paths) == 0 {
		t.Fatalf("%T has no leaves", *new(T))
	}
	for _, path := range paths {
		out := new(T)
		eachLeaf(reflect.ValueOf(out).Elem(), "", func(at string, leaf reflect.Value) {
			if at == path {
				change(leaf)
			}
		})
		use(path, out)
	}
}

// eachLeaf sets every leaf below v, and shows it to visit. Pointers are allocated, lists and maps get one element.
func eachLeaf(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch v.Interface().(type) {
	case apiextensionsv1.JSON:
		v.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte(`{"a":1}`)}))
		visit(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		eachLeaf(v.Elem(), path, visit)
	case reflect.Struct:
		for i := range v.NumField() {
			eachLeaf(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		eachLeaf(v.Index(0), path+"[0]", visit)
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		eachLeaf(element, path+"[k]", visit)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), element)
	default:
		set(v, "one", 1, true)
		visit(path, v)
	}
}

func change(leaf reflect.Value) {
	if _, ok := leaf.Interface().(apiextensionsv1.JSON); ok {
		leaf.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte(`{"a":2}`)}))
		return
	}
	set(leaf, "two", 2, false)
}

func set(leaf reflect.Value, text string, number int64, truth bool) {
	switch leaf.Kind() {
	case reflect.String:
		leaf.SetString(text)
	case reflect.Bool:
		leaf.SetBool(truth)
	case reflect.Int, reflect.Int32, reflect.Int64:
		leaf.SetInt(number)
	default:
		panic("a leaf of kind " + leaf.Kind().String())
	}
}
