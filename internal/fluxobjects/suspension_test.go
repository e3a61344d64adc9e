// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// suspensions are of a HelmRelease, edited by people and by Sluice as the API server takes it: each change of the spec is a generation.
type suspensions struct{ hr *helmv2.HelmRelease }

func (s *suspensions) edited(change func(*helmv2.HelmReleaseSpec)) {
	before := s.hr.DeepCopy()
	change(&s.hr.Spec)
	if !SpecEqual(before.Spec, s.hr.Spec) {
		s.hr.Generation++
	}
}

func (s *suspensions) suspended() {
	live := s.hr.DeepCopy()
	next := live.DeepCopy()
	next.Spec.Suspend = true
	MarkSuspension(live, next)
	next.Generation++
	s.hr = next
}

func TestUnchangedSince(t *testing.T) {
	resume := func(s *suspensions) { s.edited(func(spec *helmv2.HelmReleaseSpec) { spec.Suspend = false }) }
	byPeople := func(s *suspensions) { s.edited(func(spec *helmv2.HelmReleaseSpec) { spec.Suspend = true }) }
	rename := func(name string) func(*suspensions) {
		return func(s *suspensions) { s.edited(func(spec *helmv2.HelmReleaseSpec) { spec.ReleaseName = name }) }
	}
	suspend := (*suspensions).suspended
	for what, c := range map[string]struct {
		deeds []func(*suspensions)
		want  int64
	}{
		"nothing was done":    {nil, 1},
		"suspended":           {[]func(*suspensions){suspend}, 1},
		"resumed by people":   {[]func(*suspensions){suspend, resume}, 3},
		"and suspended again": {[]func(*suspensions){suspend, resume, suspend}, 1},
		"and again":           {[]func(*suspensions){suspend, resume, suspend, resume, suspend}, 1},
		"changed before it":   {[]func(*suspensions){rename("b"), suspend}, 2},
		"changed after it":    {[]func(*suspensions){suspend, rename("b")}, 3},
		"resumed and changed in one": {[]func(*suspensions){suspend, func(s *suspensions) {
			s.edited(func(spec *helmv2.HelmReleaseSpec) { spec.Suspend, spec.ReleaseName = false, "b" })
		}, suspend}, 3},
		"changed and changed back meanwhile":            {[]func(*suspensions){suspend, rename("b"), rename("a"), resume, suspend}, 5},
		"changed and changed back without a suspension": {[]func(*suspensions){suspend, resume, rename("b"), rename("a"), suspend}, 5},
		"suspended by people":                           {[]func(*suspensions){byPeople}, 2},
		"resumed and suspended by people":               {[]func(*suspensions){suspend, resume, byPeople}, 4},
		"a note that is none":                           {[]func(*suspensions){func(s *suspensions) { s.hr.Annotations = map[string]string{v1alpha1.AnnotationSuspendedAt: "1-x"} }}, 1},
		"a note of another spec":                        {[]func(*suspensions){func(s *suspensions) { s.hr.Annotations = map[string]string{v1alpha1.AnnotationSuspendedAt: "0-1:0"} }}, 1},
	} {
		t.Run(what, func(t *testing.T) {
			s := &suspensions{&helmv2.HelmRelease{}}
			s.hr.Generation, s.hr.Spec.ReleaseName = 1, "a"
			for _, deed := range c.deeds {
				deed(s)
			}
			if got := UnchangedSince(s.hr); got != c.want {
				t.Errorf("got %d, want %d (generation %d)", got, c.want, s.hr.Generation)
			}
		})
	}
}
