// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// anyNamespace in allowedTargetNamespaces allows all.
const anyNamespace = "*"

// checkPolicy refuses what the class does not let its gateways choose.
func checkPolicy(gateway *v1alpha1.APIGateway, class *v1alpha1.APIGatewayClass, release Release, wrong *faults) {
	policy := deref(class.Spec.Policy)
	refuseNamespace := func(field, namespace string) {
		allowed := policy.AllowedTargetNamespaces
		if namespace == gateway.Namespace || slices.Contains(allowed, namespace) || slices.Contains(allowed, anyNamespace) {
			return
		}
		wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s does not allow namespace %s; it allows: %s",
			class.Name, namespace, listed(append([]string{gateway.Namespace}, allowed...)))
	}
	refuseNamespace("spec.release.targetNamespace", release.TargetNamespace)
	if release.StorageNamespace != release.TargetNamespace {
		refuseNamespace("spec.release.storageNamespace", release.StorageNamespace)
	}
	refuseUnless := func(allowed bool, field, what, policy string) {
		if !allowed {
			wrong.add(v1alpha1.ReasonNotAllowed, field, "class %s does not let gateways %s (policy.%s); remove it", class.Name, what, policy)
		}
	}
	refuseUnless(policy.AllowPatches || len(gateway.Spec.Patches) == 0, "spec.patches", "patch the chart", "allowPatches")
	refuseUnless(policy.AllowRemoteClusters || deref(gateway.Spec.Cluster).KubeConfig == nil,
		"spec.cluster.kubeConfig", "choose a cluster", "allowRemoteClusters")
	refuseUnless(policy.AllowAdoption || !wantsAdoption(gateway), "metadata.annotations["+v1alpha1.AnnotationAdopt+"]",
		"take over a HelmRelease", "allowAdoption")
	given := text("", deref(class.Spec.Release).ServiceAccountName)
	refuseUnless(policy.AllowServiceAccountOverride || release.ServiceAccountName == given,
		"spec.release.serviceAccountName", "choose a ServiceAccount", "allowServiceAccountOverride")
}

// wantsAdoption: the gateway asks to take over the HelmRelease of its name, whosever that is.
func wantsAdoption(gateway *v1alpha1.APIGateway) bool {
	return gateway.Annotations[v1alpha1.AnnotationAdopt] == "true"
}

func adopts(gateway *v1alpha1.APIGateway, class *v1alpha1.APIGatewayClass) bool {
	return wantsAdoption(gateway) && deref(class.Spec.Policy).AllowAdoption
}

// checkAdoption refuses a value of the annotation that would be passed over.
func checkAdoption(gateway *v1alpha1.APIGateway, wrong *faults) {
	if value := gateway.Annotations[v1alpha1.AnnotationAdopt]; value != "" && value != "true" && value != "false" {
		wrong.invalid("metadata.annotations["+v1alpha1.AnnotationAdopt+"]", "%q is neither \"true\" nor \"false\"", value)
	}
}

// checkClassPolicy refuses a policy that would let gateways do more than its author can have meant.
func checkClassPolicy(spec *v1alpha1.APIGatewayClassSpec, wrong *faults) {
	policy := deref(spec.Policy)
	for i, namespace := range policy.AllowedTargetNamespaces {
		if namespace != anyNamespace && !label.pattern.MatchString(namespace) {
			wrong.invalid(at("spec.policy.allowedTargetNamespaces", i), "%q is neither a namespace's name nor \"*\", which stands for all", namespace)
		}
	}
	if !policy.AllowPatches {
		return
	}
	// A patch can turn any object of the chart into a ClusterRoleBinding, so that a ServiceAccount must bound what it does.
	if text("", deref(spec.Release).ServiceAccountName) == "" {
		wrong.invalid("spec.policy.allowPatches", "needs spec.release.serviceAccountName, since a patch can make any object")
	}
	if policy.AllowServiceAccountOverride {
		wrong.invalid("spec.policy.allowPatches", "does not go with allowServiceAccountOverride, since a patch can make any object")
	}
}
