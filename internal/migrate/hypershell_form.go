// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/render"
)

// camel are the names that the manifests write in camel case, and the API does not.
var camel = map[string]string{
	"supervisorImage": "supervisor_image", "serverDnsNames": "server_dns_names", "externalDns": "external_dns",
	"credentialDriver": "credential_driver", "serviceType": "service_type", "tlsMode": "tls_mode", "storageSize": "storage_size",
	"externalSecretRef": "external_secret_ref", "jwksTtl": "jwks_ttl", "rolesClaim": "roles_claim", "adminRole": "admin_role",
	"userRole": "user_role", "scopesClaim": "scopes_claim",
}

// asText are the fields that may be text which holds JSON.
var asText = []string{"oidc", "route", "database", "credential_driver"}

// ofObject are the keys that stay where they are when the others move into spec.
var ofObject = []string{"apiVersion", "kind", "metadata", "spec"}

// unify brings a manifest into the form of hyperShellGateway. What keeps its node keeps its line.
func unify(in render.Input) []render.Problem {
	root := in.Node()
	spec := child(root, "spec")
	if spec == nil {
		flatten(root)
		spec = child(root, "spec")
	}
	if spec == nil || spec.Kind != yaml.MappingNode {
		return nil // which decoding reports
	}
	rename(spec)
	var problems []render.Problem
	for _, name := range asText {
		value := child(spec, name)
		if value == nil || value.Kind != yaml.ScalarNode || value.ShortTag() != yaml.NodeTagString {
			continue
		}
		if value.Value == "" { // as the API writes that there is none
			value.Tag, value.Style = yaml.NodeTagNull, 0
			continue
		}
		held, err := yaml.Parse(value.Value)
		if err != nil || held.YNode().Kind != yaml.MappingNode {
			problems = append(problems, in.Problem("spec."+name, "is text that does not hold a JSON object"))
			continue
		}
		line := value.Line
		*value = *held.YNode()
		setLine(value, line)
		rename(value)
	}
	return problems
}

// flatten moves the fields beside kind into spec, but for the name, which goes into metadata.
func flatten(root *yaml.Node) {
	spec := &yaml.Node{Kind: yaml.MappingNode, Tag: yaml.NodeTagMap, Line: root.Line}
	metadata := child(root, "metadata")
	if metadata == nil {
		metadata = &yaml.Node{Kind: yaml.MappingNode, Tag: yaml.NodeTagMap, Line: root.Line}
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		switch {
		case key.Value == "metadata":
		case key.Value == "name":
			metadata.Content = append(metadata.Content, key, value)
		case slices.Contains(ofObject, key.Value):
			kept = append(kept, key, value)
		default:
			spec.Content = append(spec.Content, key, value)
		}
	}
	root.Content = append(kept, named("metadata", root.Line), metadata, named("spec", root.Line), spec)
}

func named(key string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagString, Value: key, Line: line}
}

// rename writes the keys of a map, and of the maps in it, as the API does.
func rename(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if name, known := camel[node.Content[i].Value]; known {
			node.Content[i].Value = name
		}
		rename(node.Content[i+1])
	}
}

func setLine(node *yaml.Node, line int) {
	node.Line = line
	for _, inner := range node.Content {
		setLine(inner, line)
	}
}

func child(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}
