// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
)

// seen runs a story whose summaries are of no interest here.
func seen(t *testing.T, worlds ...func(*gatewaystatus.Input)) v1alpha1.APIGatewayStatus {
	t.Helper()
	in := gatewaystatus.Input{Gateway: &v1alpha1.APIGateway{}, Now: flux.Noon}
	in.Gateway.Name, in.Gateway.Namespace = "orders", "team-a"
	for _, world := range worlds {
		world(&in)
		in.Gateway.Status = stored(t, compute(t, "history", in))
		in.Now = metav1.NewTime(in.Now.Add(time.Minute))
	}
	return in.Gateway.Status
}

// revision made as flux.Snapshot makes them: the old chart at the first attempt, the new one at the second.
func revision(number int, version, status, action, hash string) v1alpha1.RevisionStatus {
	deployed, attempt := flux.At(time.Duration(number-60)*time.Minute), int64(2)
	if version == "1.1.0" {
		attempt = 1
	}
	return v1alpha1.RevisionStatus{
		Revision: int64(number), ChartVersion: version, Status: status, Action: action, Deployed: &deployed, Attempt: attempt, DesiredHash: hash,
	}
}

func firstSeenAt(attempt int64, entry v1alpha1.RevisionStatus) v1alpha1.RevisionStatus {
	entry.Attempt = attempt
	return entry
}

func contentHash(version, digest string) string {
	return fluxobjects.ContentHash(fluxobjects.Make(chart(version), fluxobjects.SharedSources).Release.Spec, digest)
}

func TestHistory(t *testing.T) {
	oldHash, newHash := contentHash("1.1.0", flux.OldDigest), contentHash("1.2.0", flux.Digest)
	old := now(wants(chart("1.1.0")), source(flux.ReadySource(flux.OldChart)), release(1, oldDeployed))
	upgrade := now(wants(chart("1.2.0")), source(flux.ReadySource()), release(2, upgraded,
		flux.History(flux.Snapshot(6, "deployed", "upgrade"), flux.OldSnapshot(5, "superseded", "upgrade"))))
	reports := func(snapshots ...*helmv2.Snapshot) func(*gatewaystatus.Input) {
		return release(2, upgraded, flux.History(snapshots...))
	}
	anew := flux.Snapshot(1, "deployed", "install")
	anew.LastDeployed = flux.At(time.Minute)
	reinstalled := revision(1, "1.2.0", "deployed", "install", newHash)
	reinstalled.Deployed = &anew.LastDeployed
	for what, c := range map[string]struct {
		worlds []func(*gatewaystatus.Input)
		want   []v1alpha1.RevisionStatus
	}{
		"one revision": {[]func(*gatewaystatus.Input){old}, []v1alpha1.RevisionStatus{revision(5, "1.1.0", "deployed", "upgrade", oldHash)}},
		"an upgrade": {[]func(*gatewaystatus.Input){old, upgrade}, []v1alpha1.RevisionStatus{
			revision(6, "1.2.0", "deployed", "upgrade", newHash), revision(5, "1.1.0", "superseded", "upgrade", oldHash),
		}},
		"Flux forgets: what was deployed is superseded": {
			[]func(*gatewaystatus.Input){old, reports(flux.Snapshot(6, "deployed", "upgrade"))}, []v1alpha1.RevisionStatus{
				revision(6, "1.2.0", "deployed", "upgrade", ""), revision(5, "1.1.0", "superseded", "upgrade", oldHash),
			},
		},
		"a rollback: the revision before keeps the action that made it": {
			[]func(*gatewaystatus.Input){old, now(wants(chart("1.2.0")), source(flux.ReadySource()), release(2, rests, rolledBack))}, []v1alpha1.RevisionStatus{
				firstSeenAt(2, revision(7, "1.1.0", "deployed", "rollback", "")), revision(6, "1.2.0", "failed", "upgrade", ""),
				revision(5, "1.1.0", "superseded", "upgrade", oldHash),
			},
		},
		"five are kept, whatever their order": {
			[]func(*gatewaystatus.Input){
				old, now(wants(chart("1.2.0")), source(flux.ReadySource()), reports(flux.Snapshot(7, "superseded", "upgrade"), flux.Snapshot(6, "superseded", "upgrade"))),
				reports(flux.Snapshot(9, "deployed", "upgrade"), flux.Snapshot(4, "superseded", "upgrade"), flux.Snapshot(8, "failed", "upgrade")),
			}, []v1alpha1.RevisionStatus{
				revision(9, "1.2.0", "deployed", "upgrade", newHash), revision(8, "1.2.0", "failed", "upgrade", ""),
				revision(7, "1.2.0", "superseded", "upgrade", ""), revision(6, "1.2.0", "superseded", "upgrade", ""),
				revision(5, "1.1.0", "superseded", "upgrade", oldHash),
			},
		},
		"installed anew, numbers start at 1 again": {
			[]func(*gatewaystatus.Input){
				now(wants(chart("1.2.0")), source(flux.ReadySource()), release(1, installed)), upgrade, reports(anew),
			}, []v1alpha1.RevisionStatus{
				reinstalled, revision(6, "1.2.0", "superseded", "upgrade", newHash), firstSeenAt(2, revision(5, "1.1.0", "superseded", "upgrade", "")),
				firstSeenAt(1, revision(1, "1.2.0", "superseded", "install", newHash)),
			},
		},
		"while Flux reports none, what is known stays": {
			[]func(*gatewaystatus.Input){old, reports()}, []v1alpha1.RevisionStatus{revision(5, "1.1.0", "deployed", "upgrade", oldHash)},
		},
	} {
		t.Run(what, func(t *testing.T) {
			if got := text(t, seen(t, c.worlds...).History); got != text(t, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, text(t, c.want))
			}
		})
	}
}

