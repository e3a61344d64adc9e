// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/story"
)

// asked is a request that the gateway has, and that the operator has handed on, and that Flux has dealt with.
func asked(byOperator, byFlux bool) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		if byOperator {
			in.Gateway.Status.LastHandledReconcileAt = "now"
		}
		if byFlux {
			in.Release.Status.LastHandledReconcileAt = "now"
		}
	}
}

func fluxSays(parts ...flux.Part) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) {
		in.Release = in.Release.DeepCopy()
		for _, p := range parts {
			p(in.Release)
		}
	}
}

// anotherGeneration is one that Flux has not looked at.
func anotherGeneration(hr *helmv2.HelmRelease) { hr.Generation++ }

func TestAwait(t *testing.T) {
	request := story.Wish{Request: "now"}
	const (
		runs    = "Ready: chart gateway 1.1.0 is deployed as revision 5"
		fails   = "Failed, InstallFailed: " + flux.InstallFailed
		renders = "Degraded, UpgradeFailed: " + flux.UpgradeFailed
		pulls   = "Degraded, OCIArtifactPullFailed: OCIRepository apis/web-451b482d: " + flux.PullFailed
		deploy  = "Progressing: " + flux.RunningUpgrade
		handed  = "waiting for the operator to hand the request on to Flux"
		busy    = "waiting for Flux to end what it does now, before the request is handed on to it"
	)
	for what, c := range map[string]struct {
		scene *scene
		wish  story.Wish
		want  story.Outcome
	}{
		"new":                                        {newScene(), request, story.Outcome{Message: "waiting for the operator to look at generation 1 of the gateway"}},
		"asked, and not handed on":                   {oldRuns(), request, story.Outcome{Message: handed}},
		"asked of what has stalled":                  {failedInstall(), request, story.Outcome{Message: handed}},
		"asked before there is anything":             {oldRuns().look(func(in *gatewaystatus.Input) { in.Release = nil }), request, story.Outcome{Message: handed}},
		"asked while an upgrade runs":                {oldRuns().then(wants("1.2.0"), source(flux.ReadySource()), release(2, upgrading)), request, story.Outcome{Message: busy}},
		"asked while Flux is asked":                  {oldRuns().look(fluxSays(anotherRequest)), request, story.Outcome{Message: busy}},
		"handed on":                                  {oldRuns().look(asked(true, false)), request, story.Outcome{Message: runs}},
		"dealt with":                                 {oldRuns().look(asked(true, true)), request, story.Outcome{Done: true, Message: runs}},
		"another request came since":                 {oldRuns().look(asked(true, true)).look(fluxSays(anotherRequest)), request, story.Outcome{Message: runs}},
		"and was dealt with too":                     {oldRuns().look(asked(true, false)).look(fluxSays(anotherRequest, handledAnother)), request, story.Outcome{Done: true, Message: runs}},
		"the gateway lags behind":                    {oldRuns().look(asked(true, true)).look(fluxSays(notReady)), request, story.Outcome{Message: runs}},
		"dealt with, and failed":                     {failedInstall().look(asked(true, true)), request, story.Outcome{Failed: true, Message: fails}},
		"dealt with, and a template does not render": {unrendered().look(asked(true, true)), request, story.Outcome{Failed: true, Message: renders}},
		"a template did not render before":           {unrendered().look(asked(true, false)), request, story.Outcome{Message: renders}},
		"a template did not render, and Flux tries again": {
			unrendered().look(asked(true, true)).look(fluxSays(triesAgain)), request, story.Outcome{Message: renders},
		},
		"failed before":                 {failedInstall().look(asked(true, false)), request, story.Outcome{Message: fails}},
		"failed, and another try runs":  {failedInstall().look(asked(true, true)).look(fluxSays(flux.Reconciling(flux.RunningInstall))), request, story.Outcome{Message: fails}},
		"refused":                       {oldRuns().then(refused("UnmappedField", "spec.x", "no")), request, story.Outcome{Failed: true, Message: "Degraded, UnmappedField: spec.x: no"}},
		"being deleted":                 {oldRuns().then(deleted), request, story.Outcome{Failed: true, Message: "the gateway is being deleted"}},
		"asked of a suspended release":  {oldRuns().look(fluxSays(flux.Suspended)), request, story.Outcome{Failed: true, Message: "HelmRelease apis/orders is suspended, and what is asked waits until it is resumed"}},
		"resumed":                       {oldRuns(), story.Wish{}, story.Outcome{Done: true, Message: runs}},
		"not resumed yet":               {oldRuns().look(fluxSays(flux.Suspended)), story.Wish{}, story.Outcome{Message: "waiting for HelmRelease apis/orders to be resumed"}},
		"resumed, and Flux has to look": {oldRuns().look(fluxSays(anotherGeneration)), story.Wish{}, story.Outcome{Message: runs}},
		"resumed, and an upgrade runs":  {oldRuns().then(wants("1.2.0"), source(flux.ReadySource()), release(2, upgrading)), story.Wish{}, story.Outcome{Message: deploy}},
		"resumed, without a chart":      {oldRuns().then(wants("1.2.0"), source(flux.FailedSource())), story.Wish{}, story.Outcome{Failed: true, Message: pulls}},
		"suspended":                     {oldRuns().look(fluxSays(flux.Suspended)), story.Wish{Suspend: true}, story.Outcome{Done: true, Message: "suspended"}},
		"not suspended yet":             {oldRuns(), story.Wish{Suspend: true}, story.Outcome{Message: "waiting for HelmRelease apis/orders to be suspended"}},
		"the HelmRelease is unreadable": {oldRuns().look(asked(true, true)).look(func(in *gatewaystatus.Input) { in.Release = nil }), request, story.Outcome{Done: true, Message: runs}},
	} {
		t.Run(what, func(t *testing.T) {
			in := c.scene.input()
			if got := story.Await(in.Gateway, in.Release, c.wish); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func failedInstall() *scene {
	return newScene().then(wants("1.2.0"), source(flux.ReadySource()), release(1, installFailed))
}

// unrendered is an upgrade whose template does not render: there is no revision, and Flux tries again ever more seldom.
func unrendered() *scene {
	return oldRuns().then(wants("1.2.0"), source(flux.ReadySource()), release(2, notRendered))
}

// triesAgain: while Flux does, Ready is Unknown.
func triesAgain(hr *helmv2.HelmRelease) {
	hr.Status.Conditions = nil
	flux.Parts(flux.Reconciling(flux.RunningUpgrade), flux.Ready("Unknown", "Progressing", flux.RunningUpgrade))(hr)
}

// anotherRequest is one that Flux has not handled.
func anotherRequest(hr *helmv2.HelmRelease) {
	hr.Annotations = map[string]string{"reconcile.fluxcd.io/requestedAt": "another"}
}

func handledAnother(hr *helmv2.HelmRelease) { hr.Status.LastHandledReconcileAt = "another" }

func notReady(hr *helmv2.HelmRelease) {
	hr.Status.Conditions = nil
	flux.Ready("False", "UpgradeFailed", flux.UpgradeFailed)(hr)
}
