// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Object is one object of the output.
type Object struct {
	Kind, Namespace, Name string
	manifest              *manifest
}

// manifest is an object without its status, which is Flux's to write.
type manifest struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            any               `json:"spec"`
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

func sourceObject(source *sourcev1.OCIRepository) Object {
	return newObject(&manifest{source.TypeMeta, source.ObjectMeta, &source.Spec})
}

func releaseObject(release *helmv2.HelmRelease) Object {
	return newObject(&manifest{release.TypeMeta, release.ObjectMeta, &release.Spec})
}

func newObject(m *manifest) Object {
	return Object{Kind: m.Kind, Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, manifest: m}
}

// Tree is the object as maps, lists and scalars. Integers are int64.
func (o Object) Tree() (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(o.manifest)
}

// JSON is the object with sorted keys.
func (o Object) JSON() ([]byte, error) {
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	return encode(tree)
}

// YAML is the object as one document. It quotes strings that any reader, of YAML 1.1 or 1.2, could take for something else.
func (o Object) YAML() ([]byte, error) {
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(readable(tree))
}

// readable puts strings into quotes that the encoder would make blocks that its own parser refuses: those whose first
// line begins with a tab.
func readable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			v[key] = readable(child)
		}
	case []any:
		for i, child := range v {
			v[i] = readable(child)
		}
	case string:
		if strings.Contains(v, "\n") && strings.HasPrefix(strings.TrimLeft(v, "\n"), "\t") {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagString, Value: v, Style: yaml.DoubleQuotedStyle}
		}
	}
	return v
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
	separator := ""
	for some := range slices.Chunk(objects, atOnce) {
		texts, err := encoded(some)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := io.WriteString(w, separator); err != nil {
				return err
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
			separator = "---\n"
		}
	}
	return nil
}

// encoded are the objects as YAML, in their order. The encoder is what takes longest of a rendering.
func encoded(objects []Object) ([][]byte, error) {
	texts, failed := make([][]byte, len(objects)), make([]error, len(objects))
	sideBySide(len(objects), func(i int) { texts[i], failed[i] = objects[i].YAML() })
	return texts, errors.Join(failed...)
}

// WriteJSON writes one v1 List, as kubectl does.
func WriteJSON(w io.Writer, objects []Object) error {
	items := make([]json.RawMessage, len(objects))
	for i, o := range objects {
		var err error
		if items[i], err = o.JSON(); err != nil {
			return err
		}
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
