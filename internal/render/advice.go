// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
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

func (s *Set) configAdvice(g *v1alpha1.APIGateway) string {
	name := types.NamespacedName{Namespace: g.Namespace, Name: g.Spec.ConfigRef.Name}
	if s.configs[name] != nil {
		return ""
	}
	if s.configs[types.NamespacedName{Name: name.Name}] != nil {
		return fmt.Sprintf("; the one in the input has no metadata.namespace: write %s there", g.Namespace)
	}
	return "; add the file of the ConfigMap to the input"
}
