// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Style of a printed story.
type Style struct {
	// Colour sets marks of colour, as terminals understand them.
	Colour bool
}

// ANSI's marks.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
	plain  = "\x1b[0m"
)

// page collects the text of a story.
type page struct {
	strings.Builder
	style Style
	now   time.Time
}

// Text is the story for a screen: the verdict first, its causes within the first five lines.
func (s Story) Text(style Style) string {
	p := &page{style: style, now: s.Time.Time}
	p.verdict(s)
	p.gateway(s)
	p.source(s.Source)
	p.release(s)
	p.objects(s)
	p.pods(s.Pods)
	p.events(s.Events)
	p.gaps(s.Gaps)
	return p.String()
}

func (p *page) verdict(s Story) {
	v := s.Verdict
	p.line("APIGateway %s/%s: %s", s.Gateway.Namespace, s.Gateway.Name, p.paint(colourOf(v), headline(v, p.now)))
	label := "wrong"
	if v.Healthy {
		label = "runs"
	} else if isFine(v) {
		label = "now"
	}
	p.say(label, v.Message)
	for _, cause := range v.Causes {
		p.say("cause", cause)
	}
	for _, a := range v.Advice {
		p.say("do", a.Text)
		if a.Command != "" {
			p.say("", "  "+a.Command)
		}
	}
	for _, step := range v.Next {
		p.say("next", p.step(step))
	}
}

// isFine: nothing has failed.
func isFine(v Verdict) bool {
	switch v1alpha1.Phase(v.Phase) {
	case v1alpha1.PhaseDegraded, v1alpha1.PhaseFailed:
		return false
	}
	return true
}

func colourOf(v Verdict) string {
	switch {
	case v.Healthy:
		return green
	case isFine(v):
		return yellow
	}
	return red
}

func headline(v Verdict, now time.Time) string {
	text := v.Phase
	if text == "" {
		text = "New"
	}
	if v.Reason != "" && v.Reason != v.Phase {
		text += ", " + v.Reason
	}
	switch {
	case v.Since != nil && v.SinceOf != "":
		text += fmt.Sprintf(" (%s for %s)", v.SinceOf, age(*v.Since, now))
	case v.Since != nil:
		text += " for " + age(*v.Since, now)
	}
	if v.Runs != "" {
		text += "; " + v.Runs
	}
	switch {
	case v.Phase != string(v1alpha1.PhaseReady) || v.Healthy:
	case v.Behind != "" && len(v.Causes) == 1:
		text += ", but " + short(v.Behind) + " is not applied yet"
	default:
		text += ", but something is wrong"
	}
	return text
}

func (p *page) step(s Step) string {
	if s.Time == nil {
		return s.Text
	}
	when := "any moment"
	if left := s.Time.Sub(p.now); left > 0 {
		when = "in " + duration.HumanDuration(left)
	}
	return fmt.Sprintf("%s %s, at %s", s.Text, when, s.Time.UTC().Format(time.RFC3339))
}

func (p *page) gateway(s Story) {
	g := s.Gateway
	text := fmt.Sprintf("class %s, generation %d", orNone(g.Class), g.Generation)
	if g.ObservedGeneration != g.Generation {
		text += " (not seen yet)"
	}
	if g.AppliedBy != "" {
		text += ", applied by Kustomization " + g.AppliedBy
	}
	p.title("Gateway", text)
	p.conditions(g.Conditions, readyMessage(g.Conditions))
}

// readyMessage is what the verdict has told.
func readyMessage(conditions []metav1.Condition) string {
	if c := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReady); c != nil {
		return c.Message
	}
	return ""
}

func (p *page) source(s *Source) {
	if s == nil {
		p.title("Source", "none yet")
		return
	}
	text := fmt.Sprintf("OCIRepository %s/%s", s.Namespace, s.Name)
	if s.URL != "" {
		text += fmt.Sprintf(", %s %s", s.URL, s.Ref)
	}
	if s.Revision != "" {
		text += ", has " + s.Revision
	}
	p.title("Source", text)
	p.conditions(s.Conditions)
}

