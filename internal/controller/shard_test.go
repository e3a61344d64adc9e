// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func selector(t *testing.T, text string) labels.Selector {
	t.Helper()
	s, err := ParseLabelSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inShard(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{v1alpha1.LabelShard: key}
}

func TestWhichGatewaysAndSourcesAreAShards(t *testing.T) {
	const ours = v1alpha1.LabelShard
	for _, row := range []struct {
		selector string
		labels   map[string]string
		gateway  bool
		source   string // its shard
		looks    bool
	}{
		{"", inShard("shard1"), true, "shard1", true},
		{"", nil, true, "", true},
		{ours + "=shard1", inShard("shard1"), true, "shard1", true},
		{ours + "=shard1", inShard("shard2"), false, "shard2", false},
		{ours + "=shard1", nil, false, "", false},
		{"!" + ours, nil, true, "", true},
		{"!" + ours, inShard("shard1"), false, "shard1", false},
		{ours + " in (shard1, shard2)", inShard("shard2"), true, "shard2", true},
		{ours + "!=shard1", nil, true, "", true},
		// By other labels than the shard's: sources do not carry them.
		{"team=shop", map[string]string{"team": "shop"}, true, "", true},
		{"team=shop", map[string]string{"team": "bank"}, false, "", true},
		{"team=shop,!" + ours, map[string]string{"team": "shop"}, true, "shard1", false},
	} {
		g := gateway()
		g.Labels = row.labels
		s := selector(t, row.selector)
		if got := serves(s, g); got != row.gateway {
			t.Errorf("%q serves a gateway with %v: %t", row.selector, row.labels, got)
		}
		if got := looksAfter(s, inShard(row.source)); got != row.looks {
			t.Errorf("%q looks after a source of shard %q: %t", row.selector, row.source, got)
		}
	}
}

func TestEachShardAndSetOfNamespacesHasALeaseOfItsOwn(t *testing.T) {
	for _, row := range []struct{ name, selector, namespaces, lease string }{
		{"", "", "", "gateway.sluice.dev-sluice"},
		{"", "sharding.fluxcd.io/key=shard1", "", "gateway.sluice.dev-sluice-73fdc1be"},
		{"", "!sharding.fluxcd.io/key", "", "gateway.sluice.dev-sluice-42da7484"},
		{"", "b=2, a in (y,x)", "", "gateway.sluice.dev-sluice-8985354d"},
		{"", "a in (x,y),b=2", "", "gateway.sluice.dev-sluice-8985354d"},
		{"example.com/Other", "sharding.fluxcd.io/key=shard1", "", "example.com-other-73fdc1be"},
		{"example.com/a_b~c", "", "", "sluice-df99db68"},
		{"example.com/" + strings.Repeat("a", 241), "", "", "sluice-94a99bf2"},
		{"example.com/a_b~c", "", "shop", "sluice-df99db68-cff0ce51"},
		{"", "", "shop", "gateway.sluice.dev-sluice-cff0ce51"},
		{"", "", "bank,shop", "gateway.sluice.dev-sluice-5de0c6cc"},
		{"", "", "shop,bank,shop", "gateway.sluice.dev-sluice-5de0c6cc"},
		{"", "sharding.fluxcd.io/key=shard1", "shop", "gateway.sluice.dev-sluice-bc88f189"},
	} {
		o := Options{ControllerName: row.name, WatchLabelSelector: selector(t, row.selector)}
		if row.namespaces != "" {
			o.WatchNamespaces = strings.Split(row.namespaces, ",")
		}
		if got := o.LeaseName(); got != row.lease {
			t.Errorf("%q %q %q: %s, want %s", row.name, row.selector, row.namespaces, got, row.lease)
		} else if faults := validation.IsDNS1123Subdomain(got); len(faults) > 0 {
			t.Errorf("%s: %s", got, faults)
		}
	}
}

// A release goes to another shard's helm-controller at rest, or once nobody can be at its action any more.
func TestAReleaseIsNotHandedOverInTheMiddleOfAnAction(t *testing.T) {
	began := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	busy := func(message string, more ...func(*helmv2.HelmRelease)) *helmv2.HelmRelease {
		hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Generation: 2, Labels: inShard("shard1")}}
		hr.Spec.Timeout = &metav1.Duration{Duration: 2 * time.Minute}
		hr.Status.ObservedGeneration = 1
		hr.Status.Conditions = []metav1.Condition{
			{Type: meta.ReadyCondition, Status: metav1.ConditionUnknown, Reason: meta.ProgressingReason, ObservedGeneration: 2},
			{Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: meta.ProgressingReason, Message: message,
				ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(began)},
		}
		for _, change := range more {
			change(hr)
		}
		return hr
	}
	ending := busy("", func(hr *helmv2.HelmRelease) {
		hr.Status.LastAttemptedGeneration = 2
		hr.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: helmv2.UpgradeSucceededReason,
			ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(began)}}
	})
	rested := busy("")
	rested.Status.ObservedGeneration, rested.Status.Conditions = 2, rested.Status.Conditions[:1]
	const upgrade = "Running 'upgrade' action with timeout of 2m0s"
	for _, row := range []struct {
		what string
		live *helmv2.HelmRelease
		to   string
		at   time.Duration
		want time.Duration
	}{
		{"an upgrade runs", busy(upgrade), "shard2", 30 * time.Second, 270 * time.Second},
		{"an upgrade runs, and the gateway leaves all shards", busy(upgrade), "", 30 * time.Second, 270 * time.Second},
		{"it stays in its shard", busy(upgrade), "shard1", 30 * time.Second, 0},
		{"drift is corrected", busy("Running 'correct cluster drift' action with timeout of 2m0s"), "shard2", 0, 5 * time.Minute},
		{"the upgrade was stored, and is being rolled back", busy("Running 'rollback' action with timeout of 2m0s", func(hr *helmv2.HelmRelease) {
			hr.Status.History = helmv2.Snapshots{{Version: 2, LastDeployed: metav1.NewTime(began.Add(time.Minute))}}
		}), "shard2", 2 * time.Minute, 4 * time.Minute},
		{"nobody can be at it any more", busy(upgrade), "shard2", 6 * time.Minute, 0},
		{"the upgrade has ended, and is about to be observed", ending, "shard2", 0, 5 * time.Minute},
		{"it waits for its source", busy("Fulfilling prerequisites"), "shard2", 0, 0},
		{"it rests", rested, "shard2", 0, 0},
	} {
		desired := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Labels: inShard(row.to)}}
		if got := handsOver(row.live, desired, began.Add(row.at)); got != row.want {
			t.Errorf("%s: %s, want %s", row.what, got, row.want)
		}
	}
}
