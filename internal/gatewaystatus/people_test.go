// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"errors"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// refusedFor is a gateway that is not accepted; the last accepted objects stay.
func refusedFor(reason, field, message string) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.RunningSource = in.Source
		in.Plan, in.Desired = nil, nil
		in.Fault = &plan.Error{Faults: []plan.Fault{{Reason: reason, Field: field, Message: message}}}
		in.Gateway.Generation++
	}
}

func acceptedAgain(p *plan.Plan) func(*gatewaystatus.Input) {
	return now(func(in *gatewaystatus.Input) { in.Fault = nil }, wants(p))
}

func TestNotAccepted(t *testing.T) {
	const fault = "UnmappedField: spec.controlPlane.tls.enabled: the class does not map it"
	nothing := "SourceReady=Unknown Pending: no source is wanted"
	unmapped := refusedFor("UnmappedField", "spec.controlPlane.tls.enabled", "the class does not map it")
	says := lines(both("False "+fault), "Stalled=True "+fault)
	t.Run("and never was", func(t *testing.T) {
		story{
			{"refused", unmapped, lines("Failed", "Accepted=False "+fault, nothing, says)},
			{"corrected", acceptedAgain(chart("1.2.0")), lines("Pending", accepted, noSource, goesOn("Pending", waitsChart))},
		}.run(t)
	})
	t.Run("while the last accepted state runs", func(t *testing.T) {
		story{
			oldRunning(chart("1.1.0")),
			{"refused", unmapped, lines("Degraded", "Accepted=False "+fault, stored1, says)},
			{"suspended meanwhile", also(flux.Suspended), lines("Degraded", "Accepted=False "+fault, stored1, says)},
			{"corrected", now(acceptedAgain(chart("1.1.0")), release(1, oldDeployed)), lines("Ready", accepted, stored1, runs(oldRuns))},
		}.run(t)
	})
	t.Run("after failed rounds, which count again later", func(t *testing.T) {
		append(failedOnce(),
			step{"refused", unmapped, lines("Degraded", "Accepted=False "+fault, stored1, says, rolledLine)},
			step{"corrected", acceptedAgain(chart("1.2.0")),
				lines("Degraded", accepted, stored1, fails("RolledBack", rolledText, rounds(1, nextAt("12:06:00"))), rolledLine)},
		).run(t)
	})
}

