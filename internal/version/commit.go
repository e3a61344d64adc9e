// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package version

import "runtime/debug"

// Commit is what the program was built from: the commit's hash, with ", modified" behind it where the checkout had other
// changes. It is empty when Go did not note it, as of a build outside of git, or with -buildvcs=false.
func Commit() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return ""
	}
	return commit(info.Settings)
}

func commit(settings []debug.BuildSetting) string {
	is := map[string]string{}
	for _, s := range settings {
		is[s.Key] = s.Value
	}
	hash := is["vcs.revision"]
	if hash != "" && is["vcs.modified"] == "true" {
		hash += ", modified"
	}
	return hash
}
