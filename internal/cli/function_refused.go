// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/render"
)

// refuseItems answers a ResourceList whose items kyaml could not carry through: at some it fails and names none, and
// annotations that are no map it drops. The list is answered as it came. What is no ResourceList at all is not for it.
func refuseItems(streams Streams, in []byte) (refused bool, err error) {
	list := resourceList(in)
	faults := itemsFaults(list)
	if len(faults) == 0 {
		return false, nil
	}
	var results framework.Results
	for _, fault := range faults {
		fmt.Fprintln(streams.Err, fault)
		results = append(results, fault.result())
	}
	text, err := yaml.Marshal(results)
	if err != nil {
		return true, err
	}
	node, err := yaml.Parse(string(text))
	if err != nil {
		return true, err
	}
	if err := list.PipeE(yaml.SetField("results", node)); err != nil {
		return true, err
	}
	answer, err := list.String()
	if err != nil {
		return true, err
	}
	_, err = fmt.Fprint(streams.Out, answer)
	return true, cmp.Or(err, errReported)
}

// resourceList is nil for what is none, or cannot be read; that is told where it is read.
func resourceList(in []byte) *yaml.RNode {
	reader := kio.ByteReader{Reader: bytes.NewReader(in), OmitReaderAnnotations: true, DisableUnwrapping: true}
	nodes, err := reader.Read()
	if err != nil || len(nodes) != 1 || nodes[0].YNode().Kind != yaml.MappingNode || nodes[0].GetKind() != kio.ResourceListKind {
		return nil
	}
	return nodes[0]
}

// itemFault is what is wrong with an item, or with the field that holds them.
type itemFault struct {
	// at is the place in the list of resources, and object the item's kind and name; empty where it has none.
	at, object, apiVersion string
	field, message         string
}

func (f itemFault) String() string {
	text := f.at
	for _, part := range []string{f.object, f.field, f.message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// result has the field within the item, if the item can be told by its name, and otherwise within the list.
func (f itemFault) result() *framework.Result {
	p := render.Problem{Object: f.object, APIVersion: f.apiVersion, Field: f.field, Message: f.message}
	if refOf(p) == nil {
		p.Field = strings.TrimSuffix(f.at+"."+f.field, ".")
	}
	return asResult(framework.Error, p, nil)
}

func itemsFaults(list *yaml.RNode) (faults []itemFault) {
	field := list.Field("items")
	if field == nil || field.Value.IsNil() || yaml.IsYNodeTaggedNull(field.Value.YNode()) {
		return nil
	}
	items := field.Value.YNode()
	if items.Kind != yaml.SequenceNode {
		return []itemFault{{at: "items", message: "must be a list of objects, not " + render.Shape(items)}}
	}
	for i, item := range items.Content {
		f := itemFault{at: fmt.Sprintf("items[%d]", i)}
		if f.field, f.message = faultOf(item); f.message == "" {
			continue
		}
		if item.Kind == yaml.MappingNode {
			f.object, f.apiVersion = strings.TrimSpace(strings.TrimSuffix(render.ObjectName(item), "(unnamed)")), yaml.NewRNode(item).GetApiVersion()
		}
		faults = append(faults, f)
	}
	return faults
}

// faultOf says what is wrong with an item, and where; nothing, where nothing is.
func faultOf(item *yaml.Node) (field, message string) {
	if item.Kind != yaml.MappingNode {
		return "", "must be an object, not " + render.Shape(item)
	}
	metadata := mapField(item, "metadata")
	if isOther(metadata) {
		return "metadata", "must be a map, not " + render.Shape(metadata)
	}
	if annotations := mapField(metadata, "annotations"); isOther(annotations) {
		return "metadata.annotations", "must be a map, not " + render.Shape(annotations)
	}
	return "", ""
}

// isOther says whether there is something, and no map.
func isOther(node *yaml.Node) bool {
	return node != nil && node.Kind != yaml.MappingNode && !yaml.IsYNodeTaggedNull(node)
}

// mapField is a map's value; nil where there is none, or no map.
func mapField(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	if field := yaml.NewRNode(node).Field(key); field != nil {
		return field.Value.YNode()
	}
	return nil
}
