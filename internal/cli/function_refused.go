// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"errors"
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
		results = append(results, &framework.Result{Severity: framework.Error, Message: fault})
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
	if err != nil || len(nodes) != 1 || nodes[0].GetKind() != kio.ResourceListKind {
		return nil
	}
	return nodes[0]
}

func itemsFaults(list *yaml.RNode) (faults []string) {
	field := list.Field("items")
	if field == nil || field.Value.IsNil() || yaml.IsYNodeTaggedNull(field.Value.YNode()) {
		return nil
	}
	items := field.Value.YNode()
	if items.Kind != yaml.SequenceNode {
		return []string{"items: must be a list of objects, not " + render.Shape(items)}
	}
	for i, item := range items.Content {
		if err := itemFault(item); err != nil {
			faults = append(faults, fmt.Sprintf("items[%d]: %s", i, err))
		}
	}
	return faults
}

func itemFault(item *yaml.Node) error {
	if item.Kind != yaml.MappingNode {
		return errors.New("must be an object, not " + render.Shape(item))
	}
	name := strings.TrimSpace(strings.TrimSuffix(render.ObjectName(item), "(unnamed)"))
	if name != "" {
		name += ": "
	}
	metadata := mapField(item, "metadata")
	if isOther(metadata) {
		return fmt.Errorf("%smetadata: must be a map, not %s", name, render.Shape(metadata))
	}
	if annotations := mapField(metadata, "annotations"); isOther(annotations) {
		return fmt.Errorf("%smetadata.annotations: must be a map, not %s", name, render.Shape(annotations))
	}
	return nil
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
