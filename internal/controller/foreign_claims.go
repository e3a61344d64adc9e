// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/claims"
)

// HelmReleases that are no gateway's claim Helm releases too: Flux would let a second one take the release over.

// foreignReleaseKeys are the keys under which the index holds a HelmRelease; none of one that is a gateway's, since gateways
// are in the index themselves.
func foreignReleaseKeys(o client.Object) []string {
	hr := o.(*helmv2.HelmRelease)
	if owner := metav1.GetControllerOf(hr); owner != nil && owner.Kind == v1alpha1.APIGatewayKind || hr.Annotations[v1alpha1.AnnotationOwnerUID] != "" {
		return nil
	}
	var keys []string
	for _, key := range []claims.Key{
		{Release: hr.GetReleaseName(), Part: claims.TargetNamespace, Namespace: hr.GetReleaseNamespace(), Cluster: clusterOf(hr)},
		{Release: hr.GetReleaseName(), Part: claims.StorageNamespace, Namespace: hr.GetStorageNamespace(), Cluster: clusterOf(hr)},
	} {
		keys = append(keys, key.String())
	}
	return keys
}

// readForeignClaim finds a HelmRelease of another name that has the gateway's Helm release. One of the gateway's own name
// is judged by itself.
func (r *gatewayReconciler) readForeignClaim(ctx context.Context, s *state) error {
	for _, key := range releaseKeys(s.gateway) {
		list := &helmv2.HelmReleaseList{}
		if err := r.List(ctx, list, client.MatchingFields{byHelmRelease: key}); err != nil {
			return err
		}
		for i := range list.Items {
			if client.ObjectKeyFromObject(&list.Items[i]) != client.ObjectKeyFromObject(s.gateway) {
				s.taken = &list.Items[i]
				return nil
			}
		}
	}
	return nil
}

// claimantsOf are the gateways that want what a foreign HelmRelease has: they are asked when it comes, changes and goes.
func (r *gatewayReconciler) claimantsOf(ctx context.Context, o client.Object) []ctrl.Request {
	var found []ctrl.Request
	for _, key := range foreignReleaseKeys(o) {
		list := &v1alpha1.APIGatewayList{}
		err := r.List(ctx, list, client.MatchingFields{byHelmRelease: key})
		found = append(found, r.requests(ctx, list.Items, err)...)
	}
	return found
}
