// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// mappableField is a field of the gateway that a class may map to paths of its chart's values.
type mappableField struct {
	name string
	// scalar: the field's allowed values can be listed.
	scalar bool
	// given: every gateway has it, so it may be mapped and need not be.
	given bool
}

// mappableFields are the leaves of infrastructure (but images, which have mappings of their own), controlPlane, storage,
// exposure and trustedCARef, and four that every gateway has. Here too a new leaf of the API needs its row; a test
// compares.
var mappableFields = []mappableField{
	{name: "infrastructure.replicas", scalar: true},
	{name: "infrastructure.resources"},
	{name: "infrastructure.nodeSelector"},
	{name: "infrastructure.tolerations"},
	{name: "infrastructure.affinity"},
	{name: "infrastructure.labels"},
	{name: "infrastructure.annotations"},
	{name: "controlPlane.host", scalar: true},
	{name: "controlPlane.tokenSecretRef.name", scalar: true},
	{name: "controlPlane.tokenSecretRef.key", scalar: true},
	{name: "controlPlane.tls.enabled", scalar: true},
	{name: "controlPlane.tls.certSecretRef.name", scalar: true},
	{name: "controlPlane.tls.certSecretRef.key", scalar: true},
	{name: "storage.type", scalar: true},
	{name: "storage.sqlitePath", scalar: true},
	{name: "storage.connectionSecretRef.name", scalar: true},
	{name: "storage.connectionSecretRef.key", scalar: true},
	{name: "exposure.hostnames"},
	{name: "exposure.serviceType", scalar: true},
	{name: "exposure.tlsSecretRef.name", scalar: true},
	{name: "exposure.parentRef.name", scalar: true},
	{name: "exposure.parentRef.namespace", scalar: true},
	{name: "exposure.parentRef.sectionName", scalar: true},
	{name: "trustedCARef.name", scalar: true},
	{name: "trustedCARef.key", scalar: true},
	{name: "metadata.name", scalar: true, given: true},
	{name: "metadata.namespace", scalar: true, given: true},
	{name: "release.name", scalar: true, given: true},
	{name: "release.targetNamespace", scalar: true, given: true},
}

func mappable(name string) (mappableField, bool) {
	i := slices.IndexFunc(mappableFields, func(f mappableField) bool { return f.name == name })
	if i < 0 {
		return mappableField{}, false
	}
	return mappableFields[i], true
}

// inGateway is the field as people write it in an APIGateway.
func (f mappableField) inGateway() string {
	if strings.HasPrefix(f.name, "metadata.") {
		return f.name
	}
	return "spec." + f.name
}

// fieldValues are the mappable fields that are set, in normal form, by name.
func fieldValues(gateway *v1alpha1.APIGateway, release Release, wrong *faults) map[string]any {
	tree := typedFields(gateway, wrong)
	set := map[string]any{
		"metadata.name":           gateway.Name,
		"metadata.namespace":      gateway.Namespace,
		"release.name":            release.Name,
		"release.targetNamespace": release.TargetNamespace,
	}
	for _, field := range mappableFields {
		if field.given {
			continue
		}
		if v := descend(tree, field.name); IsSet(v) {
			set[field.name] = v
		}
	}
	return set
}

// typedFields are the sections whose leaves are mapped, as the JSON that people wrote.
func typedFields(gateway *v1alpha1.APIGateway, wrong *faults) any {
	raw, err := json.Marshal(v1alpha1.APIGatewaySpec{
		Infrastructure: gateway.Spec.Infrastructure,
		ControlPlane:   gateway.Spec.ControlPlane,
		Storage:        gateway.Spec.Storage,
		Exposure:       gateway.Spec.Exposure,
		TrustedCARef:   gateway.Spec.TrustedCARef,
	})
	if err != nil {
		wrong.invalid("spec", "cannot be written as JSON: %s", err)
		return nil
	}
	return decodeObject("spec", raw, wrong)
}

// descend follows a dotted name through maps; nil where it leads nowhere.
func descend(tree any, name string) any {
	for _, key := range strings.Split(name, ".") {
		node, _ := tree.(map[string]any)
		tree = node[key]
	}
	return tree
}

// IsSet says whether a field counts as set: it is neither absent, null, "", [] nor {}. 0 and false are set.
func IsSet(normal any) bool {
	switch v := normal.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	default:
		return true
	}
}
