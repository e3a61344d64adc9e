// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
)

var update = flag.Bool("update", false, "write testdata/truth.txt anew")

// row is a place in the truth table.
type row struct {
	helm, generation, source int
}

func rows() (all []row) {
	for h := range helmStates {
		for g := range generations {
			if g > 0 && helmStates[h].name == "none" {
				continue // what does not exist has no generations
			}
			for s := range sourceStates {
				all = append(all, row{h, g, s})
			}
		}
	}
	return all
}

func (r row) String() string {
	return fmt.Sprintf("HelmRelease %q, told of %q; OCIRepository %q", helmStates[r.helm].name, generations[r.generation].name, sourceStates[r.source].name)
}

// input is the world of the row, and status what it comes to. Where a release ran before, the old chart's is on record.
func (r row) input(t *testing.T) gatewaystatus.Input {
	h, g, s := helmStates[r.helm], generations[r.generation], sourceStates[r.source]
	in := gatewaystatus.Input{Gateway: &v1alpha1.APIGateway{}, Now: flux.Noon}
	in.Gateway.Name, in.Gateway.Namespace = "orders", "team-a"
	if !h.fresh {
		old := oldRunning(chart("1.1.0"))
		old.world(&in)
		in.Gateway.Status = stored(t, gatewaystatus.Compute(in))
	}
	p := chart("1.2.0")
	if h.retried {
		p = with(v1alpha1.StrategyRetry)
	}
	in.Release, in.RunningSource = nil, nil
	in.Source = s.source()
	wants(p)(&in)
	if h.name == "none" {
		return in
	}
	carried := in.Desired
	if g.otherSpec {
		other := chart("1.0.0")
		other.Remediation = p.Remediation
		carried = fluxobjects.Make(other, fluxobjects.SharedSources).Release
		in.RunningSource = flux.ReadySource()
	} else {
		in.RunningSource = in.Source
	}
	in.Release = h.at(carried, g.now, g.ahead)
	in.Release.Spec.Suspend = g.suspended
	if g.bySluice {
		yes := true
		in.Gateway.Spec.Suspend = &yes
		markedSince2(in.Release)
	}
	return in
}

// TestTruthTable: each row gives just the status that testdata/truth.txt says, and none that would be untrue.
func TestTruthTable(t *testing.T) {
	table := newTruths()
	for _, r := range rows() {
		in := r.input(t)
		status := compute(t, r.String(), in)
		checkKstatus(t, r.String(), *in.Gateway, status)
		for _, lie := range r.lies(status) {
			t.Errorf("%s: %s:\n%s", r, lie, summary(status))
		}
		table.add(r, status)
	}
	path := filepath.Join("testdata", "truth.txt")
	if *update {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(table.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("%s differs first at line %d:\ngot  %s\nwant %s", path, i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""),
				strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
		}
	}
}

// lies are what a status says that is not so, judged by the truth that stands with the states.
func (r row) lies(status v1alpha1.APIGatewayStatus) (found []string) {
	h, g, s := helmStates[r.helm], generations[r.generation], sourceStates[r.source]
	ready := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	is := func(kind string) bool { return apimeta.IsStatusConditionTrue(status.Conditions, kind) }
	claim := func(says, true bool, what string) {
		if says && !true {
			found = append(found, what)
		}
	}
	attemptedDesired := g.ofDesired && s.known
	desiredRuns := attemptedDesired && h.runs == attempted && !h.deleting
	// What is desired, was attempted, and runs since must be Ready, unless nobody could know that it succeeded.
	confirmed := desiredRuns && !h.working && (!g.suspended || g.bySluice)
	attemptFailed := h.failed && attemptedDesired
	oncesucceeded := h.runs == oldRunsOn || h.runs == attempted || h.runs == inBetween && !h.fresh

	claim(ready.Status == metav1.ConditionTrue, desiredRuns, "Ready, and what is desired does not run")
	claim(confirmed, ready.Status == metav1.ConditionTrue, "not Ready, though what is desired runs and Flux has said so")
	claim(ready.Status == metav1.ConditionTrue, confirmed, "Ready, though Flux has not finished")
	claim(status.Failures > 0, attemptFailed, "a failure is counted that was none of this desired state")
	claim(attemptFailed, status.Failures > 0 || g.suspended, "a failure is not counted")
	claim(is(v1alpha1.ConditionRolledBack), attemptFailed && h.runs == oldRunsOn, "RolledBack, though nothing was")
	claim(ready.Reason == v1alpha1.ReasonRolledBack, is(v1alpha1.ConditionRolledBack), "Ready tells of a rollback that RolledBack does not")
	claim(ready.Status == metav1.ConditionFalse, attemptFailed || h.prerequisite && g.name != "the one before" || s.failed || g.suspended ||
		ready.Reason == v1alpha1.ReasonChartDigestIgnored, "False, though nothing of this desired state failed")
	claim(status.NextRetryTime != nil, attemptFailed && !g.suspended && !h.retried, "an attempt is announced that nobody starts")
	claim(status.Phase == v1alpha1.PhaseDegraded, oncesucceeded, "Degraded, though no release is there that once succeeded")
	claim(status.Phase == v1alpha1.PhaseFailed, h.fresh && h.runs != attempted, "Failed, though a release is there that once succeeded")
	claim(status.Phase == v1alpha1.PhasePending, h.runs == nothingRuns || h.runs == inBetween && h.fresh, "Pending, though there is a release")
	claim(status.Phase == v1alpha1.PhaseSuspended, g.suspended, "Suspended, though it is not")
	claim(g.suspended && !h.deleting, ready.Status == metav1.ConditionTrue || ready.Reason == v1alpha1.ReasonSuspended, "it is suspended, and Ready does not say so")
	test := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionTestSuccess)
	claim(test != nil, attemptedDesired, "a test is told of that was of other contents")
	claim(is(v1alpha1.ConditionSourceReady) != s.refreshes, false, "SourceReady is not what the source says")
	return found
}

