// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Kinds, as they stand in manifests.
const (
	APIGatewayKind      = "APIGateway"
	APIGatewayClassKind = "APIGatewayClass"
)

// DefaultControllerName is the controllerName of a class that names none, and of an operator started without
// --controller-name.
const DefaultControllerName = "gateway.sluice.dev/sluice"

// ConfigKey is the key of a ConfigMap that configRef reads.
const ConfigKey = "values.yaml"

// Labels on the Flux objects that Sluice makes.
const (
	// LabelManagedBy is the well-known Kubernetes label; Sluice sets it to ManagedBy.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "sluice"
	// LabelClass names the class that an object was made from.
	LabelClass = "gateway.sluice.dev/class"
	// LabelGateway names the APIGateway that a HelmRelease was made for.
	LabelGateway = "gateway.sluice.dev/gateway"
)

// Annotations.
const (
	// AnnotationDefaultClass set to "true" on a class makes it the one for gateways that name none.
	AnnotationDefaultClass = "gateway.sluice.dev/is-default-class"
	// AnnotationAdopt set to "true" on a gateway lets it take over a foreign HelmRelease, where the class allows that.
	AnnotationAdopt = "gateway.sluice.dev/adopt"
	// AnnotationMadeBy marks what the operator made itself (controller name and shard); only so marked sources are removed.
	AnnotationMadeBy = "gateway.sluice.dev/made-by"
	// AnnotationOwnerUID carries the UID of the owning gateway on a HelmRelease that has no ownerReference (Orphan).
	AnnotationOwnerUID = "gateway.sluice.dev/owner-uid"
	// AnnotationSuspended marks a suspension that Sluice made, so that Sluice may lift it.
	AnnotationSuspended = "gateway.sluice.dev/suspended"
)

// Finalizer holds an APIGateway until Flux has uninstalled its release.
const Finalizer = "gateway.sluice.dev/release"
