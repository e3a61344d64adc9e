// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/claims"
)

// adopt takes a foreign HelmRelease for the gateway's own, where the gateway asks for it and the class allows it. From the
// next write on it is. What cannot be taken over stays foreign, and the gateway says why.
func adopt(s *state) {
	if s.foreign == nil || s.plan == nil || !s.plan.Adopt {
		return
	}
	if obstacle := obstacleTo(s.foreign, s.desired.Release); obstacle != "" {
		s.refuse(v1alpha1.ReasonConflict, "metadata.annotations["+v1alpha1.AnnotationAdopt+"]", fmt.Sprintf(
			"HelmRelease %s cannot be taken over: %s", client.ObjectKeyFromObject(s.foreign), obstacle))
		return
	}
	s.release, s.foreign = s.foreign, nil
}

// obstacleTo says why the HelmRelease cannot be adopted. Flux uninstalls a release when its HelmRelease comes to name
// another: a release cannot be moved, also not by adopting it.
func obstacleTo(live, desired *helmv2.HelmRelease) string {
	if owner := metav1.GetControllerOf(live); owner != nil {
		return fmt.Sprintf("it is owned by %s %s, which would fight for it; delete that owner with --cascade=orphan first", owner.Kind, owner.Name)
	}
	for _, must := range []struct{ field, is, wanted string }{
		{"spec.release.name", live.GetReleaseName(), desired.GetReleaseName()},
		{"spec.release.targetNamespace", live.GetReleaseNamespace(), desired.GetReleaseNamespace()},
		{"spec.release.storageNamespace", live.GetStorageNamespace(), desired.GetStorageNamespace()},
		{"spec.cluster.kubeConfig", clusterOf(live), clusterOf(desired)},
	} {
		if must.is != must.wanted {
			return fmt.Sprintf("its release would move, since this gateway's %s is %q and there it is %q;"+
				" make the gateway anew with that, since it cannot be changed (deleting this one leaves the HelmRelease alone)", must.field, must.wanted, must.is)
		}
	}
	return ""
}

// clusterOf names the cluster that a HelmRelease's release is on, as claims do; empty is Flux's own. What Sluice does not
// write (a ConfigMap) is a cluster by itself.
func clusterOf(hr *helmv2.HelmRelease) string {
	switch config := hr.Spec.KubeConfig; {
	case config == nil:
		return ""
	case config.SecretRef != nil:
		return claims.ClusterOf(hr.Namespace, *config.SecretRef)
	case config.ConfigMapRef != nil:
		return "ConfigMap " + hr.Namespace + "/" + config.ConfigMapRef.Name
	default:
		return "unknown"
	}
}
