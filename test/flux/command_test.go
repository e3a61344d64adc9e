// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"regexp"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestTheCommandLineReconcilesSuspendsAndResumes(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "commands")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web"), "other.yaml": gateway("other")})
	for _, name := range []string{"web", "other"} {
		m.gateways.await(t, release, name, "ready", isReady(1))
	}
	m.golden("get", columnsOf(m.ran(0, "get")))
	m.golden("get-wide", columnsOf(m.ran(0, "get", "web", "-o", "wide")))
	m.golden("get-all", columnsOf(m.ran(0, "get", "-A", "-l", "kustomize.toolkit.fluxcd.io/name=commands")))
	m.golden("get-missing", m.ran(1, "get", "wbe"))
	m.golden("get-label", m.ran(0, "get", "-l", "team=orders"))

	m.mark()
	out := m.ran(0, "reconcile", "web", "--wait")
	g := get(m, "web", &v1alpha1.APIGateway{})
	hr := get(m, "web", &helmv2.HelmRelease{})
	asked := g.Annotations[meta.ReconcileRequestAnnotation]
	equal(m, "handled by both", []string{g.Status.LastHandledReconcileAt, hr.Status.LastHandledReconcileAt}, []string{asked, asked})
	m.lastLine(out, "Ready: chart web 1.0.0 is deployed as revision 1")

	m.mark()
	out = m.ran(0, "reconcile", "web", "--force", "--wait")
	m.lastLine(out, "Ready: chart web 1.0.0 is deployed as revision 2")
	equal(m, "Helm's revisions after --force", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})

	m.golden("suspend", withoutProgress(m.ran(0, "suspend", "web", "--wait")))
	equal(m, "suspended", get(m, "web", &helmv2.HelmRelease{}).Spec.Suspend, true)
	m.golden("suspend-again", m.ran(0, "suspend", "web"))
	m.golden("reconcile-suspended", m.ran(0, "reconcile", "web"))
	m.golden("reconcile-suspended-wait", m.ran(1, "reconcile", "web", "--wait"))
	m.golden("resume", withoutProgress(m.ran(0, "resume", "web", "--wait")))
	equal(m, "the field is gone", get(m, "web", &v1alpha1.APIGateway{}).Spec.Suspend, nil)
	equal(m, "resumed", get(m, "web", &helmv2.HelmRelease{}).Spec.Suspend, false)
	m.golden("resume-again", m.ran(0, "resume", "web"))

	m.flux("suspend", "helmrelease", "web")
	m.golden("resume-by-hand", withoutProgress(m.ran(0, "resume", "web", "--wait")))
	equal(m, "the field is false", get(m, "web", &v1alpha1.APIGateway{}).Spec.Suspend, new(bool))
}

// remove deletes what is in no git repository.
func (m *team) remove(o client.Object) {
	m.Helper()
	if err := api.Delete(m.Context(), o); err != nil {
		m.Fatal(err)
	}
}

// columnsOf are the words of a table, without what aligns them.
func columnsOf(table string) string { return gaps.ReplaceAllString(table, "  ") }

var gaps = regexp.MustCompile(` {2,}`)

// lastLine of what was printed, without the time at its beginning.
func (m *team) lastLine(out, want string) {
	m.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	_, got, _ := strings.Cut(lines[len(lines)-1], " ")
	equal(m, "the last line of\n"+out, got, want)
}

// withoutProgress leaves out the lines between the first and the last that begin with a time: how many changes there are to be
// seen depends on how fast all is.
func withoutProgress(out string) string {
	var kept []string
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, line := range lines {
		if i == len(lines)-1 || len(line) < 9 || line[2] != ':' || line[5] != ':' {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n") + "\n"
}

func TestReconcileWaitFailsWhenTheAttemptDoes(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "attempt")
	m.commit("Add a gateway with an image that does not start", files{"class.yaml": webClass(), "web.yaml": gateway("web", brokenImage, shortTimeout)})
	m.gateways.await(t, release, "web", "failed", both(notReady("InstallFailed"), failedTimes(1)))
	m.mark()
	m.golden("reconcile-fails", withoutProgress(m.ran(1, "reconcile", "web", "--force", "--wait")))
	m.gateways.await(t, soon, "web", "failed once more", failedTimes(2))

	// Nobody looks at this one.
	m.create(strings.Replace(webClass("controllerName: example.com/nobody"), "$TEAM", "nobodys", 1))
	m.create(gatewayOf("nobodys", "unseen"))
	m.golden("reconcile-timeout", m.ran(1, "reconcile", "unseen", "--wait", "--timeout", "5s"))
	m.tree("unseen")
	m.remove(&v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: "unseen"}})
	m.gateways.awaitGone(t, soon, "unseen")
	m.remove(&v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "nobodys"}})
}

// Somebody who may look at gateways and nothing else.
func TestTreeSaysWhatItMayNotRead(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "guest")
	m.create(guestRights)
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	guest, err := local.KubeconfigFor(t.Context(), m.name, "guest")
	if err != nil {
		t.Fatal(err)
	}
	out := m.ranAs(guest, 0, "tree", "web")
	m.golden("guest", out[strings.Index(out, "\nRelease")+1:])
	m.golden("guest-missing", m.ranAs(guest, 1, "tree", "wep"))
	m.golden("guest-suspend", m.ranAs(guest, 1, "suspend", "web"))
	m.golden("guest-get", m.ranAs(guest, 1, "get", "-A"))

	reader, err := local.KubeconfigFor(t.Context(), m.name, "reader")
	if err != nil {
		t.Fatal(err)
	}
	out = m.ranAs(reader, 0, "tree", "web")
	m.golden("reader", out[strings.Index(out, "\nObjects")+1:])
}

const guestRights = `apiVersion: v1
kind: ServiceAccount
metadata: {name: guest, namespace: $TEAM}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: $TEAM}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: gateways, namespace: $TEAM}
rules:
- {apiGroups: [gateway.sluice.dev], resources: [apigateways], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: gateways, namespace: $TEAM}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: gateways}
subjects:
- {kind: ServiceAccount, name: guest, namespace: $TEAM}
- {kind: ServiceAccount, name: reader, namespace: $TEAM}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: releases, namespace: $TEAM}
rules:
- {apiGroups: [helm.toolkit.fluxcd.io, source.toolkit.fluxcd.io, apps], resources: [helmreleases, ocirepositories, deployments], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: releases, namespace: $TEAM}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: releases}
subjects:
- {kind: ServiceAccount, name: reader, namespace: $TEAM}
`
