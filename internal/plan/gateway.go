// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// checkGateway refuses what is wrong with a gateway whatever its class says.
func checkGateway(gateway *v1alpha1.APIGateway, wrong *faults) {
	spec := &gateway.Spec
	checkGatewayNames(gateway, wrong)
	chart := deref(spec.Chart).ChartVersion
	checkOneVersion("spec.chart", chart, atMostOne, wrong)
	checkVersion("spec.chart", chart, wrong)
	checkReplicas(deref(spec.Infrastructure).Replicas, wrong)
	checkReferences(spec, wrong)
	for i, from := range spec.ValuesFrom {
		checkValuesFrom(at("spec.valuesFrom", i), from, wrong)
	}
	checkSettings("spec.release", deref(spec.Release).ReleaseSettings, wrong)
	checkDependencies(gateway, wrong)
	checkCluster(gateway, wrong)
	checkShard(gateway, wrong)
	checkAdoption(gateway, wrong)
	checkGatewayLimits(*spec, wrong)
	checkOneOf("spec.deletionPolicy", spec.DeletionPolicy, wrong, v1alpha1.DeletionDelete, v1alpha1.DeletionOrphan)
}

func checkGatewayNames(gateway *v1alpha1.APIGateway, wrong *faults) {
	checkName("metadata.name", gateway.Name, subdomain, wrong)
	checkLength("metadata.name", gateway.Name, maxReleaseName, "since Helm allows a release name no more", wrong)
	checkNamespace("metadata.namespace", gateway.Namespace, wrong)
	release := deref(gateway.Spec.Release)
	switch name := text("", release.Name); {
	case name != "":
		checkName("spec.release.name", name, label, wrong)
		checkLength("spec.release.name", name, maxReleaseName, "since Helm allows no more", wrong)
	case strings.Contains(gateway.Name, "."):
		wrong.invalid("spec.release.name", "the gateway's name has a dot, which a chart's names cannot have; name the release here")
	}
	if target := text("", release.TargetNamespace); target != "" {
		checkNamespace("spec.release.targetNamespace", target, wrong)
	}
	if storage := text("", release.StorageNamespace); storage != "" {
		checkNamespace("spec.release.storageNamespace", storage, wrong)
	}
}

func checkReplicas(replicas *int32, wrong *faults) {
	if replicas != nil && *replicas < 0 {
		wrong.invalid("spec.infrastructure.replicas", "%d is less than 0", *replicas)
	}
}

// checkReferences refuses a reference that names nothing, as the CRD does.
func checkReferences(spec *v1alpha1.APIGatewaySpec, wrong *faults) {
	control, storage, exposure := deref(spec.ControlPlane), deref(spec.Storage), deref(spec.Exposure)
	certificate := deref(control.TLS).CertSecretRef
	checkReference("spec.controlPlane.tokenSecretRef", control.TokenSecretRef != nil, deref(control.TokenSecretRef).Name, wrong)
	checkReference("spec.controlPlane.tls.certSecretRef", certificate != nil, deref(certificate).Name, wrong)
	checkReference("spec.storage.connectionSecretRef", storage.ConnectionSecretRef != nil, deref(storage.ConnectionSecretRef).Name, wrong)
	checkReference("spec.exposure.tlsSecretRef", exposure.TLSSecretRef != nil, deref(exposure.TLSSecretRef).Name, wrong)
	checkReference("spec.exposure.parentRef", exposure.ParentRef != nil, deref(exposure.ParentRef).Name, wrong)
	checkReference("spec.trustedCARef", spec.TrustedCARef != nil, deref(spec.TrustedCARef).Name, wrong)
	checkReference("spec.configRef", spec.ConfigRef != nil, deref(spec.ConfigRef).Name, wrong)
	checkNameIfSet("spec.configRef.name", deref(spec.ConfigRef).Name, wrong)
}

func checkReference(field string, given bool, name string, wrong *faults) {
	if given && name == "" {
		wrong.invalid(field+".name", "is empty; name the object, or remove the whole reference")
	}
}

// What HelmRelease's CRD takes.
var (
	valuesKeyPattern  = regexp.MustCompile("^[-._a-zA-Z0-9]+$")
	targetPathPattern = regexp.MustCompile(`^([a-zA-Z0-9_\-.\\/]|\[[0-9]{1,5}\])+$`)
)

// checkValuesFrom refuses what HelmRelease's CRD refuses, and a literal that would not act.
func checkValuesFrom(field string, from meta.ValuesReference, wrong *faults) {
	if from.Kind != "ConfigMap" && from.Kind != "Secret" {
		wrong.invalid(field+".kind", "%q is not one of \"ConfigMap\", \"Secret\"", from.Kind)
	}
	checkName(field+".name", from.Name, subdomain, wrong)
	if from.ValuesKey != "" && !valuesKeyPattern.MatchString(from.ValuesKey) {
		wrong.invalid(field+".valuesKey", "%q is not a key: letters, digits, -, _ and .", from.ValuesKey)
	}
	if from.TargetPath != "" && !targetPathPattern.MatchString(from.TargetPath) {
		wrong.invalid(field+".targetPath", "%q is not a path that Flux takes: keys of letters, digits, _, - and /, joined by dots, and [0] for an element", from.TargetPath)
	}
	if from.Literal && from.TargetPath == "" {
		wrong.invalid(field+".literal", "acts only with targetPath; remove it, or set targetPath")
	}
}

// checkDependencies refuses dependencies that name nothing, the gateway itself, or one gateway twice.
func checkDependencies(gateway *v1alpha1.APIGateway, wrong *faults) {
	seen := map[string]bool{}
	for i, ref := range deref(gateway.Spec.Release).DependsOn {
		field := at("spec.release.dependsOn", i) + ".name"
		switch {
		case ref.Name == "":
			wrong.invalid(field, "is empty; name an APIGateway of this namespace")
		case ref.Name == gateway.Name:
			wrong.invalid(field, "%s is this gateway itself, which would wait for itself", ref.Name)
		case seen[ref.Name]:
			wrong.invalid(field, "%s is named twice", ref.Name)
		default:
			checkName(field, ref.Name, subdomain, wrong)
		}
		seen[ref.Name] = true
	}
}
