// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"strings"
)

// APIs says which API versions a cluster serves. The zero value knows of none, neither that one is served nor that it is
// not.
type APIs struct {
	known  bool
	served map[string]bool
	// kinds are the group versions of which at least one kind is known.
	kinds map[string]bool
	// unknown are the group versions that could not be asked, and why.
	unknown map[string]string
}

// ServedAPIs knows that a cluster serves these, and no others: group/version, or group/version/Kind, with which the version
// is served too. Of a version without any kind, as kubectl api-versions lists them, it is not known which kinds it has. The
// core group has no name: v1, v1/Pod.
func ServedAPIs(served []string) APIs {
	a := APIs{known: true, served: map[string]bool{}, kinds: map[string]bool{}}
	for _, apiVersion := range served {
		version := groupVersion(apiVersion)
		a.served[apiVersion], a.served[version] = true, true
		if version != apiVersion {
			a.kinds[version] = true
		}
	}
	return a
}

// Except is the same, but that nothing is known of a group version, and why.
func (a APIs) Except(groupVersion, why string) APIs {
	unknown := map[string]string{groupVersion: why}
	for name, reason := range a.unknown {
		unknown[name] = reason
	}
	a.unknown = unknown
	return a
}

// serves says whether the API version is served; if that is not known, why.
func (a APIs) serves(apiVersion string) (served bool, unknown string) {
	if !a.known {
		return false, "nobody told"
	}
	version := groupVersion(apiVersion)
	if why, ok := a.unknown[version]; ok {
		return false, why
	}
	if version != apiVersion && a.served[version] && !a.kinds[version] {
		return false, "of " + version + " no kinds are listed"
	}
	return a.served[apiVersion], ""
}

// apiVersionPattern is group/version or group/version/Kind.
var apiVersionPattern = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?(/[A-Z][A-Za-z0-9]*)?$`)

// groupVersion is the API version without its kind.
func groupVersion(apiVersion string) string {
	i := strings.LastIndex(apiVersion, "/")
	if i >= 0 && i+1 < len(apiVersion) && apiVersion[i+1] >= 'A' && apiVersion[i+1] <= 'Z' {
		return apiVersion[:i]
	}
	return apiVersion
}

// CheckAPIVersion refuses what no cluster could serve.
func CheckAPIVersion(apiVersion string) error {
	if apiVersionPattern.MatchString(apiVersion) {
		return nil
	}
	return fmt.Errorf("%q is neither group/version nor group/version/Kind, such as cert-manager.io/v1 or cert-manager.io/v1/Certificate", apiVersion)
}

func checkAPIVersion(field, apiVersion string, wrong *faults) {
	if err := CheckAPIVersion(apiVersion); err != nil {
		wrong.invalid(field, "%s", err)
	}
}
