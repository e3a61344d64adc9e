// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// refusals are gateways that run well, what is then committed instead, and what their status says of it.
var refusals = []struct {
	name    string
	before  files
	after   files
	reason  string
	message []string
}{
	{
		name:   "unmapped",
		before: files{"unmapped.yaml": gateway("unmapped")},
		after:  files{"unmapped.yaml": gateway("unmapped", "controlPlane: {host: example.com}")},
		reason: "UnmappedField", message: []string{"spec.controlPlane.host: class refused does not map this field"},
	}, {
		name:   "no-image",
		before: files{"no-image.yaml": gateway("no-image")},
		after:  files{"no-image.yaml": gateway("no-image", "infrastructure: {images: {router: registry.example.com/router:1.0}}")},
		reason: "UnmappedField", message: []string{`spec.infrastructure.images.router: class refused knows no image "router"`, "it knows: web"},
	}, {
		name:   "not-allowed",
		before: files{"not-allowed.yaml": gateway("not-allowed", "storage: {type: front}")},
		after:  files{"not-allowed.yaml": gateway("not-allowed", "storage: {type: middle}")},
		reason: "InvalidSpec", message: []string{`spec.storage.type: class refused does not allow "middle"; it allows: front, back`},
	}, {
		name:   "account",
		before: files{"account.yaml": gateway("account")},
		after:  files{"account.yaml": gateway("account", "release: {serviceAccountName: admin}")},
		reason: "NotAllowed", message: []string{"spec.release.serviceAccountName: class refused does not let gateways choose a ServiceAccount"},
	}, {
		name:   "values-conflict",
		before: files{"values-conflict.yaml": gateway("values-conflict", "infrastructure: {replicas: 1}")},
		after:  files{"values-conflict.yaml": gateway("values-conflict", "infrastructure: {replicas: 1}", "values: {replicas: 2}")},
		reason: "FieldConflict", message: []string{"spec.infrastructure.replicas: sets replicas to 1, but spec.values sets replicas to 2"},
	}, {
		name: "config-conflict",
		before: files{
			"config-conflict.yaml":        gateway("config-conflict", "infrastructure: {replicas: 1}", "configRef: {name: conflict}"),
			"config-conflict-config.yaml": configMap("conflict", "values.yaml: 'message: fine'"),
		},
		after:  files{"config-conflict-config.yaml": configMap("conflict", "values.yaml: 'replicas: 2'")},
		reason: "FieldConflict", message: []string{"sets replicas to 1, but ConfigMap/conflict values.yaml sets replicas to 2"},
	}, {
		name: "no-config",
		before: files{
			"no-config.yaml":        gateway("no-config", "configRef: {name: removed}"),
			"no-config-config.yaml": configMap("removed", "values.yaml: 'message: fine'"),
		},
		after:  files{"no-config-config.yaml": removed},
		reason: "ConfigNotFound", message: []string{"spec.configRef.name: ConfigMap refused/removed does not exist"},
	}, {
		name: "no-key",
		before: files{
			"no-key.yaml":        gateway("no-key", "configRef: {name: key}"),
			"no-key-config.yaml": configMap("key", "values.yaml: 'message: fine'"),
		},
		after:  files{"no-key-config.yaml": configMap("key", "other.yaml: 'message: fine'")},
		reason: "ConfigNotFound", message: []string{"ConfigMap refused/key has no key values.yaml under data; it has: other.yaml"},
	}, {
		name: "no-map",
		before: files{
			"no-map.yaml":        gateway("no-map", "configRef: {name: list}"),
			"no-map-config.yaml": configMap("list", "values.yaml: 'message: fine'"),
		},
		after:  files{"no-map-config.yaml": configMap("list", "values.yaml: '[1, 2]'")},
		reason: "InvalidConfig", message: []string{"ConfigMap refused/list, key values.yaml, a list is not a map"},
	}, {
		name:   "no-class",
		before: files{"no-class.yaml": gateway("no-class")},
		after:  files{"no-class.yaml": gatewayOf("nobodys", "no-class")},
		reason: "ClassNotFound", message: []string{"spec.className: there is no APIGatewayClass nobodys", "refused"},
	}, {
		name:   "bad-class",
		before: files{"bad-class.yaml": gatewayOf("$TEAM-bad", "bad-class"), "other-class.yaml": otherClass()},
		after:  files{"other-class.yaml": otherClass("imageMappings: [{name: web, paths: [{tag: tier.name}]}]")},
		reason: "ClassNotAccepted", message: []string{"APIGatewayClass/refused-bad spec.imageMappings[0].paths[0].tag", "spec.valueMappings[0].paths[0]"},
	},
}

// otherClass has one mapping, and more lines in its spec.
func otherClass(more ...string) string {
	return `apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: $TEAM-bad}
spec:
  chart: {url: $CHART, insecure: true, ref: {tag: 1.0.0}}
  valueMappings: [{field: storage.type, paths: [tier]}]
` + indented(more)
}

