// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

// apply writes what an accepted gateway needs: the finalizer before anything that it would have to clean up, the source
// before what refers to it.
func (r *gatewayReconciler) apply(ctx context.Context, s *state) error {
	if err := r.setFinalizer(ctx, s, controllerutil.AddFinalizer); err != nil {
		return err
	}
	if err := r.applySource(ctx, s); err != nil {
		return err
	}
	return r.applyRelease(ctx, s)
}

// setFinalizer patches the finalizers alone: an update would send the spec back as our types hold it, and change what
// people wrote.
func (r *gatewayReconciler) setFinalizer(ctx context.Context, s *state, change func(client.Object, string) bool) error {
	gateway := s.gateway.DeepCopy()
	if !change(gateway, v1alpha1.Finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(s.gateway, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, gateway, patch); err != nil {
		return err
	}
	s.gateway = gateway
	return nil
}

func (r *gatewayReconciler) applySource(ctx context.Context, s *state) error {
	next := nextSource(s.wanted, s.desired.Source, r.controllerName)
	switch {
	case next == nil:
		return nil
	case s.wanted == nil:
		if err := r.Create(ctx, next); err != nil {
			return about(next, err)
		}
	default:
		if err := r.Update(ctx, next); err != nil {
			return about(next, outdatedIfGone(err))
		}
	}
	s.wanted = next
	return nil
}

// nextSource is what is to be written over the live source; nil when nothing is. A source's name is a hash of its spec, so
// that a spec which differs was edited by hand. One that is going away is made again once it is gone; somebody else's is
// used as it is (see judge).
func nextSource(live, desired *sourcev1.OCIRepository, controllerName string) *sourcev1.OCIRepository {
	if live == nil {
		next := desired.DeepCopy()
		next.Annotations = map[string]string{v1alpha1.AnnotationMadeBy: maker(controllerName, desired)}
		return next
	}
	if live.DeletionTimestamp != nil || !madeBy(live, controllerName) {
		return nil
	}
	next := live.DeepCopy()
	next.Labels = relabelled(next.Labels, desired.Labels)
	next.Spec = *desired.Spec.DeepCopy()
	if sameSource(live, next) && maps.Equal(live.Labels, next.Labels) {
		return nil
	}
	return next
}

// maker is the mark on a source that the operator made: its controller name and, where the source is of a shard, that.
func maker(controllerName string, source *sourcev1.OCIRepository) string {
	if shard := source.Labels[v1alpha1.LabelShard]; shard != "" {
		return controllerName + "," + shard
	}
	return controllerName
}

func madeBy(source *sourcev1.OCIRepository, controllerName string) bool {
	name, _, _ := strings.Cut(source.Annotations[v1alpha1.AnnotationMadeBy], ",")
	return name == controllerName
}

// relabelled are the labels with ours as they must be; foreign ones stay. The shard is ours: without one there is none.
func relabelled(live, ours map[string]string) map[string]string {
	next := with(live, ours)
	if _, sharded := ours[v1alpha1.LabelShard]; !sharded {
		delete(next, v1alpha1.LabelShard)
	}
	return next
}

func sameSource(a, b *sourcev1.OCIRepository) bool {
	return apiequality.Semantic.DeepEqual(a.Spec, b.Spec)
}

func (r *gatewayReconciler) applyRelease(ctx context.Context, s *state) error {
	if s.release == nil {
		s.release = newRelease(s)
		if err := r.Create(ctx, s.release); err != nil {
			err = about(s.release, err)
			s.release = nil
			return err
		}
		r.written.know(s.release)
		return nil
	}
	next := nextRelease(s)
	if next == nil {
		return nil
	}
	if err := r.recordSuccess(ctx, s, next); err != nil {
		return err
	}
	return r.updateRelease(ctx, s, next)
}

// updateRelease writes by update, neither patch nor apply: values carry nulls, which a merge patch cannot, and keys that
// somebody added by hand must go, which server-side apply would leave.
func (r *gatewayReconciler) updateRelease(ctx context.Context, s *state, next *helmv2.HelmRelease) error {
	r.written.try(s.release)
	if err := r.Update(ctx, next); err != nil {
		return about(next, outdatedIfGone(err))
	}
	r.written.know(next)
	s.release = next
	return nil
}

// about says which object the API server's answer is about: its own words often name another.
func about(o client.Object, err error) error {
	kind := helmv2.HelmReleaseKind
	if _, ok := o.(*sourcev1.OCIRepository); ok {
		kind = sourcev1.OCIRepositoryKind
	}
	return fmt.Errorf("%s %s: %w", kind, client.ObjectKeyFromObject(o), err)
}

// outdatedIfGone: what was to be updated has been deleted meanwhile. The cache will tell.
func outdatedIfGone(err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: %w", errOutdated, err)
	}
	return err
}

// recordSuccess writes what the status says of a success before the spec that succeeded is overwritten: whether a rollback
// has brought it back can be told by that record alone.
func (r *gatewayReconciler) recordSuccess(ctx context.Context, s *state, next *helmv2.HelmRelease) error {
	if fluxobjects.SpecEqual(s.release.Spec, next.Spec) {
		return nil
	}
	status, before := r.computeStatus(s, nil), s.gateway.Status
	if apiequality.Semantic.DeepEqual(before.Release, status.Release) && apiequality.Semantic.DeepEqual(before.History, status.History) {
		return nil
	}
	return r.writeStatus(ctx, s, status)
}
