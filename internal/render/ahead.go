// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// ahead is what was read of a document before its turn came, beside others. It is empty where anything was amiss: such a document
// is read again in its turn, since all share the effort that goes into finding faults.
type ahead struct {
	root *yaml.Node
	// gateway that the root is; nil if it is something else.
	gateway *v1alpha1.APIGateway
}

func readAhead(documents []document) []ahead {
	read := make([]ahead, len(documents))
	sideBySide(len(documents), func(i int) { read[i] = documents[i].ahead() })
	return read
}

func (d document) ahead() ahead {
	none := &effort{spent: maxEffort}
	root, faults := parse(d, none)
	if root == nil || faults != nil {
		return ahead{}
	}
	if scalarField(root, "kind") != v1alpha1.APIGatewayKind || scalarField(root, "apiVersion") != v1alpha1.GroupVersion.String() {
		return ahead{root: root}
	}
	gateway := &v1alpha1.APIGateway{}
	if decodeNode(root, gateway, none) != nil {
		return ahead{root: root}
	}
	return ahead{root: root, gateway: gateway}
}
