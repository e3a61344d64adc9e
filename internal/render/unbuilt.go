// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
)

// seeKustomization remembers the folder of a kustomization that is read as a file, as those of a directory are.
func (s *Set) seeKustomization(file string) {
	if !slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(file)) {
		return
	}
	if s.kustomizations == nil {
		s.kustomizations = map[string]bool{}
	}
	s.kustomizations[path.Dir(file)] = true
}

// adviseBuilding says of problems that a kustomization may have the remedy: in its folder lies a file that was read as it is.
func (s *Set) adviseBuilding(problems []Problem) {
	for i := range problems {
		p := &problems[i]
		if folder := s.kustomizationOf(p.File); p.unbuilt && folder != "" {
			p.Message += "; -f reads files as they are: -k " + folder + " builds the kustomization that is there"
		}
		p.unbuilt = false
	}
}

// kustomizationOf is the nearest folder with a kustomization, up from a file; empty where there is none.
func (s *Set) kustomizationOf(file string) string {
	for folder := path.Dir(file); ; folder = path.Dir(folder) {
		switch {
		case s.kustomizations[folder]:
			return folder
		case folder == path.Dir(folder):
			return ""
		}
	}
}
