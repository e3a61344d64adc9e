// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"strings"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// refused takes over what keeps the input from rendering, and judges classes by themselves, also those of no gateway.
func (l *linter) refused() {
	result := l.Set.Render(l.Options)
	for _, p := range result.Notes {
		l.located = append(l.located, noted(p))
	}
	for _, p := range result.Problems {
		switch {
		case ofWhole(p) && len(l.all) > 0 && l.hasNoGateway():
			// A platform team's classes may be linted without any gateway.
		case p.Reason == v1alpha1.ReasonClassNotAccepted && strings.HasPrefix(p.Object, className("")):
			// Said of the class itself, below.
		default:
			rule := cmp.Or(p.Reason, RuleInvalidInput)
			p.Reason = ""
			l.located = append(l.located, Finding{Severity: Error, Rule: rule, Problem: p})
		}
	}
	for i := range l.all {
		for _, f := range plan.ClassFaults(&l.all[i]) {
			_, field, _ := strings.Cut(f.Field, " ")
			l.add(Error, f.Reason, className(l.all[i].Name), field, f.Message)
		}
	}
}

// noted judges what rendering passes over. A kind of somebody else's is passed over rightly; a gateway of a class that another
// controller serves, and a directory of which nothing is read, may be a mistake.
func noted(p render.Problem) Finding {
	switch {
	case p.Object == "":
		return Finding{Severity: Warning, Rule: RuleNothingRead, Problem: p}
	case p.APIVersion == v1alpha1.GroupVersion.String():
		return Finding{Severity: Warning, Rule: RuleSkipped, Problem: p}
	}
	return Finding{Severity: Note, Rule: RuleSkipped, Problem: p}
}

func (l *linter) hasNoGateway() bool {
	for range l.Set.Gateways() {
		return false
	}
	return true
}

// ofWhole says whether a problem is about no file and no object, but about what the input lacks.
func ofWhole(p render.Problem) bool {
	return p.File == "" && p.Object == ""
}
