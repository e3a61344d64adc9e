// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/render"
)

// kustomize's own notes on objects while it builds. It corrects references only after all functions have run, so a gateway
// may still hold the name that an object had before.
const (
	previousNames = "internal.config.kubernetes.io/previousNames"
	hashSuffix    = "internal.config.kubernetes.io/needsHashSuffix"
)

// items of a ResourceList.
type items struct {
	all []*yaml.RNode
	// byKind are they by apiVersion and kind.
	byKind map[string][]*yaml.RNode
}

func newItems(all []*yaml.RNode) items {
	byKind := map[string][]*yaml.RNode{}
	for _, item := range all {
		key := item.GetApiVersion() + " " + item.GetKind()
		byKind[key] = append(byKind[key], item)
	}
	return items{all, byKind}
}

// addTo reads all items into a set, gateways with the names that objects have now. It returns problems of names that will
// change again.
func (i items) addTo(set *render.Set) (unstable []render.Problem) {
	for _, item := range i.all {
		path, _ := fileOf(item)
		if isRendered(item) && item.GetKind() == v1alpha1.APIGatewayKind {
			item = item.Copy()
			unstable = append(unstable, i.follow(item, path)...)
		}
		set.AddObject(path, item.YNode())
	}
	return unstable
}

// follow corrects the references of a gateway.
func (i items) follow(gateway *yaml.RNode, file string) (unstable []render.Problem) {
	for _, reference := range render.References() {
		candidates := i.byKind[apiVersionOf(reference)+" "+reference.Kind]
		for _, name := range scalarsAt(gateway.YNode(), reference.Path) {
			target := referred(name.Value, gateway.GetNamespace(), reference, candidates)
			if target == nil {
				continue
			}
			name.Value = target.GetName()
			if reference.KeepsName() && target.GetAnnotations()[hashSuffix] != "" {
				unstable = append(unstable, render.Problem{
					File: file, Object: render.ObjectName(gateway.YNode()), APIVersion: gateway.GetApiVersion(), Field: strings.Join(reference.Path, "."),
					Message: fmt.Sprintf("%s %s gets the hash of its content as a suffix, which is not known yet when a function runs; "+
						"set disableNameSuffixHash for it, or use sluice render -k", reference.Kind, target.GetName()),
				})
			}
		}
	}
	return unstable
}

func apiVersionOf(r render.Reference) string {
	return strings.TrimPrefix(r.Group+"/"+r.Version, "/")
}

// referred is the object that has the name, or had it, if there is just one.
func referred(name, namespace string, r render.Reference, candidates []*yaml.RNode) *yaml.RNode {
	var found []*yaml.RNode
	for _, candidate := range candidates {
		if !r.Unscoped && candidate.GetNamespace() != namespace {
			continue
		}
		if candidate.GetName() == name {
			return candidate
		}
		if slices.Contains(strings.Split(candidate.GetAnnotations()[previousNames], ","), name) {
			found = append(found, candidate)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// scalarsAt are the scalars at a path, in every element of the lists on the way.
func scalarsAt(node *yaml.Node, path []string) []*yaml.Node {
	switch {
	case node.Kind == yaml.SequenceNode:
		var all []*yaml.Node
		for _, element := range node.Content {
			all = append(all, scalarsAt(element, path)...)
		}
		return all
	case len(path) == 0 && node.Kind == yaml.ScalarNode:
		return []*yaml.Node{node}
	case len(path) > 0 && node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == path[0] {
				return scalarsAt(node.Content[i+1], path[1:])
			}
		}
	}
	return nil
}
