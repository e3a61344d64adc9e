// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/render"
)

// maxReleaseName is Helm's limit.
const maxReleaseName = 53

func (m *migration) newGateway(in render.Input, name types.NamespacedName, class *v1alpha1.APIGatewayClass) *gateway {
	m.named[name] = true
	return &gateway{
		in: in, name: name, class: class, secrets: m.secrets,
		spec: map[string]any{}, from: map[string]string{}, passedOver: map[string]string{},
		warn: func(p render.Problem) { m.warnings = append(m.warnings, p) },
	}
}

// finish judges a gateway as it is printed, and keeps it.
func (m *migration) finish(g *gateway) {
	m.problems = append(m.problems, g.check(m.options.Environment)...)
	m.take(g.in, "", "APIGateway "+g.name.String(), "becomes an APIGateway whose name another has")
	if release, ok := g.spec["release"].(map[string]any); ok {
		m.take(g.in, "", fmt.Sprintf("release %s/%v", g.name.Namespace, release["name"]),
			fmt.Sprintf("takes over Helm release %s/%v, as another does: only one can", g.name.Namespace, release["name"]))
	}
	m.gateways = append(m.gateways, g)
}

// checkNames refuses objects whose name or namespace is not there to be read.
func (m *migration) checkNames(in render.Input, name, namespace string) bool {
	before := len(m.problems)
	if name == "" {
		m.problems = append(m.problems, in.Problem("metadata.name", "is missing"))
	}
	if namespace == "" {
		m.problems = append(m.problems, in.Problem("metadata.namespace", "is missing; the release is looked for there, so write it here"))
	}
	return len(m.problems) == before
}

// nameRelease gives the gateway the release that runs: the one that was named, else the one of the old operator's rule.
func (m *migration) nameRelease(g *gateway, rule func(gateway string) (name, doubt string)) {
	name, given := m.options.ReleaseNames[g.name]
	if !given {
		var doubt string
		if name, doubt = rule(g.name.Name); doubt != "" {
			doubt = fmt.Sprintf("%s; helm list -n %s tells, and --release-name %s=NAME says so", doubt, g.name.Namespace, g.name)
			if name == "" {
				m.problems = append(m.problems, g.in.Problem("metadata.name", doubt))
				return
			}
			g.warning("metadata.name", doubt)
		}
	}
	g.put("release.name", "", name)
}

// The old operator names a release <gateway>-gw. A name that gets too long is a hash of the gateway's instead: at first one
// over Helm's limit, in later versions one from which the chart's longest Service name would pass 63 characters.
const (
	wso2Suffix = "-gw"
	// The chart adds its own name, gateway, where the release's does not have it, and to a Service -gateway-runtime.
	wso2Chart         = "gateway"
	wso2LongestSuffix = "-gateway-runtime"
	maxServiceName    = 63
)

// wso2ReleaseName is empty where no rule tells the name; the doubt says why, or what else it may be.
func wso2ReleaseName(gateway string) (name, doubt string) {
	name = gateway + wso2Suffix
	if len(name) > maxReleaseName {
		return "", fmt.Sprintf("the name of its release is not known: %s has more than %d characters, so that the old operator named it by a hash",
			name, maxReleaseName)
	}
	longest := len(name) + len(wso2LongestSuffix)
	if !strings.Contains(name, wso2Chart) {
		longest += len("-" + wso2Chart)
	}
	if longest > maxServiceName {
		return name, fmt.Sprintf("its release is taken to be %s, but later versions of the old operator name one this long by a hash", name)
	}
	return name, ""
}

// hyperShellRelease is the name of every gateway's release, each in a namespace of its own.
const hyperShellRelease = "openshell-gateway"

func hyperShellReleaseName(string) (name, doubt string) { return hyperShellRelease, "" }
