// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// APIGatewayClass says which chart its gateways install, and how their typed fields become that chart's values.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=agc,categories=sluice
// +kubebuilder:printcolumn:name="Chart",type=string,JSONPath=`.spec.chart.url`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Accepted")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 54",message="metadata.name: a class name has at most 54 characters, since sources are named <class>-<8 hex digits>"
type APIGatewayClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec APIGatewayClassSpec `json:"spec"`
	// Status says whether the class is valid. Until the operator has looked, its observedGeneration is -1, since kstatus takes an object
	// without a status for ready.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status APIGatewayClassStatus `json:"status,omitempty"`
}

// APIGatewayClassList is a list of classes.
// +kubebuilder:object:root=true
type APIGatewayClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []APIGatewayClass `json:"items"`
}

// APIGatewayClassSpec is what a platform team writes.
// +kubebuilder:validation:XValidation:rule=`!has(self.policy) || !has(self.policy.allowPatches) || !self.policy.allowPatches || has(self.release) && has(self.release.serviceAccountName) && size(self.release.serviceAccountName) > 0`,message="allowPatches needs release.serviceAccountName, since a patch can make any object",fieldPath=".policy.allowPatches"
// +kubebuilder:validation:XValidation:rule=`!has(self.policy) || !has(self.policy.allowPatches) || !self.policy.allowPatches || !has(self.policy.allowServiceAccountOverride) || !self.policy.allowServiceAccountOverride`,message="allowPatches does not go with allowServiceAccountOverride, since a patch can make any object",fieldPath=".policy.allowPatches"
type APIGatewayClassSpec struct {
	// ControllerName of the operator that serves this class (its flag --controller-name). Default gateway.sluice.dev/sluice.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ControllerName *string `json:"controllerName,omitempty"`
	// Chart that gateways of this class install.
	Chart ClassChart `json:"chart"`
	// Values are the platform's defaults; everything but valuesFrom wins over them.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
	// ValueMappings say at which values paths a gateway's typed field lands. A field that is not mapped is refused.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	ValueMappings []ValueMapping `json:"valueMappings,omitempty"`
	// ImageMappings say where the parts of infrastructure.images.<name> land.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	ImageMappings []ImageMapping `json:"imageMappings,omitempty"`
	// CapabilityValues are merged by what the target cluster serves.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	CapabilityValues []CapabilityValues `json:"capabilityValues,omitempty"`
	// Exposure values are merged by the operator's exposure mode.
	// +optional
	Exposure *ClassExposure `json:"exposure,omitempty"`
	// Release settings that gateways inherit.
	// +optional
	Release *ReleaseSettings `json:"release,omitempty"`
	// Remediation that gateways inherit.
	// +optional
	Remediation *Remediation `json:"remediation,omitempty"`
	// Policy limits what gateways may ask for. Everything is off by default.
	// +optional
	Policy *ClassPolicy `json:"policy,omitempty"`
}