// The class that a gateway was judged by is told, also when it names none and is not accepted. With a release it keeps its own.
func TestClassOfWhatIsNotAccepted(t *testing.T) {
	other := "other"
	for what, c := range map[string]struct {
		judgedBy, known string
		named           *string
		release         *v1alpha1.ReleaseStatus
		want            string
	}{
		"there is no class":                       {"", "", nil, nil, ""},
		"it names one that is missing":            {"", "", &other, nil, "other"},
		"judged by the default class":             {"web", "", nil, nil, "web"},
		"judged by another since":                 {"web", "old", nil, nil, "web"},
		"the class that it was judged by is gone": {"", "old", nil, nil, "old"},
		"it runs on one, and names another":       {"other", "web", &other, &v1alpha1.ReleaseStatus{}, "web"},
	} {
		t.Run(what, func(t *testing.T) {
			gateway := &v1alpha1.APIGateway{Spec: v1alpha1.APIGatewaySpec{ClassName: c.named},
				Status: v1alpha1.APIGatewayStatus{ClassName: c.known, Release: c.release}}
			fault := &plan.Error{Faults: []plan.Fault{{Reason: "ConfigNotFound", Message: "no"}}, ClassName: c.judgedBy}
			if got := gatewaystatus.Compute(gatewaystatus.Input{Gateway: gateway, Fault: fault}).ClassName; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWriteRefused(t *testing.T) {
	refused := func(in *gatewaystatus.Input) {
		in.WriteError = errors.New(`admission webhook "policy" denied the request: no`)
	}
	says := fails("WriteFailed", `admission webhook "policy" denied the request: no`, "Sluice tries again to write it")
	written := func(in *gatewaystatus.Input) { in.WriteError = nil }
	story{
		oldRunning(chart("1.1.0")),
		{"a write that changes nothing is refused", refused, lines("Degraded", accepted, stored1, says)},
		{"the switch is refused", now(wants(chart("1.2.0")), source(flux.ReadySource())), lines("Degraded", accepted, stored1, says)},
		{"it is taken", now(written, release(2, oldDeployed)), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
	}.run(t)
	story{
		{"the first write is refused", now(wants(chart("1.2.0")), source(flux.ReadySource()), refused), lines("Failed", accepted, stored1, says)},
	}.run(t)
}

func TestWait(t *testing.T) {
	waits := func(in *gatewaystatus.Input) { in.Wait = "another gateway goes first" }
	says := goesOn("Pending", "another gateway goes first")
	story{
		{"before anything is written", now(wants(chart("1.2.0")), source(flux.ReadySource()), waits), lines("Pending", accepted, stored1, says)},
		{"it is over", now(func(in *gatewaystatus.Input) { in.Wait = "" }, release(1)), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
	}.run(t)
	story{
		oldRunning(chart("1.1.0")),
		{"though it runs", waits, lines("Progressing", accepted, stored1, says)},
	}.run(t)
}

// TestResumedByHandAgainstTheGateway: people resume what the gateway has suspended, an upgrade begins, and Sluice suspends it
// again while it runs. That the upgrade succeeded is known, since just the suspension came between.
func TestResumedByHandAgainstTheGateway(t *testing.T) {
	yes := true
	suspendedAt := func(first, last int64) flux.Part {
		return flux.Parts(flux.Suspended, func(hr *helmv2.HelmRelease) {
			hr.Annotations = map[string]string{v1alpha1.AnnotationSuspendedAt: fluxobjects.SuspensionMark(hr.Spec, first, last)}
		})
	}
	succeeded := flux.Parts(flux.Attempted(3), flux.Observed(3), flux.History(flux.Snapshot(6, "deployed", "upgrade")))
	says := both("False Suspended: the HelmRelease is suspended, and Flux has not confirmed that the desired state runs: set spec.suspend to false to go on")
	before := func() story {
		return story{
			oldRunning(chart("1.1.0")),
			{"another chart is wanted, and a suspension", now(wants(chart("1.2.0")), source(flux.ReadySource()), release(2, oldDeployed, flux.Suspended),
				func(in *gatewaystatus.Input) { in.Gateway.Spec.Suspend = &yes }), lines("Suspended", accepted, stored1, says)},
			{"people resume it, the upgrade runs, and it is suspended again", release(4, suspendedAt(3, 4), upgrading, flux.Attempted(3),
				flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade)), lines("Suspended", accepted, stored1, says)},
		}
	}
	const while = "; it is suspended: Flux repairs no drift of it and applies no change (set spec.suspend to false to go on)"
	for what, ready := range map[string]flux.Part{
		"its conditions are of the generation before": flux.OfGeneration(3, flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
		"its conditions are of this generation":       flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded),
	} {
		t.Run("the upgrade succeeds, and "+what, func(t *testing.T) {
			append(before(), step{"it succeeds", release(4, suspendedAt(3, 4), succeeded, ready), lines("Ready", accepted, stored1, runs(newRuns+while))},
				step{"and stays so", release(4, suspendedAt(3, 4), succeeded, flux.Observed(4), ready), lines("Ready", accepted, stored1, runs(newRuns+while))},
			).run(t)
		})
	}
	t.Run("it was resumed once more meanwhile", func(t *testing.T) {
		append(before(), step{"it succeeds", release(6, suspendedAt(3, 6), succeeded, flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
			lines("Ready", accepted, stored1, runs(newRuns+while))}).run(t)
	})
	for what, hr := range map[string]flux.Part{
		"more was changed since":        flux.Parts(suspendedAt(2, 3), succeeded, flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
		"people suspended it":           flux.Parts(flux.Suspended, succeeded, flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
		"an earlier spec was deployed":  flux.Parts(suspendedAt(3, 4), succeeded, flux.Attempted(2), flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
		"it failed":                     flux.Parts(suspendedAt(3, 4), succeeded, saysFailed),
		"Flux has not finished with it": flux.Parts(suspendedAt(3, 4), succeeded, flux.Observed(2), flux.Ready("True", "UpgradeSucceeded", flux.UpgradeSucceeded)),
	} {
		t.Run("not confirmed: "+what, func(t *testing.T) {
			append(before(), step{what, release(4, hr), lines("Suspended", accepted, stored1, says)}).run(t)
		})
	}
}

// whileSuspended follows what a suspended release says that it runs.
const whileSuspended = `; it is suspended: Flux repairs no drift of it and applies no change (run "flux resume helmrelease orders -n team-a" to go on)`

func TestSuspended(t *testing.T) {
	const resume = `run "flux resume helmrelease orders -n team-a" to go on`
	suspended := func(how string) string {
		return lines("Suspended", accepted, stored1, both("False Suspended: the HelmRelease is suspended, and Flux has not confirmed that the desired state runs: "+how))
	}
	byGateway := func(in *gatewaystatus.Input) { in.Gateway.Spec.Suspend = new(bool); *in.Gateway.Spec.Suspend = true }
	t.Run("before the first install", func(t *testing.T) {
		story{
			{"by people", now(wants(chart("1.2.0")), source(flux.ReadySource()), release(1, flux.Suspended)), suspended(resume)},
			{"by the gateway", byGateway, suspended("set spec.suspend to false to go on")},
		}.run(t)
	})
	t.Run("while a change is written", func(t *testing.T) {
		changed := chart("1.1.0")
		changed.Release.Values = []byte(`{"for":"1.1.0","more":true}`)
		story{
			oldRunning(chart("1.1.0")),
			{"suspended", release(2, oldDeployed, flux.Suspended), lines("Ready", accepted, stored1, runs(oldRuns+whileSuspended))},
			{"changed", now(wants(changed), release(3, oldDeployed, flux.Suspended)), suspended(resume)},
			{"changed back", now(wants(chart("1.1.0")), release(4, oldDeployed, flux.Suspended)), lines("Ready", accepted, stored1, runs(oldRuns+whileSuspended))},
			{"resumed", release(5, oldDeployed), lines("Ready", accepted, stored1, runs(oldRuns))},
		}.run(t)
	})
	t.Run("while the new chart is pulled", func(t *testing.T) {
		story{
			oldRunning(chart("1.1.0")),
			{"suspended", also(flux.Suspended), lines("Ready", accepted, stored1, runs(oldRuns+whileSuspended))},
			{"a new chart is wanted", now(wants(chart("1.2.0")), source(flux.ReadySource())), suspended(resume)},
		}.run(t)
	})
	t.Run("after failureThreshold rounds", func(t *testing.T) {
		p := chart("1.2.0")
		p.Remediation.FailureThreshold = 1
		append(switched(p), step{"failed, rolled back and suspended", release(2, rests, rolledBack, flux.Suspended),
			suspended(resume) + "\nStalled=True RetriesExceeded: failed rounds: 1; the last: " + flux.UpgradeFailed + "\n" + rolledLine}).run(t)
	})
}

func TestDeletion(t *testing.T) {
	deleted := func(in *gatewaystatus.Input) {
		in.Gateway.DeletionTimestamp = &flux.Noon
		in.RunningSource = in.Source
		in.Plan, in.Desired = nil, nil
	}
	held := func(hold string) func(*gatewaystatus.Input) { return func(in *gatewaystatus.Input) { in.Hold = hold } }
	says := func(message string) string {
		return lines("Deleting", accepted, stored1, both("False Deleting: "+message))
	}
	gone := func(in *gatewaystatus.Input) { in.Release, in.Source, in.RunningSource = nil, nil, nil }
	fails := also(func(hr *helmv2.HelmRelease) { hr.Status.Conditions = nil }, flux.Ready("False", "UninstallFailed", "timeout"))
	in := append(failedOnce(),
		step{"deleted", deleted, says("waiting for Flux to uninstall HelmRelease team-a/orders")},
		step{"suspended", held("the HelmRelease is suspended; resume it"), says("the HelmRelease is suspended; resume it")},
		step{"resumed", held(""), says("waiting for Flux to uninstall HelmRelease team-a/orders")},
		step{"Flux cannot", fails, says("Flux could not uninstall the release and tries again: timeout")},
		step{"it is gone", gone, lines("Deleting", accepted, "SourceReady=Unknown Pending: no source is wanted", both("False Deleting: the release is gone"))},
	).run(t)
	if got := in.Gateway.Status; got.ClassName != "wso2" || got.Source == nil || got.Release == nil || got.NextRetryTime != nil {
		t.Errorf("what was known should stay, and nothing be scheduled: %s", text(t, got))
	}
	orphaned := func(in *gatewaystatus.Input) { in.Gateway.Spec.DeletionPolicy = new(v1alpha1.DeletionOrphan) }
	append(failedOnce(),
		step{"deleted under Orphan", now(orphaned, deleted),
			says("waiting for HelmRelease team-a/orders to go without an uninstall: deletionPolicy is Orphan, and the release runs on")},
		step{"its HelmRelease is gone", gone, lines("Deleting", accepted, "SourceReady=Unknown Pending: no source is wanted",
			both("False Deleting: the HelmRelease is gone, and the release runs on: deletionPolicy is Orphan"))},
	).run(t)
	story{
		{"a gateway that never was accepted is deleted under Orphan", now(orphaned, refusedFor("ClassNotFound", "", "there is no class wso2"), func(in *gatewaystatus.Input) {
			in.Gateway.DeletionTimestamp = &flux.Noon
		}), lines("Deleting", "Accepted=False ClassNotFound: there is no class wso2", "SourceReady=Unknown Pending: no source is wanted", both("False Deleting: the release is gone"))},
	}.run(t)
	story{
		{"a gateway that never was accepted is deleted", now(refusedFor("ClassNotFound", "", "there is no class wso2"), func(in *gatewaystatus.Input) {
			in.Gateway.DeletionTimestamp = &flux.Noon
		}), lines("Deleting", "Accepted=False ClassNotFound: there is no class wso2", "SourceReady=Unknown Pending: no source is wanted", both("False Deleting: the release is gone"))},
	}.run(t)
}

func TestSuspendMessageOfFalse(t *testing.T) {
	in := gatewaystatus.Input{
		Gateway: &v1alpha1.APIGateway{Spec: v1alpha1.APIGatewaySpec{Suspend: new(bool)}},
		Now:     flux.Noon,
	}
	in.Gateway.Name, in.Gateway.Namespace = "orders", "team-a"
	now(wants(chart("1.2.0")), source(flux.ReadySource()), release(1, flux.Suspended))(&in)
	want := `Suspended=the HelmRelease is suspended, and Flux has not confirmed that the desired state runs: run "flux resume helmrelease orders -n team-a" to go on`
	status := compute(t, "suspended though the gateway says no", in)
	if got := status.Conditions[3].Reason + "=" + status.Conditions[3].Message; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
