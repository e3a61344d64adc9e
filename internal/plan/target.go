// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Environment is what a plan depends on beside what people commit: the operator's own cluster, and its flags.
type Environment struct {
	// ClusterName is for messages. Empty: v1alpha1.DefaultClusterName.
	ClusterName string
	// APIs that the cluster serves. A class that asks for what is not known is no use to its gateways.
	APIs APIs
	// ExposureMode of gateways. Empty: none.
	ExposureMode v1alpha1.ExposureMode
	// ExternalCAIssuerName is needed in mode route.
	ExternalCAIssuerName string
}

// ExposureModes are those that people can choose.
var ExposureModes = []v1alpha1.ExposureMode{
	v1alpha1.ExposureNone, v1alpha1.ExposureAuto, v1alpha1.ExposureGatewayAPI, v1alpha1.ExposureRoute,
}

// IssuerRequired is what is said where the exposure mode is route and no issuer is named.
func IssuerRequired(clusterName string) string {
	return "EXTERNAL_CA_ISSUER_NAME required for Route passthrough mode on cluster " + clusterName
}

// ResolveExposure is the mode that auto comes to on a cluster: gateway-api if it serves gateway.networking.k8s.io/v1, else
// route. Other modes stay. If that is not known, unknown says why.
func ResolveExposure(mode v1alpha1.ExposureMode, apis APIs) (resolved v1alpha1.ExposureMode, unknown string) {
	if mode != v1alpha1.ExposureAuto {
		return text(v1alpha1.ExposureNone, &mode), ""
	}
	served, unknown := apis.serves(v1alpha1.GatewayAPIVersion)
	switch {
	case unknown != "":
		return "", unknown
	case served:
		return v1alpha1.ExposureGatewayAPI, ""
	default:
		return v1alpha1.ExposureRoute, ""
	}
}

// target is the cluster that a release goes to, as far as values depend on it.
type target struct {
	name   string
	remote bool
	apis   APIs
	mode   v1alpha1.ExposureMode
	issuer string
}

// targetOf is the gateway's remote cluster, or the operator's own. What a remote one does not say of exposure is as here.
func targetOf(gateway *v1alpha1.APIGateway, env Environment) target {
	t := target{
		name:   text(v1alpha1.DefaultClusterName, &env.ClusterName),
		apis:   env.APIs,
		mode:   env.ExposureMode,
		issuer: env.ExternalCAIssuerName,
	}
	cluster := deref(gateway.Spec.Cluster)
	if cluster.KubeConfig == nil {
		return t
	}
	t.remote = true
	t.name = text(cluster.KubeConfig.SecretRef.Name, cluster.Name)
	t.mode = text(t.mode, cluster.ExposureMode)
	t.issuer = text(t.issuer, cluster.ExternalCAIssuerName)
	t.apis = APIs{}
	if len(cluster.APIVersions) > 0 {
		t.apis = ServedAPIs(cluster.APIVersions)
	}
	return t
}

// refuseUnknown says that the class needs to know whether the cluster serves an API.
func (t target) refuseUnknown(class, apiVersion, why string, wrong *faults) {
	if t.remote {
		wrong.invalid("spec.cluster.apiVersions", "class %s asks whether cluster %s serves %s; list here what it serves, with its kinds",
			class, t.name, apiVersion)
		return
	}
	wrong.add(v1alpha1.ReasonCapabilityUnknown, "spec.className", "class %s asks whether cluster %s serves %s, which is not known: %s",
		class, t.name, apiVersion, why)
}

// refuseMissingIssuer says that mode route cannot do without an issuer.
func (t target) refuseMissingIssuer(wrong *faults) {
	field := "spec.className"
	if t.remote {
		field = "spec.cluster.externalCAIssuerName"
	}
	wrong.add(v1alpha1.ReasonIssuerRequired, field, "%s", IssuerRequired(t.name))
}

// checkCluster refuses what no cluster could be, and what describes a remote cluster that is not named.
func checkCluster(gateway *v1alpha1.APIGateway, wrong *faults) {
	cluster := deref(gateway.Spec.Cluster)
	if cluster.KubeConfig == nil {
		refuseLocal("spec.cluster.name", text("", cluster.Name) != "", wrong)
		refuseLocal("spec.cluster.apiVersions", len(cluster.APIVersions) > 0, wrong)
		refuseLocal("spec.cluster.exposureMode", text("", cluster.ExposureMode) != "", wrong)
		refuseLocal("spec.cluster.externalCAIssuerName", text("", cluster.ExternalCAIssuerName) != "", wrong)
	} else {
		checkName("spec.cluster.kubeConfig.secretRef.name", cluster.KubeConfig.SecretRef.Name, subdomain, wrong)
	}
	for i, apiVersion := range cluster.APIVersions {
		checkAPIVersion(at("spec.cluster.apiVersions", i), apiVersion, wrong)
	}
	checkOneOf("spec.cluster.exposureMode", cluster.ExposureMode, wrong, ExposureModes...)
}

func refuseLocal(field string, set bool, wrong *faults) {
	if set {
		wrong.invalid(field, "describes a remote cluster; name that in spec.cluster.kubeConfig, or remove it")
	}
}

// ClusterOf is the remote cluster that the gateway names; nil for Flux's own.
func ClusterOf(gateway *v1alpha1.APIGateway) *Cluster {
	cluster := deref(gateway.Spec.Cluster)
	if cluster.KubeConfig == nil {
		return nil
	}
	ref := cluster.KubeConfig.SecretRef
	return &Cluster{
		Name:       text(ref.Name, cluster.Name),
		KubeConfig: meta.SecretKeyReference{Name: ref.Name, Key: text("", ref.Key)},
	}
}
