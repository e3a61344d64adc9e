// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strconv"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Object is one object of the output.
type Object struct {
	Kind, Namespace, Name string
	// JSON with sorted keys and without status.
	JSON []byte
}

// String is kind namespace/name.
func (o Object) String() string {
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// compare sorts sources before what refers to them, then by namespace and name.
func (o Object) compare(other Object) int {
	return cmp.Or(
		cmp.Compare(o.rank(), other.rank()),
		cmp.Compare(o.Namespace, other.Namespace),
		cmp.Compare(o.Name, other.Name),
	)
}

func (o Object) rank() int {
	if o.Kind == sourcev1.OCIRepositoryKind {
		return 0
	}
	return 1
}

type fluxObject interface {
	metav1.Object
	runtime.Object
}

// newObject drops the status, which is Flux's to write.
func newObject(object fluxObject) (Object, error) {
	data, err := encode(object)
	if err != nil {
		return Object{}, err
	}
	tree, err := decode(data)
	if err != nil {
		return Object{}, err
	}
	delete(tree, "status")
	data, err = encode(tree)
	return Object{
		Kind:      object.GetObjectKind().GroupVersionKind().Kind,
		Namespace: object.GetNamespace(),
		Name:      object.GetName(),
		JSON:      data,
	}, err
}

// decode keeps numbers as they are written.
func decode(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree map[string]any
	err := decoder.Decode(&tree)
	return tree, err
}

// encode writes <, > and & as they are: semver ranges are full of them.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// WriteYAML writes one document an object.
func WriteYAML(w io.Writer, objects []Object) error {
	for i, o := range objects {
		data, err := o.yaml()
		if err != nil {
			return err
		}
		if i > 0 {
			data = append([]byte("---\n"), data...)
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// yaml quotes strings that any reader, of YAML 1.1 or 1.2, could take for something else.
func (o Object) yaml() ([]byte, error) {
	tree, err := decode(o.JSON)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(withNumbers(tree))
}

// withNumbers replaces the numbers, kept as text, by ones that the YAML encoder knows.
func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			v[key] = withNumbers(child)
		}
	case []any:
		for i, child := range v {
			v[i] = withNumbers(child)
		}
	case json.Number:
		if whole, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return whole
		}
		float, _ := v.Float64()
		return float
	}
	return v
}

// WriteJSON writes one v1 List, as kubectl does.
func WriteJSON(w io.Writer, objects []Object) error {
	items := make([]json.RawMessage, len(objects))
	for i, o := range objects {
		items[i] = o.JSON
	}
	list, err := encode(struct {
		APIVersion string            `json:"apiVersion"`
		Items      []json.RawMessage `json:"items"`
		Kind       string            `json:"kind"`
	}{"v1", items, "List"})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, list, "", "    "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}