func TestTheRestOfTheStatus(t *testing.T) {
	deployed := flux.At(-54 * time.Minute)
	want := v1alpha1.APIGatewayStatus{
		ObservedGeneration: 1,
		Phase:              v1alpha1.PhaseReady,
		ClassName:          "wso2",
		Source:             &v1alpha1.SourceStatus{Name: newSource, Namespace: "team-a", Revision: flux.Revision},
		Release: &v1alpha1.ReleaseStatus{
			Name: "orders", Namespace: "apis", ChartVersion: "1.2.0", AppVersion: "4.5", Revision: 6, Status: "deployed",
			LastDeployed: &deployed, DesiredHash: contentHash("1.2.0", flux.Digest),
		},
	}
	got := seen(t, now(wants(chart("1.2.0")), source(flux.ReadySource()), release(2, upgraded, flux.History(flux.Snapshot(6, "deployed", "upgrade")))))
	got.History, got.Conditions = nil, nil
	if text(t, got) != text(t, want) {
		t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, want))
	}
}

// TestHandedOnRequestsStay: the operator writes what it handed on into the status, and a later status keeps it.
func TestHandedOnRequestsStay(t *testing.T) {
	got := seen(t, now(wants(chart("1.2.0")), func(in *gatewaystatus.Input) { in.Gateway.Status.LastHandledReconcileAt = "now" }))
	if got.LastHandledReconcileAt != "now" {
		t.Errorf("lastHandledReconcileAt became %q", got.LastHandledReconcileAt)
	}
}

// TestUninstalled: what Flux reports of a release that it took away ends with "uninstalling".
func TestUninstalled(t *testing.T) {
	failedFirst := release(1, installFailed, flux.History(flux.Snapshot(1, "failed", "install")), flux.Reconciling("Running 'uninstall' action with timeout of 5m0s"))
	for what, c := range map[string]struct {
		then func(*gatewaystatus.Input)
		want string
	}{
		"it goes":            {failedFirst, "failed"},
		"it is gone":         {release(1, uninstalled, flux.Observed(1), flux.Stalled("RetriesExceeded")), "uninstalled"},
		"it could not go":    {release(1, installFailed, flux.History(flux.Snapshot(1, "uninstalling", "uninstall-remediation"))), "uninstalling"},
		"the next one began": {release(1, flux.Attempted(1), forced("a"), flux.Reconciling(flux.RunningInstall)), "failed"},
	} {
		t.Run(what, func(t *testing.T) {
			got := seen(t, now(wants(chart("1.2.0")), source(flux.ReadySource())), failedFirst, c.then)
			if got.Release.Status != c.want || got.History[0].Status != c.want {
				t.Errorf("got %q and %q, want %q", got.Release.Status, got.History[0].Status, c.want)
			}
		})
	}
}

func TestTransitionTimes(t *testing.T) {
	times := func(status v1alpha1.APIGatewayStatus) map[string]string {
		out := map[string]string{}
		for _, c := range status.Conditions {
			out[c.Type] = c.LastTransitionTime.UTC().Format("15:04")
		}
		return out
	}
	want := map[string]string{"Accepted": "12:00", "SourceReady": "12:00", "Programmed": "12:02", "Ready": "12:02"}
	got := times(seen(t,
		now(wants(chart("1.2.0")), source(flux.ReadySource()), release(1)),
		release(1, flux.Reconciling(flux.RunningInstall)), // another message is no transition
		release(1, installed),
		release(1, installed, flux.Reconciling(flux.Prerequisites)),
	))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLongMessages: the API takes 32768 characters, which may be more bytes.
func TestLongMessages(t *testing.T) {
	for what, c := range map[string]struct{ message, want string }{
		"at the limit":       {strings.Repeat("ü", 32768), strings.Repeat("ü", 32768)},
		"one above it":       {strings.Repeat("ü", 32769), strings.Repeat("ü", 32767) + "…"},
		"not text at all":    {strings.Repeat("\xff", 40000), strings.Repeat("\ufffd", 32767) + "…"},
		"far from the limit": {"short", "short"},
	} {
		t.Run(what, func(t *testing.T) {
			status := seen(t, now(wants(chart("1.2.0")), source(flux.ReadySource()), release(1, flux.Attempted(1), flux.Ready("False", "InstallFailed", c.message))))
			ready := status.Conditions[3]
			if ready.Type != "Ready" || ready.Message != c.want {
				t.Errorf("%s has %d characters, want %d", ready.Type, utf8.RuneCountInString(ready.Message), utf8.RuneCountInString(c.want))
			}
			for _, condition := range status.Conditions {
				if n := utf8.RuneCountInString(condition.Message); n > 32768 {
					t.Errorf("%s has %d characters", condition.Type, n)
				}
			}
		})
	}
}
