// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the two kinds that people write, APIGatewayClass and APIGateway, with every condition, reason,
// label and annotation that Sluice gives a meaning. It is the first stage of the flow: everything else reads these types,
// and only internal/gatewaystatus and internal/controller fill in their status.
//
// +kubebuilder:object:generate=true
// +groupName=gateway.sluice.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of both kinds.
var GroupVersion = schema.GroupVersion{Group: "gateway.sluice.dev", Version: "v1alpha1"}

// AddToScheme registers both kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&APIGateway{}, &APIGatewayList{},
		&APIGatewayClass{}, &APIGatewayClassList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
