// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"errors"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Helm actions of the model.

func (m *helmController) install(obj *helmv2.HelmRelease, want contents) error {
	obj.Status.ClearHistory()
	return m.release(obj, want, helmv2.ReleaseActionInstall)
}

func (m *helmController) upgrade(obj *helmv2.HelmRelease, want contents) error {
	return m.release(obj, want, helmv2.ReleaseActionUpgrade)
}

// release is an install or an upgrade. It may fail before there is a revision, fail, or be canceled.
func (m *helmController) release(obj *helmv2.HelmRelease, want contents, kind helmv2.ReleaseAction) error {
	obj.Status.LastAttemptedReleaseAction = kind
	m.remove(obj, helmv2.TestSuccessCondition)
	m.remove(obj, helmv2.RemediatedCondition)
	defer m.summarize(obj)
	if m.chance(8) {
		m.fails(obj, kind, "a template does not render")
		return errors.New("no revision")
	}
	revision := m.start(want)
	switch {
	case m.chance(10):
		m.end(obj, revision, "failed", kind)
		m.fails(obj, kind, "context canceled")
	case m.chance(2):
		m.end(obj, revision, "failed", kind)
		m.fails(obj, kind, "timeout")
	default:
		m.end(obj, revision, "deployed", kind)
		m.set(obj, helmv2.ReleasedCondition, metav1.ConditionTrue, string(kind)+"Succeeded", "Helm "+string(kind)+" succeeded")
		return nil
	}
	m.remediation(obj, kind).IncrementFailureCount(obj)
	return nil
}

func (m *helmController) remediation(obj *helmv2.HelmRelease, kind helmv2.ReleaseAction) helmv2.Remediation {
	if kind == helmv2.ReleaseActionInstall {
		return obj.GetInstall().GetRemediation()
	}
	return obj.GetUpgrade().GetRemediation()
}

func (m *helmController) fails(obj *helmv2.HelmRelease, kind helmv2.ReleaseAction, why string) {
	obj.Status.Failures++
	reason := helmv2.UpgradeFailedReason
	if kind == helmv2.ReleaseActionInstall {
		reason = helmv2.InstallFailedReason
	}
	m.set(obj, helmv2.ReleasedCondition, metav1.ConditionFalse, reason, "Helm "+string(kind)+" failed: "+why)
}

// start stores a pending revision; what runs is from now on neither the one nor the other.
func (m *helmController) start(of contents) *helmRevision {
	revision := &helmRevision{number: 1, of: of, status: "pending", deployed: m.tick()}
	if last := m.lastRevision(); last != nil {
		revision.number = last.number + 1
	}
	m.helm = append(m.helm, revision)
	if m.runs != of {
		m.runs = mixture
	}
	m.between()
	return revision
}

// end gives the revision its state, and notes it and what it supersedes in the history.
func (m *helmController) end(obj *helmv2.HelmRelease, revision *helmRevision, status string, kind helmv2.ReleaseAction) {
	if status == "deployed" {
		for _, other := range m.helm {
			if other.status == "deployed" {
				other.status = "superseded"
				m.note(obj, other, kind)
			}
		}
		m.runs = revision.of
	}
	revision.status = status
	s := &helmv2.Snapshot{
		Name: "orders", Namespace: "apis", Version: revision.number, Status: status, Action: kind,
		ChartName: "gateway", ChartVersion: "1.0.0", OCIDigest: revision.of.digest, LastDeployed: revision.deployed,
	}
	if kind == helmv2.ReleaseActionRollback {
		s.OCIDigest = ""
	}
	obj.Status.History = append(helmv2.Snapshots{s}, obj.Status.History...)
}

// note updates a snapshot; a rollback calls all that it touches a rollback.
func (m *helmController) note(obj *helmv2.HelmRelease, revision *helmRevision, kind helmv2.ReleaseAction) {
	for i, s := range obj.Status.History {
		if s.Version == revision.number {
			s = s.DeepCopy()
			s.Status = revision.status
			if kind == helmv2.ReleaseActionRollback {
				s.Action = kind
			}
			obj.Status.History[i] = s
		}
	}
}

func (m *helmController) rollback(obj *helmv2.HelmRelease, _ contents) error {
	previous := m.revision(obj.Status.History.Previous(false).Version)
	defer m.summarize(obj)
	revision := m.start(previous.of)
	if m.chance(6) {
		m.end(obj, revision, "failed", helmv2.ReleaseActionRollback)
		obj.Status.Failures++
		m.set(obj, helmv2.RemediatedCondition, metav1.ConditionFalse, helmv2.RollbackFailedReason, "Helm rollback failed")
		return nil
	}
	m.end(obj, revision, "deployed", helmv2.ReleaseActionRollback)
	m.set(obj, helmv2.RemediatedCondition, metav1.ConditionTrue, helmv2.RollbackSucceededReason, "Helm rollback succeeded")
	return nil
}

// uninstall does not summarize, so that Ready goes on saying what failed.
func (m *helmController) uninstall(obj *helmv2.HelmRelease, _ contents) error {
	m.runs = mixture
	m.between()
	m.helm, m.runs = nil, contents{}
	latest := obj.Status.History.Latest().DeepCopy()
	latest.Status, latest.Action = "uninstalling", helmv2.ReleaseActionUninstallRemediation
	obj.Status.History[0] = latest
	m.set(obj, helmv2.RemediatedCondition, metav1.ConditionTrue, helmv2.UninstallSucceededReason, "Helm uninstall remediation succeeded")
	return nil
}

func (m *helmController) unlock(obj *helmv2.HelmRelease, _ contents) error {
	last := m.lastRevision()
	last.status = "failed"
	m.note(obj, last, helmv2.ReleaseActionUpgrade)
	m.set(obj, helmv2.ReleasedCondition, metav1.ConditionFalse, "PendingRelease", "Unlocked Helm release")
	m.summarize(obj)
	return nil
}

func (m *helmController) correct(obj *helmv2.HelmRelease, _ contents) error {
	m.set(obj, meta.ReadyCondition, metav1.ConditionUnknown, meta.ProgressingReason, "correcting cluster drift")
	return nil
}
