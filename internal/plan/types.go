// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Input is everything that a plan depends on. Nothing in it is changed.
type Input struct {
	// Gateway to plan. Its status is read for the class that serves it alone: className, whether it was accepted, and
	// whether it has a release.
	Gateway *v1alpha1.APIGateway
	// Classes are all classes of the cluster (or of the files), since defaults are counted over all.
	Classes []v1alpha1.APIGatewayClass
	// Readings of these classes, to add to; nil is well.
	Readings Readings
	// Config is the ConfigMap that the gateway's configRef names; nil when there is none.
	Config *corev1.ConfigMap
	// ControllerName of the operator; empty means v1alpha1.DefaultControllerName.
	ControllerName string
	// Environment of the operator.
	Environment Environment
}

// Plan is a gateway, validated and with every default applied. It says what is wanted, in Sluice's terms; fluxobjects says
// it in Flux's.
type Plan struct {
	// Gateway names the APIGateway; its HelmRelease has the same name.
	Gateway types.NamespacedName
	// ClassName is the class that serves it.
	ClassName string
	// Source of the chart.
	Source Source
	// Release is the Helm release wanted.
	Release Release
	// Remediation after a failure.
	Remediation Remediation
	// Suspend is spec.suspend: nil leaves it to people.
	Suspend *bool
	// DeletionPolicy is never empty.
	DeletionPolicy v1alpha1.DeletionPolicy
	// Shard of Flux's controllers (and of the operator) that serves the objects; empty for those that serve no shard.
	Shard string
	// Adopt says that the gateway may take over a HelmRelease of its name that is somebody else's.
	Adopt bool
}

// Cluster is a remote cluster.
type Cluster struct {
	// Name for messages, never empty.
	Name string
	// KubeConfig is the Secret, in the gateway's namespace, by which Flux reaches it.
	KubeConfig meta.SecretKeyReference
}

// Source is an OCIRepository but for its name.
type Source struct {
	// Namespace of the OCIRepository, never empty.
	Namespace string
	// Spec is complete: what the CRD would default is set.
	Spec sourcev1.OCIRepositorySpec
}

// Release is a Helm release.
type Release struct {
	// Name of the Helm release, never empty.
	Name string
	// TargetNamespace and StorageNamespace, never empty.
	TargetNamespace  string
	StorageNamespace string
	CreateNamespace  bool
	// Cluster that the release goes to; nil is Flux's own.
	Cluster  *Cluster
	Interval time.Duration
	Timeout  time.Duration
	// MaxHistory is the number of revisions kept; 0 keeps all.
	MaxHistory         int
	ServiceAccountName string
	CRDs               helmv2.CRDsPolicy
	DriftDetection     helmv2.DriftDetection
	TestEnabled        bool
	// DependsOn names HelmReleases (that is, APIGateways) of the gateway's namespace.
	DependsOn []string
	// Values is a JSON object with sorted keys, merged from every layer but ValuesFrom; nil when there are none.
	Values     []byte
	ValuesFrom []meta.ValuesReference
	// Patches of the rendered chart.
	Patches []kustomize.Patch
}

// Remediation with every default applied.
type Remediation struct {
	Strategy         v1alpha1.RemediationStrategy
	Retries          int
	FailureThreshold int
	Backoff          Backoff
}

// Backoff between rounds.
type Backoff struct {
	Initial        time.Duration
	Max            time.Duration
	AfterThreshold time.Duration
}