// ClassChart is a chart in an OCI registry, with OCIRepository's options.
type ClassChart struct {
	// URL of the chart, oci://host/path/chart, without a tag.
	// +kubebuilder:validation:Pattern="^oci://.+$"
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`
	// Ref that gateways without a chart of their own install.
	Ref ChartRef `json:"ref"`
	// AllowedVersions is a semver range within which a gateway's own chart must lie. Absent: any.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AllowedVersions *string `json:"allowedVersions,omitempty"`
	// Namespace of the OCIRepository. Absent: each gateway's namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"
	Namespace *string `json:"namespace,omitempty"`
	// Interval at which the registry is asked. Default 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:MaxLength=32
	Interval *metav1.Duration `json:"interval,omitempty"`
	// Timeout of a pull. Default: source-controller's, 60s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m))+$"
	// +kubebuilder:validation:MaxLength=32
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// Provider of the registry's login. Default generic.
	// +optional
	// +kubebuilder:validation:Enum="";generic;aws;azure;gcp
	Provider *string `json:"provider,omitempty"`
	// Insecure allows plain HTTP.
	// +optional
	Insecure *bool `json:"insecure,omitempty"`
	// SecretRef to a docker-registry Secret in the source's namespace.
	// +optional
	SecretRef *ObjectRef `json:"secretRef,omitempty"`
	// CertSecretRef to a Secret with ca.crt, tls.crt, tls.key in the source's namespace.
	// +optional
	CertSecretRef *ObjectRef `json:"certSecretRef,omitempty"`
	// ProxySecretRef to a Secret with the proxy's address in the source's namespace.
	// +optional
	ProxySecretRef *ObjectRef `json:"proxySecretRef,omitempty"`
	// ServiceAccountName in the source's namespace, whose image pull secrets are used.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName *string `json:"serviceAccountName,omitempty"`
	// Verify the chart's signature, as in OCIRepository.
	// +optional
	Verify *sourcev1.OCIRepositoryVerification `json:"verify,omitempty"`
}

// ChartRef chooses a version: exactly one of tag, semver and digest.
// +kubebuilder:validation:XValidation:rule="(has(self.tag) && size(self.tag) > 0 ? 1 : 0) + (has(self.semver) && size(self.semver) > 0 ? 1 : 0) + (has(self.digest) && size(self.digest) > 0 ? 1 : 0) == 1",message="set exactly one of tag, semver and digest"
// +kubebuilder:validation:XValidation:rule="!has(self.semverFilter) || size(self.semverFilter) == 0 || (has(self.semver) && size(self.semver) > 0)",message="semverFilter goes with semver"
type ChartRef struct {
	ChartVersion `json:",inline"`
	// SemverFilter is a regular expression that tags must match before semver chooses.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SemverFilter *string `json:"semverFilter,omitempty"`
}

// ChartVersion is a tag, a semver range or a digest.
type ChartVersion struct {
	// Tag, for charts the version.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$"
	Tag *string `json:"tag,omitempty"`
	// Semver range, of which the highest tag is taken.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Semver *string `json:"semver,omitempty"`
	// Digest of the chart's manifest, sha256:<64 hex digits>.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^(sha256:[a-f0-9]{64})?$"
	Digest *string `json:"digest,omitempty"`
}

// ValueMapping says where one typed field lands.
type ValueMapping struct {
	// Field of APIGateway.spec, dotted, as infrastructure.replicas; or metadata.name, metadata.namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Field string `json:"field"`
	// Paths in the chart's values, in the notation of helm --set: keys joined by dots, \. for a dot, [0] for an element.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Paths []string `json:"paths"`
	// Allowed values of the field; others are refused. Absent: any.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Allowed []string `json:"allowed,omitempty"`
	// WhenSet are values merged just below the mapped fields when the field is set.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	WhenSet *apiextensionsv1.JSON `json:"whenSet,omitempty"`
}

// ImageMapping says where the parts of one image land.
type ImageMapping struct {
	// Name of the image in infrastructure.images.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Paths, each for as many parts as the chart has keys for.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Paths []ImagePaths `json:"paths"`
}

// ImagePaths are the values paths of an image's parts. Without a registry path the registry is put before the repository.
type ImagePaths struct {
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Registry *string `json:"registry,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Repository *string `json:"repository,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Tag *string `json:"tag,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Digest *string `json:"digest,omitempty"`
}

// CapabilityValues are merged by whether the target cluster serves an API.
type CapabilityValues struct {
	// APIVersion is group/version or group/version/Kind.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?(/[A-Z][A-Za-z0-9]*)?$`
	APIVersion string `json:"apiVersion"`
	// Present values are merged when it is served.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Present *apiextensionsv1.JSON `json:"present,omitempty"`
	// Absent values are merged when it is not.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Absent *apiextensionsv1.JSON `json:"absent,omitempty"`
}

// ClassExposure are values merged by the operator's exposure mode.
type ClassExposure struct {
	// GatewayAPIValues are merged in mode gateway-api.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	GatewayAPIValues *apiextensionsv1.JSON `json:"gatewayAPIValues,omitempty"`
	// RouteValues are merged in mode route.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	RouteValues *apiextensionsv1.JSON `json:"routeValues,omitempty"`
	// ExternalCAIssuerNamePaths are the values paths of the external CA issuer's name in mode route.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	ExternalCAIssuerNamePaths []string `json:"externalCAIssuerNamePaths,omitempty"`
}

// ClassPolicy limits what gateways may ask for.
type ClassPolicy struct {
	// AllowedTargetNamespaces for release.targetNamespace and storageNamespace: exact names or "*". The gateway's own
	// namespace is always allowed.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	AllowedTargetNamespaces []string `json:"allowedTargetNamespaces,omitempty"`
	// AllowServiceAccountOverride lets gateways choose release.serviceAccountName.
	// +optional
	AllowServiceAccountOverride bool `json:"allowServiceAccountOverride,omitempty"`
	// AllowRemoteClusters lets gateways set cluster.kubeConfig.
	// +optional
	AllowRemoteClusters bool `json:"allowRemoteClusters,omitempty"`
	// AllowAdoption lets gateways take over a foreign HelmRelease.
	// +optional
	AllowAdoption bool `json:"allowAdoption,omitempty"`
	// AllowPatches lets gateways set patches, which can turn any chart object into any other.
	// +optional
	AllowPatches bool `json:"allowPatches,omitempty"`
}

// APIGatewayClassStatus says whether the class is valid.
type APIGatewayClassStatus struct {
	// ObservedGeneration of the class that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions: Accepted; and InUse, on a class that is being deleted while gateways use it.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
