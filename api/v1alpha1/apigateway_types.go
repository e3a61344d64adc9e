// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// APIGateway is one API gateway: a release of its class's chart.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=agw,categories=sluice
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.status.className`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.release.chartVersion`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Revision",type=integer,priority=1,JSONPath=`.status.release.revision`
// +kubebuilder:printcolumn:name="Source",type=string,priority=1,JSONPath=`.status.source.name`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 53",message="metadata.name: a gateway name has at most 53 characters, since Helm allows a release name no more"
// +kubebuilder:validation:XValidation:rule=`has(self.spec.release) && has(self.spec.release.name) ? self.spec.release.name == (has(oldSelf.spec.release) && has(oldSelf.spec.release.name) ? oldSelf.spec.release.name : self.metadata.name) : !has(oldSelf.spec.release) || !has(oldSelf.spec.release.name) || oldSelf.spec.release.name == self.metadata.name`,message="cannot be changed: a release cannot be moved; create another gateway",fieldPath=".spec.release.name"
// +kubebuilder:validation:XValidation:rule=`(has(self.spec.release) && has(self.spec.release.targetNamespace) ? self.spec.release.targetNamespace : "") == (has(oldSelf.spec.release) && has(oldSelf.spec.release.targetNamespace) ? oldSelf.spec.release.targetNamespace : "")`,message="cannot be changed: a release cannot be moved; create another gateway",fieldPath=".spec.release.targetNamespace"
// +kubebuilder:validation:XValidation:rule=`(has(self.spec.release) && has(self.spec.release.storageNamespace) ? self.spec.release.storageNamespace : "") == (has(oldSelf.spec.release) && has(oldSelf.spec.release.storageNamespace) ? oldSelf.spec.release.storageNamespace : "")`,message="cannot be changed: a release cannot be moved; create another gateway",fieldPath=".spec.release.storageNamespace"
// +kubebuilder:validation:XValidation:rule=`(has(self.spec.cluster) && has(self.spec.cluster.name) ? self.spec.cluster.name : "") == (has(oldSelf.spec.cluster) && has(oldSelf.spec.cluster.name) ? oldSelf.spec.cluster.name : "")`,message="cannot be changed: a release cannot be moved; create another gateway",fieldPath=".spec.cluster.name"
// +kubebuilder:validation:XValidation:rule=`has(self.spec.cluster) && has(self.spec.cluster.kubeConfig) ? (has(oldSelf.spec.cluster) && has(oldSelf.spec.cluster.kubeConfig) && self.spec.cluster.kubeConfig == oldSelf.spec.cluster.kubeConfig) : !(has(oldSelf.spec.cluster) && has(oldSelf.spec.cluster.kubeConfig))`,message="cannot be changed: a release cannot be moved; create another gateway",fieldPath=".spec.cluster.kubeConfig"
// +kubebuilder:validation:XValidation:rule=`!self.metadata.name.contains(".") || has(self.spec.release) && has(self.spec.release.name) && size(self.spec.release.name) > 0`,message="the gateway's name has a dot, which a chart's names cannot have; name the release here",fieldPath=".spec.release"
// +kubebuilder:validation:XValidation:rule=`!has(self.spec.release) || !has(self.spec.release.dependsOn) || self.spec.release.dependsOn.all(d, d.name != self.metadata.name)`,message="names this gateway itself, which would wait for itself",fieldPath=".spec.release.dependsOn"
type APIGateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	// +kubebuilder:default={}
	Spec APIGatewaySpec `json:"spec"`
	// Status mirrors what Flux reports. Until the operator has looked, its observedGeneration is -1, since kstatus takes an object
	// without a status for ready.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status APIGatewayStatus `json:"status,omitempty"`
}

// Orphans says whether the release runs on when the gateway is deleted.
func (g *APIGateway) Orphans() bool {
	return g.Spec.DeletionPolicy != nil && *g.Spec.DeletionPolicy == DeletionOrphan
}

// APIGatewayList is a list of gateways.
// +kubebuilder:object:root=true
type APIGatewayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []APIGateway `json:"items"`
}