// truths is the table as text: a line for each row, whose conditions refer to messages by number.
type truths struct {
	lines    []string
	messages []string
}

func newTruths() *truths {
	return &truths{lines: []string{
		"# What the status says, by what Flux says of the HelmRelease, the generation that this is about, and the wanted OCIRepository.",
		"# Made by go test ./internal/gatewaystatus -update; truth_test.go judges each line by what is true then. A status of the release",
		"# and history that is absent is \"-\"; Programmed is \"=\" where it repeats Ready. [n] is the message of that number below.",
	}}
}

func (ts *truths) add(r row, status v1alpha1.APIGatewayStatus) {
	if r.source == 0 {
		ts.lines = append(ts.lines, "", fmt.Sprintf("HelmRelease: %s; told of generation: %s", helmStates[r.helm].name, generations[r.generation].name))
	}
	cells := []string{fmt.Sprintf("  %-17s %-12s", sourceStates[r.source].name+":", status.Phase)}
	ready := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	for _, c := range status.Conditions {
		said := fmt.Sprintf("%s %s [%d]", c.Status, c.Reason, ts.number(c.Message))
		if c.Type == v1alpha1.ConditionProgrammed && c.Status == ready.Status && c.Reason == ready.Reason && c.Message == ready.Message {
			said = "="
		}
		cells = append(cells, c.Type+": "+said)
	}
	cells = append(cells, "release: "+releaseInWords(status), fmt.Sprintf("failures: %d", status.Failures))
	if status.LastFailure != nil {
		cells = append(cells, fmt.Sprintf("last failure: %s [%d]", status.LastFailure.Reason, ts.number(status.LastFailure.Message)))
	}
	if status.NextRetryTime != nil {
		cells = append(cells, "next: "+status.NextRetryTime.UTC().Format("15:04:05"))
	}
	ts.lines = append(ts.lines, strings.Join(cells, " | "))
}

func releaseInWords(status v1alpha1.APIGatewayStatus) string {
	if status.Release == nil {
		return "-"
	}
	var history []string
	for _, entry := range status.History {
		known := "?"
		if entry.DesiredHash != "" {
			known = "!"
		}
		history = append(history, fmt.Sprintf("%d%s %s", entry.Revision, known, entry.Status))
	}
	return fmt.Sprintf("%s, revision %d %s (%s)", status.Release.ChartVersion, status.Release.Revision, status.Release.Status, strings.Join(history, ", "))
}

func (ts *truths) number(message string) int {
	if i := slices.Index(ts.messages, message); i >= 0 {
		return i + 1
	}
	ts.messages = append(ts.messages, message)
	return len(ts.messages)
}

func (ts *truths) String() string {
	var out strings.Builder
	for _, line := range ts.lines {
		out.WriteString(line + "\n")
	}
	out.WriteString("\n")
	for i, message := range ts.messages {
		fmt.Fprintf(&out, "[%d] %s\n", i+1, message)
	}
	return out.String()
}
