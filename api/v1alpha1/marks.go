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

// DefaultClusterName is what messages call the operator's own cluster, unless --cluster-name names it.
const DefaultClusterName = "in-cluster"

// GatewayAPIVersion is what a cluster serves that has the Gateway API.
const GatewayAPIVersion = "gateway.networking.k8s.io/v1"

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
	// LabelShard is Flux's: its controllers share work by it. A gateway's is handed on to its objects.
	LabelShard = "sharding.fluxcd.io/key"
)

// Annotations.
const (
	// AnnotationDefaultClass set to "true" on a class makes it the one for gateways that name none.
	AnnotationDefaultClass = "gateway.sluice.dev/is-default-class"
	// AnnotationAdopt set to "true" on a gateway lets it take over a foreign HelmRelease, where the class allows that.
	AnnotationAdopt = "gateway.sluice.dev/adopt"
	// AnnotationMadeBy marks what the operator made itself. On a source it is controller name and shard, and only so marked
	// sources are removed; on a HelmRelease it is the name of the operator that serves its gateway.
	AnnotationMadeBy = "gateway.sluice.dev/made-by"
	// AnnotationOwnerUID carries the UID of the owning gateway on a HelmRelease that has no ownerReference (Orphan).
	AnnotationOwnerUID = "gateway.sluice.dev/owner-uid"
	// AnnotationSuspended marks a suspension that Sluice made, so that Sluice may lift it.
	AnnotationSuspended = "gateway.sluice.dev/suspended"
	// AnnotationSuspendedAt is Sluice's own note on a HelmRelease that it suspended: the generations, up to that one, whose specs
	// differ in suspend alone, and a hash of that spec, as 4-7:1a2b3c4d5e6f7081. By it an attempt that began before is recognised.
	AnnotationSuspendedAt = "gateway.sluice.dev/suspended-at"
)

// Finalizers.
const (
	// Finalizer holds an APIGateway until Flux has uninstalled its release.
	Finalizer = "gateway.sluice.dev/release"
	// FinalizerInUse holds an APIGatewayClass while gateways use it.
	FinalizerInUse = "gateway.sluice.dev/in-use"
)
