// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"errors"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// helmRevision is a release in Helm's storage.
type helmRevision struct {
	number   int
	of       contents
	status   string
	deployed metav1.Time
}

// action is what helm-controller does next: its name, the part of the release strategy that it belongs to, and how it goes. An
// error is one that left Helm's storage as it was.
type action struct {
	name, kind string
	run        func(*helmv2.HelmRelease, contents) error
}

var (
	errExceeded = errors.New("retries exceeded")
	errMissing  = errors.New("missing target release for rollback")
)

func (m *helmController) atomicRelease(obj *helmv2.HelmRelease, want contents) {
	done := map[string]bool{}
	for {
		next, err := m.next(obj, want)
		switch {
		case err != nil:
			m.stall(obj, err)
			return
		case next == nil:
			m.remove(obj, meta.ReconcilingCondition)
			m.summarize(obj)
			m.finish(obj, true)
			return
		case done[next.kind]:
			m.stop(obj)
			return
		}
		running := "Running '" + next.name + "' action with timeout of 5m0s"
		m.set(obj, meta.ReconcilingCondition, metav1.ConditionTrue, meta.ProgressingReason, running)
		if next.kind == "release" {
			m.set(obj, meta.ReadyCondition, metav1.ConditionUnknown, meta.ProgressingReason, running)
		}
		m.patch(obj, false)
		if err := next.run(obj, want); err != nil {
			m.finish(obj, false)
			return
		}
		if next.kind == "remediate" {
			m.stopAfterRemediation(obj)
			return
		}
		done[next.kind] = true
		m.patch(obj, false)
	}
}

func (m *helmController) stall(obj *helmv2.HelmRelease, err error) {
	reason := "RetriesExceeded"
	if errors.Is(err, errMissing) {
		reason = "MissingRollbackTarget"
	}
	m.remove(obj, meta.ReconcilingCondition)
	m.set(obj, meta.StalledCondition, metav1.ConditionTrue, reason, err.Error())
	m.awake = false
	m.finish(obj, true)
}

// stop: an action of that kind was done already.
func (m *helmController) stop(obj *helmv2.HelmRelease) {
	remediation := obj.GetActiveRemediation()
	if remediation != nil && remediation.RetriesExhausted(obj) {
		m.remove(obj, meta.ReconcilingCondition)
		m.finish(obj, true)
		return
	}
	m.tryAgain(obj)
}

func (m *helmController) tryAgain(obj *helmv2.HelmRelease) {
	ready := apimeta.FindStatusCondition(obj.Status.Conditions, meta.ReadyCondition)
	m.set(obj, meta.ReconcilingCondition, metav1.ConditionTrue, meta.ProgressingWithRetryReason, ready.Message)
	m.finish(obj, false)
}

func (m *helmController) stopAfterRemediation(obj *helmv2.HelmRelease) {
	remediation := obj.GetActiveRemediation()
	if remediation == nil || !remediation.RetriesExhausted(obj) || remediation.IsUninstallAfterUpgrade() {
		m.tryAgain(obj)
		return
	}
	m.stall(obj, errExceeded)
}

// next is actionForState; nil when nothing is to be done.
func (m *helmController) next(obj *helmv2.HelmRelease, want contents) (*action, error) {
	forced := meta.ShouldHandleForceRequest(obj)
	install := &action{"install", "release", m.install}
	upgrade := &action{"upgrade", "release", m.upgrade}
	last := m.lastRevision()
	latest := obj.Status.History.Latest()
	switch {
	case last == nil:
		if obj.GetInstall().GetRemediation().RetriesExhausted(obj) && !forced {
			return nil, errExceeded
		}
		return install, nil
	case last.status == "pending":
		return &action{"unlock", "unlock", m.unlock}, nil
	case latest == nil, latest.Version != last.number, latest.Status != last.status:
		obj.Status.ClearHistory()
		return upgrade, nil
	case last.status == "failed":
		return m.nextAfterFailure(obj, upgrade, forced)
	case m.outOfSync(obj, last, want):
		if obj.GetUpgrade().GetRemediation().RetriesExhausted(obj) && !forced {
			return nil, errExceeded
		}
		return upgrade, nil
	case m.chance(6):
		return &action{"correct cluster drift", "drift", m.correct}, nil
	}
	return m.inSync(obj, upgrade, forced), nil
}

func (m *helmController) outOfSync(obj *helmv2.HelmRelease, last *helmRevision, want contents) bool {
	return last.of.digest != want.digest || last.of.values != want.values ||
		obj.Status.ObservedGeneration != obj.Generation && obj.Status.ObservedPostRenderersDigest != want.patches
}

func (m *helmController) nextAfterFailure(obj *helmv2.HelmRelease, upgrade *action, forced bool) (*action, error) {
	remediation := obj.GetActiveRemediation()
	if remediation == nil || remediation.GetFailureCount(obj) <= 0 || forced {
		return upgrade, nil
	}
	if remediation.RetriesExhausted(obj) && !remediation.MustRemediateLastFailure() {
		return nil, errExceeded
	}
	obj.Status.History.Truncate(false)
	if remediation.GetStrategy() == helmv2.UninstallRemediationStrategy {
		return &action{"uninstall", "remediate", m.uninstall}, nil
	}
	previous := obj.Status.History.Previous(false)
	switch {
	case previous == nil:
		return nil, errMissing
	case m.revision(previous.Version) == nil:
		return upgrade, nil
	}
	return &action{"rollback", "remediate", m.rollback}, nil
}

// inSync restores what transient errors and rollbacks left in the conditions.
func (m *helmController) inSync(obj *helmv2.HelmRelease, upgrade *action, forced bool) *action {
	obj.Status.History.Truncate(false)
	if forced {
		return upgrade
	}
	conditions := obj.Status.Conditions
	remediated := apimeta.IsStatusConditionTrue(conditions, helmv2.RemediatedCondition)
	released := apimeta.FindStatusCondition(conditions, helmv2.ReleasedCondition)
	failed := released != nil && fluxstatus.IsReleaseFailure(released.Reason) && released.Status == metav1.ConditionFalse
	if remediated || failed {
		m.remove(obj, helmv2.RemediatedCondition)
		m.set(obj, helmv2.ReleasedCondition, metav1.ConditionTrue, helmv2.UpgradeSucceededReason, "Helm upgrade succeeded")
	}
	return nil
}

func (m *helmController) lastRevision() *helmRevision {
	if len(m.helm) == 0 {
		return nil
	}
	return m.helm[len(m.helm)-1]
}

func (m *helmController) revision(number int) *helmRevision {
	for _, revision := range m.helm {
		if revision.number == number {
			return revision
		}
	}
	return nil
}
