// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus_test

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
)

// TestObserveAReleaseThatGoesWell follows helm-controller from a new HelmRelease to drift that it corrects.
func TestObserveAReleaseThatGoesWell(t *testing.T) {
	installed := flux.Snapshot(1, "deployed", "install")
	drifted := metav1.Condition{Type: "Drifted", Status: "True", Reason: "DriftDetected", Message: "Deployment/apis/orders removed", ObservedGeneration: 1, LastTransitionTime: flux.Noon}
	inSync := func(parts ...flux.Part) *helmv2.HelmRelease {
		all := []flux.Part{flux.Attempted(1), flux.Observed(1), flux.Ready("True", "InstallSucceeded", flux.InstallSucceeded), flux.History(installed)}
		return flux.Release(desired(), 1, append(all, parts...)...)
	}
	inSyncSeen := func(set func(*fluxstatus.Observation)) fluxstatus.Observation {
		return seen(func(o *fluxstatus.Observation) {
			tried(o, "1/"+flux.Digest+"/")
			o.Observed, o.Activity = true, fluxstatus.Idle
			o.Ready = says("True", "InstallSucceeded", flux.InstallSucceeded)
			o.Latest, o.History = installed, []*helmv2.Snapshot{installed}
			set(o)
		})
	}
	for what, c := range map[string]struct {
		hr   *helmv2.HelmRelease
		want fluxstatus.Observation
	}{
		"nobody has looked at it": {flux.Release(desired(), 1), seen(func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Unseen })},
		"prerequisites are looked at": {
			flux.Release(desired(), 1, flux.Reconciling(flux.Prerequisites)),
			seen(func(o *fluxstatus.Observation) { o.Activity, o.Reconciling = fluxstatus.Preparing, flux.Prerequisites }),
		},
		"the source is not ready": {
			flux.Release(desired(), 1, flux.Reconciling(flux.Prerequisites), flux.Ready("False", "SourceNotReady", "does not have an artifact")),
			seen(func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Blocked, flux.Prerequisites
				o.Ready = says("False", "SourceNotReady", "does not have an artifact")
			}),
		},
		"the install runs": {
			flux.Release(desired(), 1, flux.Attempted(1), flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall)),
			seen(func(o *fluxstatus.Observation) {
				tried(o, "1/"+flux.Digest+"/")
				o.Activity, o.Reconciling, o.Unfinished = fluxstatus.Acting, flux.RunningInstall, true
				o.Ready = says("Unknown", "Progressing", flux.RunningInstall)
			}),
		},
		"it is installed": {inSync(), inSyncSeen(func(*fluxstatus.Observation) {})},
		"it is suspended since": {
			inSync(flux.Suspended, func(hr *helmv2.HelmRelease) { hr.Generation = 2 }),
			inSyncSeen(func(o *fluxstatus.Observation) {
				o.Suspended, o.Attempted, o.Observed, o.Ready.Current = true, false, false, false
			}),
		},
		"it is resumed, and nobody has looked at it yet": {
			inSync(func(hr *helmv2.HelmRelease) { hr.Generation = 3 }),
			inSyncSeen(func(o *fluxstatus.Observation) {
				o.Activity, o.Attempted, o.Observed, o.Ready.Current = fluxstatus.Unseen, false, false, false
			}),
		},
		"the interval's look at prerequisites": {
			inSync(flux.Reconciling(flux.Prerequisites)),
			inSyncSeen(func(o *fluxstatus.Observation) { o.Activity, o.Reconciling = fluxstatus.Preparing, flux.Prerequisites }),
		},
		"drift is being corrected": {
			inSync(flux.Reconciling(flux.RunningCorrection), flux.Condition("Drifted", "True", "DriftDetected", "Deployment/apis/orders removed")),
			inSyncSeen(func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling = fluxstatus.Correcting, flux.RunningCorrection
				o.Mirrored = []metav1.Condition{drifted}
			}),
		},
		"another chart is wanted than was attempted": {
			inSync(func(hr *helmv2.HelmRelease) { hr.Status.LastAttemptedRevisionDigest = "latest@" + flux.OldDigest }),
			inSyncSeen(func(o *fluxstatus.Observation) {
				o.AttemptedChart, o.Attempted, o.Attempt = false, false, "1/"+flux.OldDigest+"/"
			}),
		},
		"helm-controller was killed in mid-upgrade, and looks at prerequisites": {
			inSync(flux.Reconciling(flux.Prerequisites), func(hr *helmv2.HelmRelease) {
				hr.Status.Conditions[0].Status, hr.Status.Conditions[0].Message = "Unknown", flux.RunningUpgrade
			}),
			inSyncSeen(func(o *fluxstatus.Observation) {
				o.Activity, o.Reconciling, o.Unfinished = fluxstatus.Preparing, flux.Prerequisites, true
				o.Ready = says("Unknown", "InstallSucceeded", flux.RunningUpgrade)
			}),
		},
		"a tag that is no version: the attempt's digest comes with the tag": {
			inSync(func(hr *helmv2.HelmRelease) { hr.Status.LastAttemptedRevisionDigest = "latest@" + flux.Digest }),
			inSyncSeen(func(*fluxstatus.Observation) {}),
		},
	} {
		t.Run(what, func(t *testing.T) {
			compare(t, fluxstatus.Observe(fluxstatus.Input{Desired: desired(), Release: c.hr, Source: flux.ReadySource()}), c.want)
		})
	}
}

