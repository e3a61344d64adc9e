// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/test/cluster"
)

// kustomizationKind is read as it is: its Go types are in a module that Sluice has no other use for.
var kustomizationKind = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}

type kustomizationStatus struct {
	ObservedGeneration    int64              `json:"observedGeneration"`
	LastAttemptedRevision string             `json:"lastAttemptedRevision"`
	LastAppliedRevision   string             `json:"lastAppliedRevision"`
	Conditions            []metav1.Condition `json:"conditions"`
}

func (d *demo) kustomization(ctx context.Context) (kustomizationStatus, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kustomizationKind)
	var status kustomizationStatus
	if err := d.client.Get(ctx, client.ObjectKey{Namespace: cluster.FluxNamespace, Name: team}, object); err != nil {
		return status, err
	}
	content, _, err := unstructured.NestedMap(object.Object, "status")
	if err != nil {
		return status, err
	}
	return status, runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status)
}

// kustomizationApplied: the objects of the last commit are applied once Flux checks their health.
func (d *demo) kustomizationApplied(ctx context.Context) (string, error) {
	status, err := d.kustomization(ctx)
	if err != nil {
		return "", err
	}
	healthy := apimeta.FindStatusCondition(status.Conditions, meta.HealthyCondition)
	checked := healthy != nil && strings.Contains(healthy.Message, d.gitRevision())
	if status.LastAttemptedRevision != d.gitRevision() || !checked && status.LastAppliedRevision != d.gitRevision() {
		return "", unmet(status.Conditions)
	}
	return d.gitRevision(), nil
}

// kustomizationReady: with wait: true, Flux says so once all that the commit holds is ready.
func (d *demo) kustomizationReady(ctx context.Context) (string, error) {
	status, err := d.kustomization(ctx)
	if err != nil {
		return "", err
	}
	if status.LastAppliedRevision != d.gitRevision() || !apimeta.IsStatusConditionTrue(status.Conditions, meta.ReadyCondition) {
		return "", unmet(status.Conditions)
	}
	return d.gitRevision(), nil
}

// sourcePulled: there is an OCIRepository for the chart's version, and it has its artifact.
func (d *demo) sourcePulled(version string) action {
	return func(ctx context.Context) (string, error) {
		sources := &sourcev1.OCIRepositoryList{}
		if err := d.client.List(ctx, sources, client.InNamespace(d.gateway.Namespace)); err != nil {
			return "", err
		}
		for _, source := range sources.Items {
			if source.Spec.Reference == nil || source.Spec.Reference.Tag != version {
				continue
			}
			if source.Status.Artifact == nil {
				return "", unmet(source.Status.Conditions)
			}
			return source.Name + ": " + source.Status.Artifact.Revision, nil
		}
		return "", fmt.Errorf("no OCIRepository in namespace %s has the tag %s", d.gateway.Namespace, version)
	}
}

func (d *demo) release(ctx context.Context) (*helmv2.HelmRelease, error) {
	release := &helmv2.HelmRelease{}
	return release, d.client.Get(ctx, d.gateway, release)
}

// latest is the snapshot of the highest revision; the history is not sorted.
func latest(release *helmv2.HelmRelease) *helmv2.Snapshot {
	highest := &helmv2.Snapshot{}
	for _, snapshot := range release.Status.History {
		if snapshot.Version > highest.Version {
			highest = snapshot
		}
	}
	return highest
}

// snapshot is that of a revision; empty when the history has it no more.
func snapshot(release *helmv2.HelmRelease, revision int64) *helmv2.Snapshot {
	for _, snapshot := range release.Status.History {
		if int64(snapshot.Version) == revision {
			return snapshot
		}
	}
	return &helmv2.Snapshot{}
}

func describe(s *helmv2.Snapshot) string {
	version, _, _ := strings.Cut(s.ChartVersion, "+") // Flux appends the digest
	return fmt.Sprintf("revision %d: %s %s, %s", s.Version, s.ChartName, version, s.Status)
}

// helmRevision is the highest revision of the release; 0 without one.
func (d *demo) helmRevision(ctx context.Context) (int64, error) {
	release, err := d.release(ctx)
	if client.IgnoreNotFound(err) != nil {
		return 0, err
	}
	return int64(latest(release).Version), nil
}

// releaseDeployed: the HelmRelease as it is now is deployed, with the chart's version.
func (d *demo) releaseDeployed(version string) action {
	return func(ctx context.Context) (string, error) {
		release, err := d.release(ctx)
		if err != nil {
			return "", err
		}
		ready := apimeta.FindStatusCondition(release.Status.Conditions, meta.ReadyCondition)
		current := ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == release.Generation
		if !current || !strings.HasPrefix(latest(release).ChartVersion, version+"+") {
			return "", unmet(release.Status.Conditions)
		}
		return describe(latest(release)), nil
	}
}

// upgradeFailed: Helm gave up on the attempt at the HelmRelease as it is now.
func (d *demo) upgradeFailed(ctx context.Context) (string, error) {
	release, err := d.release(ctx)
	if err != nil {
		return "", err
	}
	released := apimeta.FindStatusCondition(release.Status.Conditions, helmv2.ReleasedCondition)
	if released == nil || released.Status != metav1.ConditionFalse || release.Status.LastAttemptedGeneration != release.Generation {
		return "", unmet(release.Status.Conditions)
	}
	return released.Reason + ": " + cut(released.Message, lineRoom), nil
}

// rolledBack: Flux rests, and what ran before the commit runs again, under a revision of its own.
func (d *demo) rolledBack(ctx context.Context) (string, error) {
	release, err := d.release(ctx)
	if err != nil {
		return "", err
	}
	conditions := release.Status.Conditions
	if !apimeta.IsStatusConditionTrue(conditions, helmv2.RemediatedCondition) || !apimeta.IsStatusConditionTrue(conditions, meta.StalledCondition) {
		return "", unmet(conditions)
	}
	now, before := latest(release), snapshot(release, d.revision)
	if now.Status != helmStatusDeployed || now.ConfigDigest != before.ConfigDigest || now.ChartVersion != before.ChartVersion {
		return "", fmt.Errorf("%s; it is not what revision %d was", describe(now), d.revision)
	}
	return fmt.Sprintf("%s, with chart and values of revision %d", describe(now), d.revision), nil
}

// helmStatusDeployed is Helm's word for the revision that runs.
const helmStatusDeployed = "deployed"

// oneRevision: since the last commit Helm made one revision, no more and no less.
func (d *demo) oneRevision(ctx context.Context) (string, error) {
	now, err := d.helmRevision(ctx)
	if err != nil {
		return "", err
	}
	if now != d.revision+1 {
		return "", fmt.Errorf("the revision went from %d to %d; it should have gone up by one", d.revision, now)
	}
	return fmt.Sprintf("from %d to %d: chart and values switched together", d.revision, now), nil
}
