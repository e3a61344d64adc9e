// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/render"
)

// referencesFile is a configuration of transformers that lies beside the kustomization only as far as kustomize sees.
const referencesFile = "gateway.sluice.dev-references.yaml"

// classIsUnscoped tells kustomize that a class has no namespace, as the API server would.
const classIsUnscoped = `{
  "swagger": "2.0", "info": {"title": "sluice", "version": "v1alpha1"},
  "paths": {"/apis/gateway.sluice.dev/v1alpha1/apigatewayclasses/{name}": {"get": {
    "responses": {"200": {"description": "OK"}},
    "x-kubernetes-group-version-kind": {"group": "gateway.sluice.dev", "version": "v1alpha1", "kind": "APIGatewayClass"}}}}}`

// nameReferences is kustomize's configuration that says which fields of an APIGateway are names of other objects.
func nameReferences() ([]byte, error) {
	type target struct {
		resid.Gvk  `json:",inline" yaml:",inline"`
		FieldSpecs []types.FieldSpec `json:"fieldSpecs" yaml:"fieldSpecs"`
	}
	var targets []target
	for _, r := range render.References() {
		targets = append(targets, target{
			Gvk: resid.Gvk{Group: r.Group, Version: r.Version, Kind: r.Kind},
			FieldSpecs: []types.FieldSpec{{
				Gvk:  resid.Gvk{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.APIGatewayKind},
				Path: strings.Join(r.Path, "/"),
			}},
		})
	}
	return yaml.Marshal(map[string]any{"nameReference": targets})
}

// extended is a kustomization with that configuration, and with the origin of every object noted in the build. One that
// cannot be parsed stays as it is, for kustomize to refuse.
func extended(data []byte) []byte {
	root, err := yaml.Parse(string(data))
	if err != nil || root.YNode().Kind != yaml.MappingNode {
		return data
	}
	appendTo(root.YNode(), "configurations", referencesFile)
	appendTo(root.YNode(), "buildMetadata", types.OriginAnnotations)
	text, err := root.String()
	if err != nil {
		return data
	}
	return []byte(text)
}

// appendTo adds an entry to a list of a kustomization, whose keys may be of any case.
func appendTo(root *yaml.Node, key, entry string) {
	added := yaml.NewStringRNode(entry).YNode()
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !strings.EqualFold(root.Content[i].Value, key) {
			continue
		}
		list := root.Content[i+1]
		if list.Kind == yaml.SequenceNode {
			list.Content = append(list.Content, added)
		} else if yaml.IsYNodeTaggedNull(list) {
			root.Content[i+1] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{added}}
		}
		return
	}
	root.Content = append(root.Content, yaml.NewStringRNode(key).YNode(), &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{added}})
}
