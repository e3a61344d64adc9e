// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// parting is what happens to the HelmRelease of a deleted gateway.
type parting struct {
	// update is written first, if it is not nil.
	update *helmv2.HelmRelease
	// remove: then it is deleted.
	remove bool
	// hold says why it is not, and what to do about it.
	hold string
}

// tearDown has Flux uninstall the release, or leave it running under Orphan, and keeps the gateway until the HelmRelease is
// gone. It needs neither the class nor a valid spec.
func (r *gatewayReconciler) tearDown(ctx context.Context, s *state) error {
	if !controllerutil.ContainsFinalizer(s.gateway, v1alpha1.Finalizer) {
		s.gone = true
		return nil
	}
	terminating, err := r.namespaceTerminates(ctx, s.gateway.Namespace)
	if err != nil {
		return err
	}
	if err := r.lookOnceMore(ctx, s); err != nil {
		return err
	}
	if s.release != nil {
		if err := r.partWith(ctx, s); err != nil {
			return err
		}
	}
	if s.release != nil && !terminating {
		return nil
	}
	if err := r.letGo(ctx, s); err != nil || !terminating || !s.gone { // else somebody has let it go before, and told
		return err
	}
	r.warnOfRemains(s.gateway)
	return nil
}

func (r *gatewayReconciler) partWith(ctx context.Context, s *state) error {
	accountMissing, err := r.accountMissing(ctx, s.release)
	if err != nil {
		return err
	}
	p := part(s.gateway, s.release, accountMissing)
	s.hold = p.hold
	return r.carryOut(ctx, s, p)
}

// lookOnceMore asks the API server for a HelmRelease that the cache does not have: we may just have written it.
func (r *gatewayReconciler) lookOnceMore(ctx context.Context, s *state) error {
	if s.release != nil || s.foreign != nil {
		return nil
	}
	hr, err := getRelease(ctx, r.live, client.ObjectKeyFromObject(s.gateway))
	if hr != nil && isOurs(hr, s.gateway) {
		s.release = hr
	}
	return err
}

func (r *gatewayReconciler) letGo(ctx context.Context, s *state) error {
	err := r.setFinalizer(ctx, s, controllerutil.RemoveFinalizer)
	s.gone = err == nil
	return client.IgnoreNotFound(err)
}

// part decides. Flux skips the uninstall of a suspended HelmRelease and of one whose ServiceAccount is gone: the latter,
// and a suspension that somebody else made, are for people to end. Under Orphan just that skip is used. A first install is
// waited for.
func part(gateway *v1alpha1.APIGateway, hr *helmv2.HelmRelease, accountMissing bool) parting {
	switch {
	case hr.DeletionTimestamp != nil:
		return parting{}
	case gateway.Orphans():
		return parting{update: orphaned(gateway, hr), remove: true}
	case hr.Spec.Suspend && !suspendedByUs(hr):
		return parting{hold: fmt.Sprintf("HelmRelease %[1]s/%[2]s is suspended, and Flux does not uninstall a suspended release:"+
			" run \"flux resume helmrelease %[2]s -n %[1]s\"", hr.Namespace, hr.Name)}
	case accountMissing:
		return parting{hold: fmt.Sprintf("ServiceAccount %[1]s/%[2]s, which Flux acts as, does not exist, and Flux does not"+
			" uninstall without it: run \"kubectl create serviceaccount %[2]s -n %[1]s\" and give it its rights again",
			hr.Namespace, hr.Spec.ServiceAccountName)}
	}
	p := parting{remove: true}
	if hr.Spec.Suspend {
		p.update = hr.DeepCopy()
		suspend(p.update, nil)
	}
	if firstInstallRuns(hr) {
		p.remove, p.hold = false, fmt.Sprintf("HelmRelease %s/%s is being installed for the first time, and is deleted once that is over:"+
			" Flux uninstalls only what it has on record", hr.Namespace, hr.Name)
	}
	return p
}

// firstInstallRuns: helm-controller puts a release on record when its install is over. Were it killed in mid-install, and the
// HelmRelease deleted, it would find nothing on record, and leave what Helm has made so far.
func firstInstallRuns(hr *helmv2.HelmRelease) bool {
	if len(hr.Status.History) > 0 {
		return false
	}
	activity := fluxstatus.Observe(fluxstatus.Input{Release: hr}).Activity
	return activity == fluxstatus.Preparing || activity == fluxstatus.Acting
}

// orphaned is the HelmRelease as it must be for Flux to leave the release running; nil if it is so already.
func orphaned(gateway *v1alpha1.APIGateway, hr *helmv2.HelmRelease) *helmv2.HelmRelease {
	if hr.Spec.Suspend {
		return nil
	}
	next, yes := hr.DeepCopy(), true
	own(next, gateway)
	suspend(next, &yes)
	return next
}

// carryOut deletes the HelmRelease just as it was judged: one that was suspended meanwhile would go without an uninstall.
func (r *gatewayReconciler) carryOut(ctx context.Context, s *state, p parting) error {
	if p.update != nil {
		if err := r.updateRelease(ctx, s, p.update); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if !p.remove {
		return nil
	}
	judged := client.Preconditions{UID: &s.release.UID, ResourceVersion: &s.release.ResourceVersion}
	return client.IgnoreNotFound(r.Delete(ctx, s.release, judged))
}

// accountMissing tells whether the ServiceAccount that Flux impersonates in this cluster is gone.
func (r *gatewayReconciler) accountMissing(ctx context.Context, hr *helmv2.HelmRelease) (bool, error) {
	if hr.Spec.ServiceAccountName == "" || hr.Spec.KubeConfig != nil {
		return false, nil
	}
	name := types.NamespacedName{Namespace: hr.Namespace, Name: hr.Spec.ServiceAccountName}
	found, err := exists(r.live.Get(ctx, name, &corev1.ServiceAccount{}))
	return !found && err == nil, err
}

func (r *gatewayReconciler) namespaceTerminates(ctx context.Context, name string) (bool, error) {
	namespace := &corev1.Namespace{}
	found, err := exists(r.live.Get(ctx, types.NamespacedName{Name: name}, namespace))
	return err == nil && (!found || namespace.DeletionTimestamp != nil), err
}
