// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// What Flux would report is written here, since it does not run.

const digest = "sha256:7fff28b7a7a2bb0a9bd1c7b4e3b5a0b0f6a3e0a8c1d2e3f4a5b6c7d8e9f0a1b2"

// deployAll reports that everything is as it should be, and returns when all gateways say so too.
func (s *stage) deployAll(ctx context.Context, n int) error {
	sources := &sourcev1.OCIRepositoryList{}
	if err := s.api.List(ctx, sources, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range sources.Items {
		if err := s.pulled(ctx, &sources.Items[i]); err != nil {
			return err
		}
	}
	ready, err := watchFor(ctx, s.api, &v1alpha1.APIGatewayList{}, isReady)
	if err != nil {
		return err
	}
	defer ready.stop()
	err = each(ctx, n, func(ctx context.Context, i int) error { return s.report(ctx, gatewayName(i), deployed) })
	if err != nil {
		return err
	}
	_, err = ready.await(ctx, "Ready gateways", namesOf(n)...)
	return err
}

func isReady(g *v1alpha1.APIGateway) bool {
	return g.Status.Phase == v1alpha1.PhaseReady && g.Status.ObservedGeneration == g.Generation
}

func (s *stage) pulled(ctx context.Context, source *sourcev1.OCIRepository) error {
	source.Status.ObservedGeneration = source.Generation
	source.Status.Artifact = &meta.Artifact{
		Path: "p", URL: "http://source/p", Revision: "1.0.0@" + digest, Digest: digest, LastUpdateTime: metav1.Now(),
	}
	source.Status.Conditions = []metav1.Condition{condition(source.Generation, meta.ReadyCondition, metav1.ConditionTrue, meta.SucceededReason, "stored artifact")}
	return s.api.Status().Update(ctx, source)
}

// report reads a HelmRelease and writes its status, as helm-controller does.
func (s *stage) report(ctx context.Context, name string, what func(*helmv2.HelmRelease)) error {
	hr := &helmv2.HelmRelease{}
	if err := s.api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, hr); err != nil {
		return err
	}
	what(hr)
	return s.api.Status().Update(ctx, hr)
}

// deployed: one more revision has what the HelmRelease carries now.
func deployed(hr *helmv2.HelmRelease) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	version := 1
	if latest := hr.Status.History.Latest(); latest != nil {
		version = latest.Version + 1
	}
	hr.Status.ObservedGeneration, hr.Status.LastAttemptedGeneration = hr.Generation, hr.Generation
	hr.Status.LastAttemptedRevision, hr.Status.LastAttemptedRevisionDigest = "1.0.0", digest
	message := fmt.Sprintf("Helm upgrade succeeded for release %s/%s.v%d", hr.Namespace, hr.Name, version)
	hr.Status.Conditions = []metav1.Condition{
		condition(hr.Generation, meta.ReadyCondition, metav1.ConditionTrue, helmv2.UpgradeSucceededReason, message),
		condition(hr.Generation, helmv2.ReleasedCondition, metav1.ConditionTrue, helmv2.UpgradeSucceededReason, message),
	}
	hr.Status.History = helmv2.Snapshots{{
		Digest: digest, Name: hr.GetReleaseName(), Namespace: hr.GetReleaseNamespace(), Version: version, Status: "deployed",
		ChartName: "gateway", ChartVersion: "1.0.0", ConfigDigest: digest, OCIDigest: digest,
		FirstDeployed: now, LastDeployed: now, Action: helmv2.ReleaseActionUpgrade,
	}}
}

// acting: a Helm action runs.
func acting(hr *helmv2.HelmRelease) {
	const message = "Running 'upgrade' action with timeout of 5m0s"
	hr.Status.Conditions = []metav1.Condition{
		condition(hr.Generation, meta.ReconcilingCondition, metav1.ConditionTrue, meta.ProgressingReason, message),
		condition(hr.Generation, meta.ReadyCondition, metav1.ConditionUnknown, meta.ProgressingReason, message),
	}
}

func condition(generation int64, kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: metav1.Now(),
	}
}
