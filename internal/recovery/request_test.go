// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"reflect"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	"github.com/sluice-gateway/sluice/internal/recovery"
)

const (
	requestedAt = "reconcile.fluxcd.io/requestedAt"
	forceAt     = "reconcile.fluxcd.io/forceAt"
	resetAt     = "reconcile.fluxcd.io/resetAt"
	token       = "2026-11-03T12:00:00Z"
)

var (
	forced  = recovery.Request{Annotations: map[string]string{requestedAt: token, forceAt: token}}
	nothing = recovery.Request{}
)

// asked is a gateway that people asked something of, and what was handed on before.
func asked(annotations map[string]string, handled string) recovery.Input {
	return recovery.Input{
		Annotations: annotations,
		Status:      v1alpha1.APIGatewayStatus{LastHandledReconcileAt: handled},
		Observation: resting("1", nil),
		Now:         noon,
	}
}

// due is a gateway whose next round starts then.
func due(next *metav1.Time) recovery.Input {
	return recovery.Input{
		Status:      v1alpha1.APIGatewayStatus{Failures: 1, LastFailure: failed("1", "timeout", at(-time.Minute)), NextRetryTime: next},
		Observation: resting("1", &fluxstatus.Failure{Reason: "UpgradeFailed", Message: "timeout"}),
		Now:         noon,
	}
}

func but(in recovery.Input, set func(*fluxstatus.Observation)) recovery.Input {
	set(&in.Observation)
	return in
}

func TestCorrections(t *testing.T) {
	disturbed := func(sets ...func(*recovery.Input)) recovery.Input {
		in := asked(nil, "")
		in.Observation.Ready = fluxstatus.Statement{Status: "True", Reason: "UpgradeSucceeded", Current: true}
		in.Status.History = []v1alpha1.RevisionStatus{{Revision: 1, DesiredHash: in.Observation.ContentHash}}
		in.Disturbed = true
		for _, set := range sets {
			set(&in)
		}
		return in
	}
	observed := func(set func(*fluxstatus.Observation)) func(*recovery.Input) {
		return func(in *recovery.Input) { set(&in.Observation) }
	}
	correct := recovery.Request{Annotations: map[string]string{requestedAt: token}, Corrects: true}
	for what, c := range map[string]struct {
		in   recovery.Input
		want recovery.Request
	}{
		"nothing was disturbed":          {disturbed(func(in *recovery.Input) { in.Disturbed = false }), nothing},
		"it was":                         {disturbed(), correct},
		"10 s after the last correction": {disturbed(func(in *recovery.Input) { in.Corrected = noon.Add(-10 * time.Second) }), correct},
		"sooner":                         {disturbed(func(in *recovery.Input) { in.Corrected = noon.Add(-3 * time.Second) }), recovery.Request{After: 7 * time.Second}},
		"while another spec is wanted, whose chart is not there yet": {disturbed(observed(func(o *fluxstatus.Observation) { o.Carries = false })), correct},
		"people's requests go first": {
			disturbed(func(in *recovery.Input) { in.Annotations = map[string]string{requestedAt: "now"} }),
			recovery.Request{Annotations: map[string]string{requestedAt: "now"}, Handled: "now"},
		},
		"not while it is suspended": {disturbed(observed(func(o *fluxstatus.Observation) { o.Suspended = true })), nothing},
		"not while Flux is at work": {disturbed(observed(func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Acting })), nothing},
		"not while Flux corrects":   {disturbed(observed(func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Correcting })), nothing},
		"not while a request is pending": {
			disturbed(observed(func(o *fluxstatus.Observation) { o.RequestedAt, o.HandledRequestAt = "b", "a" })), nothing,
		},
		"not after a failure":                         {disturbed(observed(func(o *fluxstatus.Observation) { o.Ready.Status = "False" })), nothing},
		"not by what Flux said of another generation": {disturbed(observed(func(o *fluxstatus.Observation) { o.Ready.Current = false })), nothing},
	} {
		t.Run(what, func(t *testing.T) {
			if got := recovery.NextRequest(c.in); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestPeoplesRequests(t *testing.T) {
	all := map[string]string{requestedAt: "now", forceAt: "now", resetAt: "now"}
	on := func(annotations map[string]string) recovery.Request {
		return recovery.Request{Annotations: annotations, Handled: annotations[requestedAt]}
	}
	plain := map[string]string{requestedAt: "now"}
	for what, c := range map[string]struct {
		in   recovery.Input
		want recovery.Request
	}{
		"nobody asks":                        {asked(nil, ""), nothing},
		"a request is handed on":             {asked(plain, "before"), on(plain)},
		"with force and reset":               {asked(all, ""), on(all)},
		"but not with an older force":        {asked(map[string]string{requestedAt: "now", forceAt: "before"}, ""), on(plain)},
		"once":                               {asked(all, "now"), nothing},
		"other annotations are not ours":     {asked(map[string]string{"team": "a", forceAt: "now"}, ""), nothing},
		"not while it is suspended":          {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Suspended = true }), nothing},
		"also while it carries another spec": {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Carries = false }), on(plain)},
		"also while a prerequisite fails":    {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Blocked }), on(plain)},
		"not while a Helm action runs":       {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Acting }), nothing},
		"not while one may start":            {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Preparing }), nothing},
		"not before Flux has seen the spec":  {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Unseen }), nothing},
		"not while another one is pending": {
			but(asked(plain, ""), func(o *fluxstatus.Observation) { o.RequestedAt, o.HandledRequestAt = "b", "a" }), nothing,
		},
		"an annotation that somebody took away is not pending": {
			but(asked(plain, ""), func(o *fluxstatus.Observation) { o.HandledRequestAt = "a" }), on(plain),
		},
		"not without a HelmRelease":        {but(asked(plain, ""), func(o *fluxstatus.Observation) { *o = fluxstatus.Observation{} }), nothing},
		"not of one that is being deleted": {but(asked(plain, ""), func(o *fluxstatus.Observation) { o.Deleting = true }), nothing},
		"before a round that is due": {
			func() recovery.Input { in := due(&noon); in.Annotations = plain; return in }(), on(plain),
		},
	} {
		t.Run(what, func(t *testing.T) { check(t, c.in, c.want) })
	}
}

