// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"errors"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
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

func TestSuspended(t *testing.T) {
	const resume = `run "flux resume helmrelease orders -n team-a" to go on`
	suspended := func(how string) string {
		return lines("Suspended", accepted, stored1, both("False Suspended: the HelmRelease is suspended and does not run the desired state: "+how))
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
			{"suspended", release(2, oldDeployed, flux.Suspended), lines("Ready", accepted, stored1, runs(oldRuns))},
			{"changed", now(wants(changed), release(3, oldDeployed, flux.Suspended)), suspended(resume)},
			{"changed back", now(wants(chart("1.1.0")), release(4, oldDeployed, flux.Suspended)), lines("Ready", accepted, stored1, runs(oldRuns))},
			{"resumed", release(5, oldDeployed), lines("Ready", accepted, stored1, runs(oldRuns))},
		}.run(t)
	})
	t.Run("while the new chart is pulled", func(t *testing.T) {
		story{
			oldRunning(chart("1.1.0")),
			{"suspended", also(flux.Suspended), lines("Ready", accepted, stored1, runs(oldRuns))},
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
	want := `Suspended=the HelmRelease is suspended and does not run the desired state: run "flux resume helmrelease orders -n team-a" to go on`
	status := compute(t, "suspended though the gateway says no", in)
	if got := status.Conditions[3].Reason + "=" + status.Conditions[3].Message; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
