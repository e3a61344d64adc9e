// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Reference is a field of an APIGateway that holds the name of another object. Where kustomize renames that object, the
// field must follow.
type Reference struct {
	// Group, Version and Kind of the object whose name it is.
	Group, Version, Kind string
	// Path to the field; a list on the way stands for each of its elements.
	Path []string
	// Unscoped says that the object has no namespace.
	Unscoped bool
}

// References of an APIGateway. Those of a class are not among them: they name objects of many namespaces.
func References() []Reference {
	group, version := v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version
	return []Reference{
		{Version: "v1", Kind: configMapKind, Path: []string{"spec", "configRef", "name"}},
		{Version: "v1", Kind: configMapKind, Path: []string{"spec", "trustedCARef", "name"}},
		{Version: "v1", Kind: secretKind, Path: []string{"spec", "controlPlane", "tokenSecretRef", "name"}},
		{Version: "v1", Kind: secretKind, Path: []string{"spec", "controlPlane", "tls", "certSecretRef", "name"}},
		{Version: "v1", Kind: secretKind, Path: []string{"spec", "storage", "connectionSecretRef", "name"}},
		{Version: "v1", Kind: secretKind, Path: []string{"spec", "exposure", "tlsSecretRef", "name"}},
		{Version: "v1", Kind: secretKind, Path: []string{"spec", "cluster", "kubeConfig", "secretRef", "name"}},
		{Group: group, Version: version, Kind: v1alpha1.APIGatewayKind, Path: []string{"spec", "release", "dependsOn", "name"}},
		{Group: group, Version: version, Kind: v1alpha1.APIGatewayClassKind, Path: []string{"spec", "className"}, Unscoped: true},
	}
}

// KeepsName says that the name itself goes into the Flux objects, and not only what the object holds.
func (r Reference) KeepsName() bool {
	return r.Kind == secretKind || r.Kind == configMapKind && r.Path[1] != "configRef"
}
