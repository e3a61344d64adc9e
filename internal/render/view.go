// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// What follows is for those who judge a set, as internal/lint does, beside rendering it.

// Planned is a gateway that renders, with what it was planned from.
type Planned struct {
	Gateway *v1alpha1.APIGateway
	// Config is the ConfigMap that the gateway refers to; nil for none.
	Config *corev1.ConfigMap
	Plan   *plan.Plan
}

// Gateways that were read, those with faults included, by namespace and name.
func (s *Set) Gateways() iter.Seq[*v1alpha1.APIGateway] {
	return func(yield func(*v1alpha1.APIGateway) bool) {
		for _, name := range s.gatewayNames() {
			if !yield(s.gateways[name].gateway) {
				return
			}
		}
	}
}

// Gateway of that name; nil where there is none.
func (s *Set) Gateway(name types.NamespacedName) *v1alpha1.APIGateway {
	if entry := s.gateways[name]; entry != nil {
		return entry.gateway
	}
	return nil
}

// Classes that were read without a fault, by name.
func (s *Set) Classes() []v1alpha1.APIGatewayClass {
	return slices.SortedFunc(slices.Values(s.classes), func(a, b v1alpha1.APIGatewayClass) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// Misread are the problems that were met in reading, by file and line. Those without an object keep a document from being read.
func (s *Set) Misread() []Problem {
	return sortProblems(slices.Clone(s.problems))
}

// Plans are made one by one, for those gateways that have one, by namespace and name.
func (s *Set) Plans(options Options) iter.Seq[Planned] {
	r := rendering{set: s, options: options, readings: plan.Readings{}}
	return func(yield func(Planned) bool) {
		for _, name := range s.gatewayNames() {
			entry := s.gateways[name]
			if entry.faulty || s.unread {
				continue
			}
			in := r.planInput(entry.gateway)
			p, err := plan.Make(in)
			if err == nil && !yield(Planned{Gateway: entry.gateway, Config: in.Config, Plan: p}) {
				return
			}
		}
	}
}

// Locate fills in the files and lines of problems with objects of the set.
func (s *Set) Locate(problems []Problem) {
	for i := range problems {
		problems[i].File = s.origins[problems[i].Object].file
	}
	s.locate(problems)
}

// Has says whether the set holds an object, named as in problems.
func (s *Set) Has(object string) bool {
	_, found := s.origins[object]
	return found
}