func TestRounds(t *testing.T) {
	canceled := func(o *fluxstatus.Observation) { o.Failure = &fluxstatus.Failure{Canceled: true} }
	for what, c := range map[string]struct {
		in   recovery.Input
		want recovery.Request
	}{
		"nothing is scheduled":   {due(nil), nothing},
		"a round is due":         {due(&noon), forced},
		"a round is overdue":     {due(at(-time.Hour)), forced},
		"a round is not due yet": {due(at(90 * time.Second)), recovery.Request{After: 90 * time.Second}},
		"Flux waits after a template that does not render": {
			but(due(&noon), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Waiting }), forced,
		},
		"Flux has retries left":       {but(due(&noon), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Retrying }), nothing},
		"a prerequisite fails":        {but(due(&noon), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Blocked }), nothing},
		"a Helm action runs":          {but(due(&noon), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Acting }), nothing},
		"it is suspended":             {but(due(&noon), func(o *fluxstatus.Observation) { o.Suspended = true }), nothing},
		"another spec is carried":     {but(due(&noon), func(o *fluxstatus.Observation) { o.Carries = false }), nothing},
		"the last request is pending": {but(due(&noon), func(o *fluxstatus.Observation) { o.RequestedAt = token }), nothing},
		"the last one was interrupted: the next starts at once": {
			but(due(at(time.Hour)), canceled), forced,
		},
		"an interrupted one is not repeated while Flux repeats it": {
			but(but(due(nil), canceled), func(o *fluxstatus.Observation) { o.Activity = fluxstatus.Retrying }), nothing,
		},
	} {
		t.Run(what, func(t *testing.T) { check(t, c.in, c.want) })
	}
}

// TestUnproven: Flux speaks of success at contents "b", and rests.
func TestUnproven(t *testing.T) {
	success := func(failures int64, history ...v1alpha1.RevisionStatus) recovery.Input {
		in := asked(nil, "")
		in.Status.Failures, in.Status.History = failures, history
		in.Observation.Attempted, in.Observation.ContentHash = true, "b"
		in.Observation.Ready.Status = metav1.ConditionTrue
		in.Observation.Latest = &helmv2.Snapshot{Version: 7, Status: "deployed", Action: "rollback"}
		return in
	}
	entry := func(revision int64, hash string) v1alpha1.RevisionStatus {
		return v1alpha1.RevisionStatus{Revision: revision, DesiredHash: hash}
	}
	otherChart := func(o *fluxstatus.Observation) { o.Source.Digest, o.Latest.OCIDigest = "sha256:b", "sha256:a" }
	for what, c := range map[string]struct {
		in   recovery.Input
		want recovery.Request
	}{
		"the revision that runs is on record with them":      {success(0, entry(7, "b"), entry(6, "a")), nothing},
		"it is on record with others: an upgrade settles it": {success(0, entry(7, "a"), entry(6, "b")), forced},
		"it came from a rollback and is not on record":       {success(0, entry(7, "")), forced},
		"there is no record at all":                          {success(0), forced},
		"that upgrade failed: rounds go on as scheduled":     {success(1, entry(7, "a")), nothing},
		"the wanted chart has not been attempted":            {but(success(0), func(o *fluxstatus.Observation) { o.Attempted = false }), nothing},
		"Flux does not speak of success":                     {but(success(0), func(o *fluxstatus.Observation) { o.Ready.Status = "False" }), nothing},
		"Flux ignores the chart's digest":                    {but(success(0), otherChart), nothing},
	} {
		t.Run(what, func(t *testing.T) { check(t, c.in, c.want) })
	}
}

func check(t *testing.T, in recovery.Input, want recovery.Request) {
	t.Helper()
	if got := recovery.NextRequest(in); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