func TestObserveHistory(t *testing.T) {
	at := func(version int, status string, action helmv2.ReleaseAction, digest string) *helmv2.Snapshot {
		s := flux.Snapshot(version, status, action)
		s.OCIDigest = digest
		return s
	}
	type judged struct{ deployed, fromRollback, digestIgnored, uninstalled, onceSucceeded bool }
	for what, c := range map[string]struct {
		history  helmv2.Snapshots
		versions []int
		want     judged
	}{
		"none": {nil, nil, judged{}},
		"unsorted, with a hole": {
			helmv2.Snapshots{at(9, "deployed", "upgrade", flux.Digest), at(4, "superseded", "upgrade", flux.OldDigest), nil, at(8, "failed", "upgrade", flux.OldDigest)},
			[]int{9, 8, 4}, judged{deployed: true, onceSucceeded: true},
		},
		"a rollback's snapshot has no digest": {
			helmv2.Snapshots{at(6, "failed", "upgrade", flux.Digest), at(7, "deployed", "rollback", ""), at(5, "superseded", "rollback", flux.OldDigest)},
			[]int{7, 6, 5}, judged{deployed: true, fromRollback: true, onceSucceeded: true},
		},
		"the digest comes with a tag": {
			helmv2.Snapshots{at(2, "deployed", "upgrade", "latest@"+flux.Digest)}, []int{2}, judged{deployed: true, onceSucceeded: true},
		},
		"the digest is another": {
			helmv2.Snapshots{at(2, "deployed", "upgrade", "latest@"+flux.OldDigest)}, []int{2},
			judged{deployed: true, onceSucceeded: true, digestIgnored: true},
		},
		"a failed first install": {helmv2.Snapshots{at(1, "failed", "install", flux.Digest)}, []int{1}, judged{}},
		"a failed first install, uninstalled: the last state that Helm stored": {
			helmv2.Snapshots{at(1, "uninstalling", "uninstall-remediation", flux.Digest)}, []int{1}, judged{uninstalled: true},
		},
		"a failed upgrade, uninstalled": {
			helmv2.Snapshots{at(2, "uninstalled", "uninstall-remediation", flux.Digest), at(1, "deployed", "uninstall-remediation", flux.OldDigest)},
			[]int{2, 1}, judged{uninstalled: true},
		},
		"a failed upgrade": {
			helmv2.Snapshots{at(2, "failed", "upgrade", flux.Digest), at(1, "deployed", "install", flux.OldDigest)}, []int{2, 1}, judged{onceSucceeded: true},
		},
	} {
		t.Run(what, func(t *testing.T) {
			o := fluxstatus.Observe(fluxstatus.Input{Release: flux.Release(desired(), 1, flux.History(c.history...)), Source: flux.ReadySource()})
			var versions []int
			for _, s := range o.History {
				versions = append(versions, s.Version)
			}
			got := judged{o.Deployed(), o.FromRollback(), o.DigestIgnored(), o.Uninstalled(), o.OnceSucceeded()}
			if got != c.want || len(versions) != len(c.versions) {
				t.Fatalf("got %v %+v, want %v %+v", versions, got, c.versions, c.want)
			}
			for i, version := range c.versions {
				if versions[i] != version || i == 0 && o.Latest.Version != version {
					t.Errorf("got %v, latest %d; want %v", versions, o.Latest.Version, c.versions)
				}
			}
		})
	}
}

func TestAuthorVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.0+7fff28b7a7a2":       "1.2.0",
		"1.2.0-rc.1+7fff28b7a7a2":  "1.2.0-rc.1",
		"1.2.0":                    "1.2.0",
		"1.2.0+build.5":            "1.2.0+build.5",
		"1.2.0+7fff28b7a7a2.extra": "1.2.0+7fff28b7a7a2.extra",
	} {
		if got := fluxstatus.AuthorVersion(version); got != want {
			t.Errorf("AuthorVersion(%q) = %q, want %q", version, got, want)
		}
	}
}