func (p *page) release(s Story) {
	r := s.Release
	if r == nil && slices.ContainsFunc(s.Gaps, func(g Gap) bool { return strings.HasPrefix(g.What, "HelmRelease ") }) {
		p.title("Release", "the HelmRelease could not be read")
		return
	}
	if r == nil {
		p.title("Release", "no HelmRelease")
		return
	}
	text := fmt.Sprintf("HelmRelease %s/%s", r.Namespace, r.Name)
	if r.Foreign {
		p.title("Release", text+" is not this gateway's")
		return
	}
	text += ", Helm release " + r.Helm
	if r.Suspended {
		text += ", suspended"
	}
	p.title("Release", text)
	p.conditions(r.Conditions)
	if len(r.Revisions) == 0 {
		return
	}
	t := newTable("REVISION", "CHART", "APP", "ACTION", "STATUS", "DEPLOYED", "CHANGED")
	for _, rev := range r.Revisions {
		t.add(rev.Status == "failed", fmt.Sprint(rev.Revision), orNone(rev.ChartVersion), orNone(rev.AppVersion), orNone(rev.Action),
			rev.Status, p.ago(rev.Deployed), rev.changes())
	}
	p.table(t)
}

// changes is what a revision changed, in words.
func (r Revision) changes() string {
	switch {
	case r.Chart == "":
		return "-"
	case r.Chart == ChangedNo && r.Values == ChangedNo:
		return "neither chart nor values"
	}
	var parts []string
	for _, what := range []struct {
		name    string
		changed Changed
	}{{"chart", r.Chart}, {"values", r.Values}} {
		switch what.changed {
		case ChangedYes:
			parts = append(parts, what.name)
		case ChangedUnknown:
			parts = append(parts, what.name+" unknown")
		}
	}
	return strings.Join(parts, ", ")
}

func (p *page) objects(s Story) {
	if len(s.Objects) == 0 {
		return
	}
	healthy := 0
	t := newTable()
	for _, o := range s.Objects {
		if o.Health == "Current" {
			healthy++
		}
		t.add(o.Unhealthy(), o.Kind, nameIn(s.Gateway.Namespace, o.Namespace, o.Name), o.Health, o.Message)
	}
	p.title("Objects", fmt.Sprintf("%d of %d healthy", healthy, len(s.Objects)))
	p.table(t)
}

func (p *page) pods(s PodSummary) {
	if s.Total == 0 {
		return
	}
	p.title("Pods", fmt.Sprintf("%d of %d ready", s.Ready, s.Total))
	t := newTable()
	for _, pod := range s.NotReady {
		for i, problem := range pod.Problems {
			name, old := pod.Name, age(pod.Created, p.now)
			if i > 0 {
				name, old = "", ""
			}
			t.add(true, name, old, problem.String())
		}
	}
	p.table(t)
}

func (p *page) events(events []Event) {
	if len(events) == 0 {
		return
	}
	p.title("Events", "the newest first")
	t := newTable()
	for _, e := range events {
		reason := e.Reason
		if e.Count > 1 {
			reason += fmt.Sprintf(" (%d times)", e.Count)
		}
		t.add(e.Type == "Warning", age(e.Time, p.now), e.Type, e.Kind+"/"+e.Name, reason, e.Message)
	}
	p.table(t)
}

func (p *page) gaps(gaps []Gap) {
	if len(gaps) == 0 {
		return
	}
	p.title("Not read", "so that the story may lack it")
	t := newTable()
	for _, g := range gaps {
		t.add(false, g.What+":", g.Why)
	}
	p.table(t)
}

// conditions are told in their order; of several that say the same, the first says it.
func (p *page) conditions(conditions []metav1.Condition, told ...string) {
	t := newTable()
	for _, c := range conditions {
		message := c.Message
		if message != "" && slices.Contains(told, message) {
			message = "(told above)"
		}
		told = append(told, c.Message)
		t.add(isBad(c), c.Type, string(c.Status), c.Reason, age(c.LastTransitionTime, p.now), message)
	}
	p.table(t)
}

// isBad: most conditions are good when True; some when absent or False.
func isBad(c metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionStalled, v1alpha1.ConditionRolledBack, v1alpha1.ConditionDrifted, "FetchFailed":
		return c.Status == metav1.ConditionTrue
	case v1alpha1.ConditionReconciling, "Remediated":
		return false
	}
	return c.Status == metav1.ConditionFalse
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) say(label, text string) {
	p.line("  %s %s", p.paint(bold, fmt.Sprintf("%-6s", label)), text)
}

func (p *page) title(name, text string) { p.line("%s  %s", p.paint(bold, name), short(text)) }

func (p *page) paint(colour, text string) string {
	if !p.style.Colour {
		return text
	}
	return colour + text + plain
}

func (p *page) ago(t *metav1.Time) string {
	if t == nil {
		return "-"
	}
	return age(*t, p.now) + " ago"
}

func age(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return duration.HumanDuration(max(now.Sub(t.Time), 0))
}

func orNone(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
