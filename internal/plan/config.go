// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// readConfig reads the ConfigMap that configRef names as helm --values reads a file.
func readConfig(gateway *v1alpha1.APIGateway, config *corev1.ConfigMap, wrong *faults) layer {
	ref := localRef(gateway.Spec.ConfigRef)
	if ref == nil {
		return layer{}
	}
	found := layer{name: "ConfigMap/" + ref.Name + " " + v1alpha1.ConfigKey}
	whole := "ConfigMap " + gateway.Namespace + "/" + ref.Name
	if config == nil {
		wrong.add(v1alpha1.ReasonConfigNotFound, "spec.configRef.name", "%s does not exist", whole)
		return found
	}
	document, ok := config.Data[v1alpha1.ConfigKey]
	if !ok {
		wrong.add(v1alpha1.ReasonConfigNotFound, "spec.configRef.name", "%s has no key %s under data; %s",
			whole, v1alpha1.ConfigKey, thereInstead(config))
		return found
	}
	values, problems := decodeYAML([]byte(document))
	for _, p := range problems {
		*wrong = append(*wrong, Fault{
			Reason: v1alpha1.ReasonInvalidConfig, Field: "spec.configRef.name",
			Message: fmt.Sprintf("%s, key %s, %s", whole, v1alpha1.ConfigKey, p), InConfig: p.said(), ConfigLine: p.line,
		})
	}
	found.values = values
	return found
}

// thereInstead says what a ConfigMap has in the place of the key.
func thereInstead(config *corev1.ConfigMap) string {
	if _, binary := config.BinaryData[v1alpha1.ConfigKey]; binary {
		return "it is under binaryData, which is not read; move it to data, as text"
	}
	return "it has: " + listed(slices.Sorted(maps.Keys(config.Data)))
}
