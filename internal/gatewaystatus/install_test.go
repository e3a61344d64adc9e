// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
)

// What a HelmRelease of the first generation shows once it is installed.
var installed = flux.Parts(
	flux.Attempted(1), flux.Observed(1),
	flux.Ready("True", "InstallSucceeded", flux.InstallSucceeded), flux.Released("True", "InstallSucceeded", flux.InstallSucceeded),
	flux.History(flux.Snapshot(1, "deployed", "install")),
)

const (
	firstRuns   = "chart gateway 1.2.0 is deployed as revision 1"
	pulling     = "SourceReady=Unknown Progressing: waiting for source-controller to pull the chart"
	pullFails   = "SourceReady=False OCIArtifactPullFailed: " + flux.PullFailed
	noArtifact  = "OCIRepository 'team-a/" + newSource + "' is not ready: does not have an artifact"
	newSource   = "wso2-19c6a703"
	waitsChart  = "waiting for the chart: OCIRepository team-a/" + newSource + " has no artifact yet"
	aboutToBe   = "the HelmRelease is about to be written"
	waitsFlux   = "waiting for Flux to act on the desired state"
	looksAfter  = "the desired state is deployed, but Flux cannot look after it: "
	fluxRetries = "Flux tries again by itself"
)

func TestFirstInstall(t *testing.T) {
	story{
		{"nothing is there", wants(chart("1.2.0")), lines("Pending", accepted, noSource, goesOn("Pending", waitsChart))},
		{"the source is pulled", source(flux.NewSource()), lines("Pending", accepted, pulling, goesOn("Pending", waitsChart))},
		{"the HelmRelease is written at once", release(1), lines("Pending", accepted, pulling, goesOn("Pending", waitsChart))},
		{"Flux waits for the source", release(1, flux.Reconciling(flux.Prerequisites), flux.Ready("False", "SourceNotReady", noArtifact)),
			lines("Pending", accepted, pulling, goesOn("Pending", waitsChart))},
		{"the tag does not exist", now(source(flux.FailedSource())),
			lines("Failed", accepted, pullFails, fails("OCIArtifactPullFailed", "OCIRepository team-a/"+newSource+": "+flux.PullFailed, fluxRetries))},
		{"now it does; Flux has not noticed", now(source(flux.ReadySource())),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.Prerequisites))},
		{"the install runs", release(1, flux.Attempted(1), flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall)),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningInstall))},
		{"it succeeded, and Flux is not done", release(1, installed, flux.Observed(-1), flux.Reconciling(flux.RunningInstall)),
			lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningInstall))},
		{"Flux is done", release(1, installed), lines("Ready", accepted, stored1, runs(firstRuns))},
	}.run(t)
}

