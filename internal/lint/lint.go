// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package lint judges gateways and classes before they are committed: beyond what keeps them from rendering, it holds them
// against the charts that they are for, against what they were before, and against life without the operator. It stands
// after internal/render, whose sets it reads, and beside internal/chart; internal/cli brings both and prints the findings.
package lint

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/render"
)

// Input is what is judged.
type Input struct {
	Set     *render.Set
	Options render.Options
	Charts  Charts
	// Before is the same input as it was, for what a change of it would do; nil where that is not asked.
	Before *render.Set
	// ForGit judges what is rendered into git, and runs without the operator.
	ForGit bool
}

// Charts that the input is held against. What has none here is not.
type Charts struct {
	// OfClasses by the classes' names.
	OfClasses map[string]*chart.Chart
	// OfGateways that want another version than their class.
	OfGateways map[types.NamespacedName]*chart.Chart
}

// Severity of a finding.
type Severity string

const (
	// Error is what a cluster would refuse, or what certainly does not do what it says.
	Error Severity = "error"
	// Warning is what may be meant.
	Warning Severity = "warning"
	// Note is what was not judged, and need not be.
	Note Severity = "note"
)

// Finding is a problem and how bad it is.
type Finding struct {
	Severity Severity
	// Rule is one of Rules.
	Rule string
	// Before says that its object stands in the input as it was, and not in the present one.
	Before bool
	render.Problem
}

// String is one line: file:line: object: field: severity: message (rule).
func (f Finding) String() string {
	p := f.Problem
	p.Message, p.Reason = string(f.Severity)+": "+p.Message, f.Rule
	return p.String()
}

// Lint says everything that is to be said, by file and line.
func Lint(in Input) []Finding {
	l := &linter{Input: in, all: in.Set.Classes()}
	l.refused()
	l.marks()
	l.dependencies()
	l.classes()
	for planned := range in.Set.Plans(in.Options) {
		l.gateway(planned)
	}
	l.moved()
	l.forGit()
	return l.sorted()
}

type linter struct {
	Input
	// all classes of the set, by name.
	all      []v1alpha1.APIGatewayClass
	findings []Finding
	// located have their lines already.
	located []Finding
}

func (l *linter) add(severity Severity, rule, object, field, message string) {
	l.addIn(0, severity, rule, object, field, message)
}

// addIn adds what is about a line of the text that the field holds; 0 for the field as a whole.
func (l *linter) addIn(textLine int, severity Severity, rule, object, field, message string) {
	l.findings = append(l.findings, Finding{Severity: severity, Rule: rule, Problem: render.Problem{
		Object: object, APIVersion: v1alpha1.GroupVersion.String(), Field: field, Message: message, TextLine: textLine,
	}})
}

func gatewayName(g *v1alpha1.APIGateway) string {
	return v1alpha1.APIGatewayKind + " " + g.Namespace + "/" + g.Name
}

func className(name string) string {
	return v1alpha1.APIGatewayClassKind + " " + name
}

func keyOf(g *v1alpha1.APIGateway) types.NamespacedName {
	return types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
}

// sorted are all findings with their lines, each once; of two about one field the error stays alone where the warning says
// the same.
func (l *linter) sorted() []Finding {
	all := slices.Concat(l.located, locate(l.Set, l.findings))
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.String(), b.String()))
	})
	type place struct{ object, field, message string }
	refused := map[place]bool{}
	for _, f := range all {
		if f.Severity == Error {
			refused[place{f.Object, f.Field, f.Message}] = true
		}
	}
	all = slices.DeleteFunc(all, func(f Finding) bool {
		return f.Severity == Warning && refused[place{f.Object, f.Field, f.Message}]
	})
	return slices.Compact(all)
}

// locate fills in where the findings' objects stand in the set.
func locate(set *render.Set, findings []Finding) []Finding {
	problems := make([]render.Problem, len(findings))
	for i, f := range findings {
		problems[i] = f.Problem
	}
	set.Locate(problems)
	for i := range findings {
		findings[i].Problem = problems[i]
	}
	return findings
}
