// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of an APIGateway. Reconciling, Stalled, RolledBack, Drifted and TestSuccess are absent unless they have
// something to say. The rules behind them stand in internal/gatewaystatus.
const (
	// ConditionAccepted is True when the spec, the class and the referenced ConfigMap are valid. Also set on a class.
	ConditionAccepted = "Accepted"
	// ConditionSourceReady is True when the wanted OCIRepository has its artifact and refreshes.
	ConditionSourceReady = "SourceReady"
	// ConditionProgrammed is True when the desired state is what is deployed.
	ConditionProgrammed = "Programmed"
	// ConditionReady is True when the desired state is deployed and Flux's checks of it passed; else its reason and message say
	// why not, or what goes on.
	ConditionReady = "Ready"
	// ConditionReconciling is present, and True, while work towards the desired state goes on (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present, and True, when nothing will get better without a change (kstatus).
	ConditionStalled = "Stalled"
	// ConditionRolledBack is present, and True, when an upgrade failed and an earlier revision runs.
	ConditionRolledBack = "RolledBack"
	// ConditionDrifted mirrors the HelmRelease's condition of that name.
	ConditionDrifted = "Drifted"
	// ConditionTestSuccess mirrors the HelmRelease's condition of that name, while it tells of what is desired.
	ConditionTestSuccess = "TestSuccess"
)

// Condition types of an APIGatewayClass, beside Accepted.
const (
	// ConditionInUse is present, and True, on a class that is being deleted while gateways use it.
	ConditionInUse = "InUse"
)

// Reasons of Accepted and Programmed, and of Ready, Stalled and Programmed where they repeat them. Every other reason of
// Ready is Flux's own, carried over unchanged.
const (
	// ReasonAccepted appears when nothing is wrong with what people wrote.
	ReasonAccepted = "Accepted"
	// ReasonInvalidSpec appears when a field has a value that no class could make valid.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonUnmappedField appears when a field is set that the class does not map.
	ReasonUnmappedField = "UnmappedField"
	// ReasonFieldConflict appears when a mapped field and configRef or values set one path differently.
	ReasonFieldConflict = "FieldConflict"
	// ReasonNotAllowed appears when the class's policy forbids what the gateway asks for.
	ReasonNotAllowed = "NotAllowed"
	// ReasonClassNotFound appears when the named class does not exist, or none is named and there is not exactly one default.
	ReasonClassNotFound = "ClassNotFound"
	// ReasonClassNotAccepted appears when the class itself is faulty.
	ReasonClassNotAccepted = "ClassNotAccepted"
	// ReasonOtherController appears when the class has come to be another operator's, which has not taken the gateway over.
	ReasonOtherController = "OtherController"
	// ReasonConfigNotFound appears when the ConfigMap of configRef or its key is missing.
	ReasonConfigNotFound = "ConfigNotFound"
	// ReasonInvalidConfig appears when the ConfigMap's values.yaml cannot be read as a map of values.
	ReasonInvalidConfig = "InvalidConfig"
	// ReasonCapabilityUnknown appears when the class asks for what the cluster serves, and that cannot be told.
	ReasonCapabilityUnknown = "CapabilityUnknown"
	// ReasonIssuerRequired appears when gateways are exposed by routes and nobody named the issuer of their certificates.
	ReasonIssuerRequired = "IssuerRequired"
	// ReasonConflict appears when the HelmRelease or the Helm release of that name belongs to somebody else.
	ReasonConflict = "Conflict"
	// ReasonDeployed appears on Programmed when the desired state is deployed.
	ReasonDeployed = "Deployed"
	// ReasonReady appears on Ready and SourceReady when they are True.
	ReasonReady = "Ready"
	// ReasonPending appears when the desired state has not been handed to Flux yet.
	ReasonPending = "Pending"
	// ReasonProgressing appears while Flux works on the desired state.
	ReasonProgressing = "Progressing"
	// ReasonSuspended appears when the HelmRelease is suspended and the desired state is not the deployed one.
	ReasonSuspended = "Suspended"
	// ReasonRolledBack appears when an upgrade failed and an earlier revision runs.
	ReasonRolledBack = "RolledBack"
	// ReasonChartDigestIgnored appears when Flux does not track the chart's digest (DisableChartDigestTracking).
	ReasonChartDigestIgnored = "ChartDigestIgnored"
	// ReasonRetriesExceeded appears on Stalled when remediation.failureThreshold rounds have failed.
	ReasonRetriesExceeded = "RetriesExceeded"
	// ReasonDeleting appears while the gateway waits for its release to be uninstalled.
	ReasonDeleting = "Deleting"
	// ReasonGatewaysRemain appears on InUse.
	ReasonGatewaysRemain = "GatewaysRemain"
	// ReasonWriteFailed appears when the API server refused an object that Sluice wrote.
	ReasonWriteFailed = "WriteFailed"
)

// Phase is one word for people; conditions are for machines.
// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Failed;Suspended;Deleting
type Phase string

// Phases of an APIGateway.
const (
	// PhasePending: nothing has been handed to Flux, or Flux waits for the chart or for what a first install depends on.
	PhasePending Phase = "Pending"
	// PhaseProgressing: Flux works on it.
	PhaseProgressing Phase = "Progressing"
	// PhaseReady: deployed, and passed its checks then.
	PhaseReady Phase = "Ready"
	// PhaseDegraded: failed, and a release that once succeeded is still there.
	PhaseDegraded Phase = "Degraded"
	// PhaseFailed: failed, and no release that once succeeded is there.
	PhaseFailed Phase = "Failed"
	// PhaseSuspended: suspended while the desired state is not the deployed one.
	PhaseSuspended Phase = "Suspended"
	// PhaseDeleting: being uninstalled.
	PhaseDeleting Phase = "Deleting"
)