// TestInSync: whatever happens to a release that runs as desired, Ready stays True.
func TestInSync(t *testing.T) {
	start := step{"it is installed", now(wants(chart("1.2.0")), source(flux.ReadySource()), release(1, installed)),
		lines("Ready", accepted, stored1, runs(firstRuns))}
	drifted := flux.Condition("Drifted", "True", "DriftDetected", "Deployment/apis/orders removed")
	noDrift := flux.Condition("Drifted", "False", "NoDriftDetected", "No drift detected against the cluster state")
	faster := chart("1.2.0")
	faster.Release.Interval *= 2
	tested := chart("1.2.0")
	tested.Release.TestEnabled = true
	for what, rest := range map[string]story{
		"Flux's interval": {
			{"Flux looks at prerequisites", also(flux.Reconciling(flux.Prerequisites)), lines("Ready", accepted, stored1, runs(firstRuns))},
			{"and is done", release(1, installed, noDrift),
				lines("Ready", accepted, stored1, runs(firstRuns), "Drifted=False NoDriftDetected: No drift detected against the cluster state")},
		},
		"drift": {
			{"drift is found and corrected", also(drifted, flux.Reconciling(flux.RunningCorrection)),
				lines("Ready", accepted, stored1, runs(firstRuns), "Drifted=True DriftDetected: Deployment/apis/orders removed")},
			{"Flux looks whether that helped", release(1, flux.Attempted(1), flux.Observed(1), flux.Ready("Unknown", "Progressing", "correcting cluster drift"),
				flux.History(flux.Snapshot(1, "deployed", "install")), drifted, flux.Reconciling(flux.RunningCorrection)),
				lines("Ready", accepted, stored1, runs(firstRuns), "Drifted=True DriftDetected: Deployment/apis/orders removed")},
			{"it did not help", release(1, flux.Attempted(1), flux.Observed(1), flux.Ready("Unknown", "Progressing", "correcting cluster drift"),
				flux.History(flux.Snapshot(1, "deployed", "install")), drifted, flux.Retrying("correcting cluster drift")),
				lines("Progressing", accepted, stored1, goesOn("Progressing", "correcting cluster drift"), "Drifted=True DriftDetected: Deployment/apis/orders removed")},
		},
		"suspended and resumed": {
			{"suspended", release(2, installed, flux.Suspended), lines("Ready", accepted, stored1, runs(firstRuns+whileSuspended))},
			{"resumed, unseen", release(3, installed), lines("Ready", accepted, stored1, runs(firstRuns))},
			{"resumed, prerequisites", release(3, installed, flux.Reconciling(flux.Prerequisites)), lines("Ready", accepted, stored1, runs(firstRuns))},
			{"resumed, seen", release(3, installed, flux.Attempted(3), flux.Observed(3)), lines("Ready", accepted, stored1, runs(firstRuns))},
		},
		"another interval": {
			{"written", now(wants(faster), release(2, installed)), lines("Ready", accepted, stored1, runs(firstRuns))},
			{"seen", release(2, installed, flux.Attempted(2), flux.Observed(2)), lines("Ready", accepted, stored1, runs(firstRuns))},
		},
		"its dependency upgrades": {
			{"Flux says so", release(1, flux.Attempted(1), flux.Observed(1), flux.Ready("False", "DependencyNotReady", "dependency 'team-a/users' is not ready"),
				flux.History(flux.Snapshot(1, "deployed", "install")), flux.Reconciling(flux.Prerequisites)),
				lines("Ready", accepted, stored1, runs(firstRuns), "Reconciling=True DependencyNotReady: "+looksAfter+"dependency 'team-a/users' is not ready")},
			{"the dependency is ready again", release(1, installed), lines("Ready", accepted, stored1, runs(firstRuns))},
		},
		"the Secret of valuesFrom is gone": {
			{"Flux says so", release(1, flux.Attempted(1), flux.Observed(1), flux.Ready("False", "ValuesError", "could not find Secret 'team-a/extra'"),
				flux.History(flux.Snapshot(1, "deployed", "install")), flux.Reconciling(flux.Prerequisites)),
				lines("Ready", accepted, stored1, runs(firstRuns), "Reconciling=True ValuesError: "+looksAfter+"could not find Secret 'team-a/extra'")},
		},
		"the source": {
			{"the registry is down", now(source(flux.Source(flux.PullFails))), lines("Ready", accepted, pullFails, runs(firstRuns))},
			{"and then the artifact is lost too", now(source(flux.Source(flux.PullFails, flux.NoArtifact))), lines("Ready", accepted, pullFails, runs(firstRuns))},
			{"Flux finds the source not ready", release(1, flux.Attempted(1), flux.Observed(1), flux.Ready("False", "SourceNotReady", noArtifact),
				flux.History(flux.Snapshot(1, "deployed", "install")), flux.Reconciling(flux.Prerequisites)),
				lines("Ready", accepted, pullFails, runs(firstRuns), "Reconciling=True SourceNotReady: "+looksAfter+noArtifact)},
			{"the source is deleted", now(source(nil), release(1, installed)), lines("Ready", accepted, noSource, runs(firstRuns))},
			{"and made again", now(source(flux.NewSource())), lines("Ready", accepted, pulling, runs(firstRuns))},
		},
		"the HelmRelease is deleted by hand": {
			{"Flux uninstalls", also(func(hr *helmv2.HelmRelease) { hr.DeletionTimestamp = &flux.Noon }),
				lines("Progressing", accepted, stored1, goesOn("Pending", "the HelmRelease is being deleted; it is made again once it is gone"))},
			{"it is gone", func(in *gatewaystatus.Input) { in.Release = nil }, lines("Pending", accepted, stored1, goesOn("Pending", aboutToBe))},
			{"it is made again", release(1), lines("Progressing", accepted, stored1, goesOn("Progressing", waitsFlux))},
		},
		"a test": {
			{"tests are turned on", now(wants(tested), release(2, installed)), lines("Ready", accepted, stored1, runs(firstRuns))},
			{"they run", release(2, installed, flux.Attempted(2), flux.Reconciling(flux.RunningTest)),
				lines("Progressing", accepted, stored1, goesOn("Progressing", flux.RunningTest))},
			{"they pass", release(2, flux.Attempted(2), flux.Observed(2), flux.Ready("True", "TestSucceeded", "Helm test succeeded"),
				flux.History(flux.Snapshot(1, "deployed", "install")), flux.Condition("TestSuccess", "True", "TestSucceeded", "Helm test succeeded")),
				lines("Ready", accepted, stored1, runs(firstRuns), "TestSuccess=True TestSucceeded: Helm test succeeded")},
		},
	} {
		t.Run(what, func(t *testing.T) { append(story{start}, rest...).run(t) })
	}
}

// What ran before the gateway and is taken over is no new revision where its contents are what the gateway wants: that is for
// Flux to say, which alone knows what the revision was made of.
func TestATakenOverReleaseIsNotUpgradedForNothing(t *testing.T) {
	adopting := func(in *gatewaystatus.Input) {
		in.Gateway.Annotations = map[string]string{v1alpha1.AnnotationAdopt: "true"}
	}
	taken := flux.Parts(installed, flux.Attempted(1), flux.Observed(1)) // and its generation is moved by what is taken over
	inSync := flux.Parts(installed, flux.Attempted(3), flux.Observed(3))
	failedBefore := flux.Parts(flux.Attempted(1), flux.Observed(1), flux.Ready("False", "UpgradeFailed", flux.UpgradeFailed),
		flux.History(flux.Snapshot(1, "deployed", "install")))
	const switches = "the HelmRelease switches to the desired state once OCIRepository team-a/" + newSource + " has its artifact"
	const oneMore = "Flux reports success, but revision 1 was made of other contents; one more upgrade is asked for"
	for what, c := range map[string]struct {
		how    func(*gatewaystatus.Input)
		before flux.Part
		want   string
	}{
		"it ran well":             {adopting, taken, lines("Ready", accepted, stored1, runs(firstRuns))},
		"its last upgrade failed": {adopting, failedBefore, lines("Progressing", accepted, stored1, goesOn("Progressing", oneMore))},
		"it is the gateway's own": {func(*gatewaystatus.Input) {}, taken, lines("Progressing", accepted, stored1, goesOn("Progressing", oneMore))},
	} {
		t.Run(what, func(t *testing.T) {
			story{
				{"it is taken over, and not yet switched", now(wants(chart("1.1.0")), release(2, c.before), wants(chart("1.2.0")), source(flux.NewSource()), c.how),
					lines("Progressing", accepted, pulling, goesOn("Pending", switches))},
				{"it is the same to Flux", now(source(flux.ReadySource()), release(3, inSync)), c.want},
			}.run(t)
		})
	}
}