func TestBadInputTouchesNothingThatRuns(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "refused")
	before, after, back := files{"class.yaml": webClass()}, files{}, files{}
	for _, row := range refusals {
		for path, text := range row.before {
			before[path] = text
		}
		for path, text := range row.after {
			after[path], back[path] = text, row.before[path]
		}
	}
	m.commit("Add gateways", before)
	for _, row := range refusals {
		m.gateways.await(t, 2*release, row.name, "ready", isReady(1))
	}
	generations, pods := m.generations(), m.allPods()

	begin := time.Now()
	m.commit("Spoil them all", after)
	for _, row := range refusals {
		g := m.gateways.await(t, soon, row.name, "refused", both(
			notReady(row.reason, row.message...),
			says(v1alpha1.ConditionAccepted, metav1.ConditionFalse, row.reason, row.message...),
			says(v1alpha1.ConditionStalled, metav1.ConditionTrue, row.reason, row.message...),
			inPhase(v1alpha1.PhaseDegraded))).object
		equal(m, "chart that still runs "+row.name, g.Status.Release.ChartVersion, "1.0.0")
	}
	m.nothingWasWritten(begin)
	equal(m, "generations of the HelmReleases", m.generations(), generations)
	equal(m, "pods", m.allPods(), pods)

	m.commit("Correct them all", back)
	for _, row := range refusals {
		m.gateways.await(t, release, row.name, "ready", isReady(1))
	}
	equal(m, "generations of the HelmReleases at the end", m.generations(), generations)
}

// generations are those of the HelmReleases, by name.
func (m *team) generations() map[string]int64 {
	found := map[string]int64{}
	for name, hr := range m.releases.latest() {
		found[name] = hr.Generation
	}
	return found
}

// allPods are the pods of all releases, by the HelmRelease's name.
func (m *team) allPods() map[string][]types.UID {
	m.Helper()
	found := map[string][]types.UID{}
	for name := range m.releases.latest() {
		found[name] = m.pods(name)
	}
	return found
}

// nothingWasWritten: since then the operator changed no object of Flux in the team's namespace; with names, none of those.
func (m *team) nothingWasWritten(since time.Time, names ...string) {
	m.Helper()
	for _, w := range m.requests(since, func(e cluster.AuditEvent) bool {
		return e.IsWrite() && e.Namespace == m.name && (e.Resource == "helmreleases" || e.Resource == "ocirepositories") &&
			(len(names) == 0 || slices.Contains(names, e.Name))
	}) {
		m.Errorf("the operator wrote: %s %s %s at %s", w.Verb, w.Resource, w.Name, w.Received)
	}
}

func TestTheSecondGatewayOfOneReleaseNameIsRefused(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "rivals")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "first.yaml": gateway("first", "release: {name: web}", "values: {message: first}")})
	m.gateways.await(t, release, "first", "ready", isReady(1))
	generations, pods := m.generations(), m.pods("web")

	begin := time.Now()
	m.commit("Add another of that release name", files{"second.yaml": gateway("second", "release: {name: web}", "values: {message: second}")})
	m.gateways.await(t, soon, "second", "refused", both(
		notReady("Conflict", "spec.release.name", "belongs to APIGateway rivals/first already"), inPhase(v1alpha1.PhaseFailed)))
	m.treeIs("rival", "second")
	m.nothingWasWritten(begin)
	equal(m, "generations of the HelmReleases", m.generations(), generations)
	equal(m, "pods", m.pods("web"), pods)
	equal(m, "settings", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "first"})

	m.commit("Remove the first", files{"first.yaml": removed})
	m.gateways.await(t, release, "second", "ready", isReady(1))
	m.went("second", "Failed False Conflict", "Pending Unknown Pending", "Progressing Unknown Progressing", "Ready True Ready")
	equal(m, "settings of the second", m.configs.latest()["web-settings"].Data, map[string]string{"chart": "1.0", "message": "second"})
}

func TestAForeignHelmReleaseOfThatNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "foreign")
	m.create(foreignRelease)
	m.releases.await(t, release, "web", "ready", helmReady)
	before, pods := get(m, "web", &helmv2.HelmRelease{}), m.pods("web")

	begin := time.Now()
	m.commit("Add a gateway of that name", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: mine}")})
	m.gateways.await(t, soon, "web", "refused", both(
		notReady("Conflict", "HelmRelease foreign/web exists and is not this gateway's (it has no owner)"), inPhase(v1alpha1.PhaseFailed)))
	m.treeIs("foreign", "web")
	m.commit("Remove it again", files{"web.yaml": removed})
	m.gateways.awaitGone(t, soon, "web")

	m.nothingWasWritten(begin)
	after := get(m, "web", &helmv2.HelmRelease{})
	equal(m, "HelmRelease", after.Spec, before.Spec)
	equal(m, "its owners", after.OwnerReferences, nil)
	equal(m, "pods", m.pods("web"), pods)
}

const foreignRelease = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: by-hand, namespace: $TEAM}
spec:
  url: $CHART
  insecure: true
  ref: {tag: 1.0.0}
  interval: 1h
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: $TEAM}
spec:
  chartRef: {kind: OCIRepository, name: by-hand}
  interval: 1h
`
