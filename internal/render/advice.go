// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/spelling"
)

// advice is what follows a fault's message for those who render: a plan's faults speak of a cluster, and here what is
// missing may just be in a file that was not given.
func (s *Set) advice(g *v1alpha1.APIGateway, reason string) string {
	switch reason {
	case v1alpha1.ReasonClassNotFound:
		return s.classAdvice(g)
	case v1alpha1.ReasonConfigNotFound:
		return s.configAdvice(g)
	case v1alpha1.ReasonCapabilityUnknown:
		return "; list what it serves, with its kinds, with --api-versions"
	case v1alpha1.ReasonIssuerRequired:
		return "; name it with --external-ca-issuer-name, or in spec.cluster.externalCAIssuerName of a remote cluster"
	}
	return ""
}

func (s *Set) classAdvice(g *v1alpha1.APIGateway) string {
	if g.Spec.ClassName == nil {
		for i := range s.classes {
			if s.classes[i].Annotations[v1alpha1.AnnotationDefaultClass] == "true" {
				return ""
			}
		}
	}
	return "; add the file of the class to the input"
}

// configAdvice says what is there in the place of the ConfigMap.
func (s *Set) configAdvice(g *v1alpha1.APIGateway) string {
	name := types.NamespacedName{Namespace: g.Namespace, Name: g.Spec.ConfigRef.Name}
	if s.configs[name] != nil {
		return ""
	}
	if s.configs[types.NamespacedName{Name: name.Name}] != nil {
		return fmt.Sprintf("; the one in the input has no metadata.namespace: write %s there", g.Namespace)
	}
	if generated := s.generatedConfig(name.Name); generated != "" {
		return fmt.Sprintf("; %s in the input has no metadata.namespace, so that kustomize does not take it for this gateway's:"+
			" give its configMapGenerator the namespace %s", generated, g.Namespace)
	}
	for _, like := range s.likeConfigs {
		if like.name == name.Name && (like.namespace == "" || like.namespace == name.Namespace) {
			return fmt.Sprintf("; %s is none: write apiVersion: v1 and kind: ConfigMap", strings.TrimSuffix(like.is+" at "+like.at.position(), " at "))
		}
	}
	if elsewhere := s.namespacesOf(name.Name); len(elsewhere) > 0 {
		return fmt.Sprintf("; there is one in namespace %s: a gateway's own must be in %s", strings.Join(elsewhere, ", "), g.Namespace)
	}
	return "; add the file of the ConfigMap to the input"
}

// hashLength is that of the hash that kustomize appends to the name of what it generates, after a hyphen.
const hashLength = 10

// generatedConfig is the name of a ConfigMap without a namespace that kustomize generated under that name; empty where there is none.
func (s *Set) generatedConfig(name string) string {
	for config := range s.configs {
		hash, generated := strings.CutPrefix(config.Name, name+"-")
		if config.Namespace == "" && generated && len(hash) == hashLength && !strings.Contains(hash, "-") {
			return config.Name
		}
	}
	return ""
}

// namespacesOf are the namespaces that have a ConfigMap of that name.
func (s *Set) namespacesOf(name string) (namespaces []string) {
	for config := range s.configs {
		if config.Name == name {
			namespaces = append(namespaces, config.Namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// likeConfig is an object that is not a ConfigMap, but nearly one.
type likeConfig struct {
	name, namespace string
	// is its apiVersion and kind.
	is string
	at origin
}

// addLikeConfig keeps an object whose kind is a ConfigMap's but for its spelling, or its apiVersion.
func (s *Set) addLikeConfig(node *yaml.Node, o origin, apiVersion, kind string) {
	if spelling.Nearest(kind, []string{configMapKind}, 2) == "" {
		return
	}
	meta := field(node, "metadata")
	is := kind + " of " + apiVersion
	if apiVersion == "" {
		is = kind + " without an apiVersion"
	}
	s.likeConfigs = append(s.likeConfigs, likeConfig{name: scalarField(meta, "name"), namespace: scalarField(meta, "namespace"), is: is, at: o})
}
