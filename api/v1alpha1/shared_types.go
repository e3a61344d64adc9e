// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ObjectRef names an object in the gateway's (for a class: the source's) namespace.
type ObjectRef struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// KeyRef names a key of an object in the gateway's namespace.
type KeyRef struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key within the object's data; absent leaves it to the chart.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Key *string `json:"key,omitempty"`
}

// ReleaseSettings are the settings of a release that a class gives and a gateway overrides leaf by leaf; lists replace.
// Defaults apply when the plan is made.
type ReleaseSettings struct {
	// Interval at which Flux compares the release with the cluster. Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:MaxLength=32
	Interval *metav1.Duration `json:"interval,omitempty"`
	// Timeout of each Helm action. Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:MaxLength=32
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// MaxHistory is the number of Helm revisions kept. Default 5; 0 keeps all. 1 leaves nothing to roll back to.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxHistory *int32 `json:"maxHistory,omitempty"`
	// ServiceAccountName that Flux impersonates, in the gateway's namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName *string `json:"serviceAccountName,omitempty"`
	// CRDs tells what install and upgrade do with the chart's crds folder. Default CreateReplace.
	// +optional
	// +kubebuilder:validation:Enum="";Skip;Create;CreateReplace
	CRDs *helmv2.CRDsPolicy `json:"crds,omitempty"`
	// DriftDetection compares the cluster with the release at each interval. Default: mode enabled.
	// +optional
	DriftDetection *DriftDetection `json:"driftDetection,omitempty"`
	// Test runs the chart's tests after install and upgrade. Default: not.
	// +optional
	Test *Test `json:"test,omitempty"`
}

// DriftDetection tells what Flux does about changes made by hand.
type DriftDetection struct {
	// Mode enabled repairs drift, warn reports it, disabled does not look. Default enabled.
	// +optional
	// +kubebuilder:validation:Enum="";enabled;warn;disabled
	Mode *helmv2.DriftDetectionMode `json:"mode,omitempty"`
	// Ignore lists what is not drift, as in HelmRelease (JSON pointers, with a target).
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Ignore []helmv2.IgnoreRule `json:"ignore,omitempty"`
}

// Test tells whether the chart's tests run.
type Test struct {
	// Enable runs the chart's test hooks after each install and upgrade; a failure counts as a failed release.
	// +optional
	Enable *bool `json:"enable,omitempty"`
}

// RemediationStrategy tells what happens to a failed release.
// +kubebuilder:validation:Enum="";Rollback;Retry;Uninstall
type RemediationStrategy string

// Strategies of remediation.
const (
	// StrategyRollback uninstalls a failed first install and rolls back a failed upgrade.
	StrategyRollback RemediationStrategy = "Rollback"
	// StrategyRetry leaves the failed release in place and tries again every backoff.initial.
	StrategyRetry RemediationStrategy = "Retry"
	// StrategyUninstall uninstalls after a failed install or upgrade; data may be lost.
	StrategyUninstall RemediationStrategy = "Uninstall"
)

// Remediation tells what happens after a failure. A gateway's overrides its class's leaf by leaf. Defaults apply when the
// plan is made.
// +kubebuilder:validation:XValidation:rule=`!has(self.strategy) || self.strategy != "Retry" || !has(self.retries) && (!has(self.backoff) || !has(self.backoff.max) && !has(self.backoff.afterThreshold))`,message="with strategy Retry only backoff.initial and failureThreshold act; remove retries, backoff.max and backoff.afterThreshold"
type Remediation struct {
	// Strategy after a failed install or upgrade. Default Rollback.
	// +optional
	Strategy *RemediationStrategy `json:"strategy,omitempty"`
	// Retries that Flux makes by itself before it rests. Default 0. Not with strategy Retry.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Retries *int32 `json:"retries,omitempty"`
	// FailureThreshold is the number of failed rounds after which the gateway is Stalled; attempts go on. Default 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`
	// Backoff between rounds.
	// +optional
	Backoff *Backoff `json:"backoff,omitempty"`
}

// Backoff is the time between rounds: initial, doubled up to max for as many rounds as failureThreshold, then afterThreshold.
type Backoff struct {
	// Initial wait; with strategy Retry the one between all retries. Default 1m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:MaxLength=32
	Initial *metav1.Duration `json:"initial,omitempty"`
	// Max wait while doubling. Default 15m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:MaxLength=32
	Max *metav1.Duration `json:"max,omitempty"`
	// AfterThreshold is the wait after every failed round beyond failureThreshold. Default 1h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:MaxLength=32
	AfterThreshold *metav1.Duration `json:"afterThreshold,omitempty"`
}

// ExposureMode tells how gateways are exposed.
// +kubebuilder:validation:Enum="";none;auto;gateway-api;route
type ExposureMode string

// Exposure modes.
const (
	// ExposureNone adds no values.
	ExposureNone ExposureMode = "none"
	// ExposureAuto is gateway-api where the cluster serves gateway.networking.k8s.io/v1, else route.
	ExposureAuto ExposureMode = "auto"
	// ExposureGatewayAPI adds the class's exposure.gatewayAPIValues.
	ExposureGatewayAPI ExposureMode = "gateway-api"
	// ExposureRoute adds the class's exposure.routeValues.
	ExposureRoute ExposureMode = "route"
)
