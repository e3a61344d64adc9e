// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/sha256"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// digestOf is the digest that this suite gives the chart of a source.
func digestOf(source string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(source))) }

// pulled sets the status of a source as source-controller does once it has the chart.
func (w *world) pulled(source string) {
	w.Helper()
	o := &sourcev1.OCIRepository{}
	w.must(w.get(source, o))
	revision := "1.0.0@" + digestOf(source)
	o.Status.ObservedGeneration = o.Generation
	o.Status.Artifact = &meta.Artifact{
		Path: "p", URL: "http://source/p", Revision: revision, Digest: digestOf(source), LastUpdateTime: metav1.Now(),
	}
	o.Status.Conditions = ready(metav1.ConditionTrue, meta.SucceededReason, "stored artifact for digest '"+revision+"'", o.Generation)
	w.must(admin.Status().Update(w.ctx, o))
}

// notPulled sets the status of a source whose tag does not exist.
func (w *world) notPulled(source string) {
	w.Helper()
	o := &sourcev1.OCIRepository{}
	w.must(w.get(source, o))
	o.Status.ObservedGeneration = -1
	o.Status.Conditions = ready(metav1.ConditionFalse, sourcev1.OCIPullFailedReason, "MANIFEST_UNKNOWN: no such tag", o.Generation)
	w.must(admin.Status().Update(w.ctx, o))
}

// deployed sets the status of a HelmRelease as helm-controller does after a success of what it carries now.
func (w *world) deployed(name string) {
	w.Helper()
	hr := w.release(name)
	digest := digestOf(hr.Spec.ChartRef.Name)
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	version := 1
	if latest := hr.Status.History.Latest(); latest != nil {
		version = latest.Version + 1
	}
	hr.Status.ObservedGeneration = hr.Generation
	hr.Status.LastAttemptedGeneration = hr.Generation
	hr.Status.LastAttemptedRevision = "1.0.0"
	hr.Status.LastAttemptedRevisionDigest = digest
	hr.Status.Conditions = ready(metav1.ConditionTrue, helmv2.UpgradeSucceededReason, "Helm upgrade succeeded", hr.Generation)
	hr.Status.History = append(helmv2.Snapshots{{
		Digest: digest, Name: hr.GetReleaseName(), Namespace: hr.GetReleaseNamespace(), Version: version, Status: "deployed",
		ChartName: "gateway", ChartVersion: "1.0.0", ConfigDigest: digest, OCIDigest: digest,
		FirstDeployed: now, LastDeployed: now, Action: helmv2.ReleaseActionUpgrade,
	}}, hr.Status.History...)
	w.must(admin.Status().Update(w.ctx, hr))
}

func ready(status metav1.ConditionStatus, reason, message string, generation int64) []metav1.Condition {
	return []metav1.Condition{{
		Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message,
		ObservedGeneration: generation, LastTransitionTime: metav1.Now(),
	}}
}

// running brings a gateway to where its release is deployed, and returns its HelmRelease.
func (w *world) running(name, spec string) *helmv2.HelmRelease {
	w.Helper()
	w.gateway(name, spec)
	hr := w.awaitRelease(name, "exists", nil)
	w.await("source of "+name, func() error { return w.get(hr.Spec.ChartRef.Name, &sourcev1.OCIRepository{}) })
	w.pulled(hr.Spec.ChartRef.Name)
	w.deployed(name)
	w.awaitReason(name, "Ready", "Ready")
	return w.release(name)
}