// APIGatewaySpec is what an application team writes. Every leaf of infrastructure, controlPlane, storage, exposure and
// trustedCARef must be mapped by the class, or it is refused. A field is set unless it is absent, null, "", [] or {}.
// +kubebuilder:validation:XValidation:rule=`!has(self.valuesFrom) || self.valuesFrom.all(v, !has(v.literal) || !v.literal || has(v.targetPath) && size(v.targetPath) > 0)`,message="literal acts only with targetPath",fieldPath=".valuesFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.patches) || self.patches.all(p, size(p.patch) <= 16384)",message="a patch has at most 16384 characters",fieldPath=".patches"
type APIGatewaySpec struct {
	// ClassName of the APIGatewayClass. Absent: the default class.
	// +optional
	// +kubebuilder:validation:MaxLength=54
	ClassName *string `json:"className,omitempty"`
	// Chart overrides the class's ref.
	// +optional
	Chart *GatewayChart `json:"chart,omitempty"`
	// Infrastructure of the gateway's workload.
	// +optional
	Infrastructure *Infrastructure `json:"infrastructure,omitempty"`
	// ControlPlane that the gateway connects to.
	// +optional
	ControlPlane *ControlPlane `json:"controlPlane,omitempty"`
	// Storage of the gateway's configuration.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
	// Exposure of the gateway to its clients.
	// +optional
	Exposure *Exposure `json:"exposure,omitempty"`
	// TrustedCARef names the CA certificates that the gateway trusts.
	// +optional
	TrustedCARef *KeyRef `json:"trustedCARef,omitempty"`
	// ConfigRef names a ConfigMap in the same namespace whose key values.yaml holds values of the chart.
	// +optional
	ConfigRef *ObjectRef `json:"configRef,omitempty"`
	// Values of the chart; they win over everything else.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
	// ValuesFrom as in HelmRelease: the lowest values above the chart's own defaults.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	ValuesFrom []meta.ValuesReference `json:"valuesFrom,omitempty"`
	// Patches of the rendered chart, as in kustomize. The class's policy must allow them.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Patches []kustomize.Patch `json:"patches,omitempty"`
	// Release settings; each leaf overrides the class's.
	// +optional
	Release *GatewayRelease `json:"release,omitempty"`
	// Cluster that the release goes to. Absent: this one.
	// +optional
	Cluster *Cluster `json:"cluster,omitempty"`
	// Remediation; each leaf overrides the class's.
	// +optional
	Remediation *Remediation `json:"remediation,omitempty"`
	// Suspend true suspends the HelmRelease, false resumes it and keeps it resumed; absent leaves it to people,
	// and lifts a suspension that true made.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// DeletionPolicy Delete uninstalls the release with the gateway, Orphan keeps it running. Default Delete.
	// +optional
	DeletionPolicy *DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// GatewayChart overrides the class's chart ref: at most one of tag, semver and digest.
// +kubebuilder:validation:XValidation:rule="(has(self.tag) && size(self.tag) > 0 ? 1 : 0) + (has(self.semver) && size(self.semver) > 0 ? 1 : 0) + (has(self.digest) && size(self.digest) > 0 ? 1 : 0) <= 1",message="set at most one of tag, semver and digest"
type GatewayChart struct {
	ChartVersion `json:",inline"`
}

// DeletionPolicy tells what becomes of the release when its gateway is deleted.
// +kubebuilder:validation:Enum="";Delete;Orphan
type DeletionPolicy string

// Deletion policies.
const (
	// DeletionDelete uninstalls the release.
	DeletionDelete DeletionPolicy = "Delete"
	// DeletionOrphan keeps the release running; a new gateway of that name takes it over.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// Infrastructure of the gateway's workload. resources, nodeSelector, tolerations, affinity, labels and annotations are one
// leaf each.
type Infrastructure struct {
	// Replicas of the gateway.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// Images by the names that the class's imageMappings know, as OCI references. What a reference leaves out stays as the class
	// or the chart has it, but for a digest beside a tag: a tag alone empties it, since it would win.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Images map[string]string `json:"images,omitempty"`
	// Resources of the gateway's container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// NodeSelector of the gateway's pods.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations of the gateway's pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Affinity of the gateway's pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// Labels of the gateway's objects.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the gateway's objects.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ControlPlane that the gateway connects to.
type ControlPlane struct {
	// Host, with a port where it needs one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host *string `json:"host,omitempty"`
	// TokenSecretRef names the Secret with the registration token.
	// +optional
	TokenSecretRef *KeyRef `json:"tokenSecretRef,omitempty"`
	// TLS towards the control plane.
	// +optional
	TLS *ControlPlaneTLS `json:"tls,omitempty"`
}

// ControlPlaneTLS towards the control plane.
type ControlPlaneTLS struct {
	// Enabled turns it on.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// CertSecretRef names the Secret with the client certificate.
	// +optional
	CertSecretRef *KeyRef `json:"certSecretRef,omitempty"`
}

// Storage of the gateway's configuration.
type Storage struct {
	// Type of storage; the class says which are allowed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Type *string `json:"type,omitempty"`
	// SQLitePath of the database file.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	SQLitePath *string `json:"sqlitePath,omitempty"`
	// ConnectionSecretRef names the Secret with the connection's credentials.
	// +optional
	ConnectionSecretRef *KeyRef `json:"connectionSecretRef,omitempty"`
}

// Exposure of the gateway to its clients. hostnames is one leaf.
type Exposure struct {
	// Hostnames that the gateway answers.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Hostnames []string `json:"hostnames,omitempty"`
	// ServiceType of the gateway's Service.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServiceType *string `json:"serviceType,omitempty"`
	// TLSSecretRef names the Secret with the serving certificate.
	// +optional
	TLSSecretRef *ObjectRef `json:"tlsSecretRef,omitempty"`
	// ParentRef names the Gateway (Gateway API) that routes attach to.
	// +optional
	ParentRef *ParentRef `json:"parentRef,omitempty"`
}

// ParentRef names a Gateway of the Gateway API.
type ParentRef struct {
	// Name of the Gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the Gateway.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace *string `json:"namespace,omitempty"`
	// SectionName of the Gateway's listener.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName *string `json:"sectionName,omitempty"`
}

// GatewayRelease are the release settings of a gateway. Name, targetNamespace and storageNamespace cannot be changed.
type GatewayRelease struct {
	ReleaseSettings `json:",inline"`
	// Name of the Helm release. Default: the gateway's name.
	// +optional
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern="^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"
	Name *string `json:"name,omitempty"`
	// TargetNamespace of the chart's objects. Default: the gateway's namespace. The class's policy must allow another.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"
	TargetNamespace *string `json:"targetNamespace,omitempty"`
	// StorageNamespace of Helm's release Secrets. Default: the target namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"
	StorageNamespace *string `json:"storageNamespace,omitempty"`
	// CreateNamespace creates the target namespace at install. Default false.
	// +optional
	CreateNamespace *bool `json:"createNamespace,omitempty"`
	// DependsOn names APIGateways of the same namespace that must be Ready first.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	DependsOn []GatewayRef `json:"dependsOn,omitempty"`
}

// GatewayRef names an APIGateway in the same namespace.
type GatewayRef struct {
	// Name of the APIGateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=53
	Name string `json:"name"`
}

// Cluster that the release goes to. Name and kubeConfig cannot be changed.
// +kubebuilder:validation:XValidation:rule=`has(self.kubeConfig) || !(has(self.name) && size(self.name) > 0 || has(self.apiVersions) && size(self.apiVersions) > 0 || has(self.exposureMode) && size(self.exposureMode) > 0 || has(self.externalCAIssuerName) && size(self.externalCAIssuerName) > 0)`,message="name, apiVersions, exposureMode and externalCAIssuerName describe a remote cluster; name that in kubeConfig, or remove them"
type Cluster struct {
	// Name of the cluster, for messages and exposure.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name *string `json:"name,omitempty"`
	// KubeConfig of a remote cluster.
	// +optional
	KubeConfig *KubeConfig `json:"kubeConfig,omitempty"`
	// APIVersions that the remote cluster serves, as group/version or group/version/Kind.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?(/[A-Z][A-Za-z0-9]*)?$`
	APIVersions []string `json:"apiVersions,omitempty"`
	// ExposureMode on the remote cluster.
	// +optional
	ExposureMode *ExposureMode `json:"exposureMode,omitempty"`
	// ExternalCAIssuerName on the remote cluster, for mode route.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ExternalCAIssuerName *string `json:"externalCAIssuerName,omitempty"`
}

// KubeConfig of a remote cluster.
type KubeConfig struct {
	// SecretRef to the Secret that holds it. Default key: value, or value.yaml.
	SecretRef KeyRef `json:"secretRef"`
}
