// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// life is a gateway, the operator and Flux, and people who change their minds at any moment.
type life struct {
	t       *testing.T
	r       *rand.Rand
	flux    *helmController
	gateway *v1alpha1.APIGateway
	wish    wish
	plan    *plan.Plan
	desired fluxobjects.Objects
	// revisions are the last that each source had, seen those of them that the operator has seen: one that a source lost again
	// at once nobody can know.
	revisions, seen map[string]string
	// forgetful: the status is lost now and then. Whether patches were applied is then nowhere to be seen.
	forgetful bool
	// insists: the gateway's spec.suspend is true, and the operator suspends again what people resume.
	insists bool
	log     []string
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), revisions: map[string]string{}, seen: map[string]string{},
		gateway: &v1alpha1.APIGateway{}, log: []string{fmt.Sprintf("life %d", seed)},
	}
	l.gateway.Name, l.gateway.Namespace = "orders", "team-a"
	l.forgetful = l.r.IntN(10) == 0
	l.flux = &helmController{r: l.r, sources: map[string]*sourcev1.OCIRepository{}, now: flux.Noon, between: l.meanwhile}
	l.wish = wish{chart: "^1", interval: 5 * time.Minute, strategy: v1alpha1.StrategyRollback}
	if l.r.IntN(8) == 0 {
		l.wish.strategy = v1alpha1.StrategyUninstall
	}
	l.commit()
	return l
}

func (l *life) note(format string, args ...any) { l.log = append(l.log, fmt.Sprintf(format, args...)) }

// wish is what people choose from: a few charts, values, patches and settings, so that they come back to what they had.
type wish struct {
	chart    string
	values   int
	patched  bool
	interval time.Duration
	retries  int
	strategy v1alpha1.RemediationStrategy
}

// change is a commit. Most change one thing.
func (l *life) change() {
	switch l.r.IntN(8) {
	case 0, 1:
		l.wish.chart = []string{"1.1.0", "1.2.0", "^1"}[l.r.IntN(3)]
	case 2, 3:
		l.wish.values = 1 - l.wish.values
	case 4, 5:
		l.wish.patched = !l.wish.patched
	case 6:
		l.wish.interval = 11*time.Minute - l.wish.interval
	case 7:
		l.wish.retries = 1 - l.wish.retries
	}
	l.commit()
}

func (l *life) commit() {
	w := l.wish
	l.plan = chart(w.chart)
	l.plan.Release.Values = []byte(fmt.Sprintf(`{"n":%d}`, w.values))
	l.plan.Release.Interval = w.interval
	l.plan.Remediation.Retries, l.plan.Remediation.Strategy = w.retries, w.strategy
	l.desired = fluxobjects.Make(l.plan, fluxobjects.SharedSources)
	if w.patched {
		patch := []kustomize.Patch{{Patch: "a patch"}}
		l.desired.Release.Spec.PostRenderers = []helmv2.PostRenderer{{Kustomize: &helmv2.Kustomize{Patches: patch}}}
	}
	l.gateway.Generation++
	l.note("generation %d of the gateway: %+v", l.gateway.Generation, w)
}

func (l *life) suspend(yes bool) {
	if hr := l.flux.hr; hr != nil && hr.Spec.Suspend != yes {
		hr.Spec.Suspend = yes
		hr.Generation++
		l.note("suspend becomes %v, generation %d", yes, hr.Generation)
	}
}

// insist has the operator suspend the HelmRelease, marked with the generation that it suspends.
func (l *life) insist() {
	hr := l.flux.hr
	if l.insists && !hr.Spec.Suspend {
		next := hr.DeepCopy()
		next.Spec.Suspend = true
		fluxobjects.MarkSuspension(hr, next)
		hr.Annotations = next.Annotations
		l.suspend(true)
	}
}

// makeSource makes the wanted source; its first artifact comes later.
func (l *life) makeSource() {
	name := l.desired.Source.Name
	if l.flux.sources[name] == nil {
		l.flux.sources[name] = l.desired.Source.DeepCopy()
		l.flux.sources[name].Generation = 1
		l.flux.sources[name].Status.ObservedGeneration = -1
	}
}

// moveSources: one loses its artifact or fails to refresh; others get theirs, and that of a range moves.
func (l *life) moveSources() {
	for _, name := range l.sourceNames() {
		source := l.flux.sources[name]
		switch l.r.IntN(4) {
		case 0:
			flux.NoArtifact(source)
			source.Status.Conditions = nil
		case 1:
			source.Status.Conditions = nil
			flux.PullFails(source)
		default:
			l.pull(source)
		}
	}
	l.note("sources move: %v", l.revisions)
	l.flux.awake = true
}

func (l *life) restoreSources() {
	for _, name := range l.sourceNames() {
		l.pull(l.flux.sources[name])
	}
}

// sourceNames are sorted by the order in which the charts are known, so that a life can be repeated.
func (l *life) sourceNames() (names []string) {
	for _, version := range []string{"1.1.0", "1.2.0", "^1"} {
		name := fluxobjects.SourceName(chart(version), fluxobjects.SharedSources).Name
		if l.flux.sources[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

func (l *life) pull(source *sourcev1.OCIRepository) {
	revision := l.revisions[source.Name]
	if revision == "" {
		revision = "sha256:" + source.Name
	}
	if source.Spec.Reference.Tag == "^1" && !l.flux.calm {
		revision = fmt.Sprintf("sha256:range-%d", l.r.IntN(3))
	}
	l.revisions[source.Name] = revision
	source.Status.Artifact = &meta.Artifact{Revision: revision}
	source.Status.ObservedGeneration = source.Generation
	source.Status.Conditions = nil
	flux.SourceCondition("Ready", "True", "Succeeded", "stored")(source)
}

// wakesUp: the spec changed, a request came, or the source moved, perhaps while an action ran.
func (l *life) wakesUp() bool {
	hr := l.flux.hr
	return hr.Status.ObservedGeneration != hr.Generation || hr.Status.LastAttemptedRevisionDigest != l.flux.digest(hr) ||
		hr.Annotations[meta.ReconcileRequestAnnotation] != hr.Status.LastHandledReconcileAt
}

func (l *life) input() gatewaystatus.Input {
	in := gatewaystatus.Input{
		Gateway: l.gateway, Plan: l.plan, Desired: l.desired.Release, Release: l.flux.hr,
		Source: l.flux.sources[l.desired.Source.Name], Now: l.flux.now,
	}
	if l.flux.hr != nil {
		in.RunningSource = l.flux.sources[l.flux.hr.Spec.ChartRef.Name]
	}
	if in.Source != nil && in.Source.Status.Artifact != nil {
		l.seen[l.desired.Source.Name] = in.Source.Status.Artifact.Revision
	}
	return in
}
