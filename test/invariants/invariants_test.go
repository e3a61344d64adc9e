// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/history"
)

// past is a made-up history of the gateway team/web and of what belongs to it.
type past struct {
	*testing.T
	changes []history.Change
}

func (p *past) is(name string, o client.Object) { p.add(name, o, false) }

func (p *past) ends(name string, o client.Object) { p.add(name, o, true) }

func (p *past) add(name string, o client.Object, gone bool) {
	o.SetNamespace("team")
	o.SetName(name)
	p.changes = append(p.changes, history.Change{
		Revision: int64(len(p.changes) + 1), Name: types.NamespacedName{Namespace: "team", Name: name}, Object: o, Gone: gone,
	})
}

// gateway has UID u and our finalizer; what is in YAML is more of it.
func (p *past) gateway(text string) *v1alpha1.APIGateway {
	p.Helper()
	g := &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: 1, Finalizers: []string{v1alpha1.Finalizer}}}
	require.NoError(p, yaml.UnmarshalStrict([]byte(text), g))
	return g
}

const (
	spec  = "spec: {chart: {tag: 2.0.0}, values: {message: hi}, infrastructure: {replicas: 1}}\n"
	ready = spec + `
status:
  observedGeneration: 1
  phase: Ready
  release: {name: web, namespace: team, chartVersion: 2.0.0, revision: 1, status: deployed, desiredHash: h}
  conditions:
  - {type: Accepted, status: "True", reason: Accepted, message: "", observedGeneration: 1, lastTransitionTime: "2026-11-03T12:00:00Z"}
  - {type: Programmed, status: "True", reason: Programmed, message: "", observedGeneration: 1, lastTransitionTime: "2026-11-03T12:00:00Z"}
  - {type: Ready, status: "True", reason: Ready, message: "", observedGeneration: 1, lastTransitionTime: "2026-11-03T12:00:00Z"}
`
	deleting = "metadata: {deletionTimestamp: \"2026-11-03T12:00:00Z\"}\n"
	orphan   = "spec: {deletionPolicy: Orphan}\n"
)

func (p *past) release(uid types.UID) *helmv2.HelmRelease {
	yes := true
	return &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: uid, Controller: &yes}}}}
}

func dying[T client.Object](o T) T {
	now := metav1.Now()
	o.SetDeletionTimestamp(&now)
	return o
}

// runs has the objects of the release appear.
func (p *past) runs(chart, message string, replicas int32) {
	p.is("web-settings", &corev1.ConfigMap{Data: map[string]string{"chart": chart, "message": message}})
	p.is("web", &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas}})
	p.is("sh.helm.release.v1.web.v1", &corev1.Secret{})
}

func (p *past) uninstalled() {
	p.ends("sh.helm.release.v1.web.v1", &corev1.Secret{})
	p.ends("web-settings", &corev1.ConfigMap{})
	p.ends("web", &appsv1.Deployment{})
}

func TestJudge(t *testing.T) {
	for what, c := range map[string]struct {
		happens func(*past)
		want    []string
	}{
		"a whole life": {func(p *past) {
			p.is("web", p.gateway(spec+"status: {observedGeneration: -1}\n"))
			p.is("web", p.release("u"))
			p.runs("2.0", "hi", 1)
			p.is("web", p.gateway(ready))
			p.is("web", p.gateway(ready+deleting))
			p.is("web", dying(p.release("u")))
			p.uninstalled()
			p.ends("web", dying(p.release("u")))
			p.ends("web", p.gateway(ready+deleting))
		}, nil},
		"a HelmRelease is deleted while its gateway lives": {func(p *past) {
			p.is("web", p.gateway(spec))
			p.is("web", p.release("u"))
			p.is("web", dying(p.release("u")))
			p.ends("web", dying(p.release("u")))
		}, []string{"team/web at revision 3: the HelmRelease is deleted, and its gateway lives"}},
		"a HelmRelease goes at once while its gateway lives": {func(p *past) {
			p.is("web", p.gateway(spec))
			p.is("web", p.release("u"))
			p.ends("web", p.release("u"))
		}, []string{"team/web at revision 3: the HelmRelease is deleted, and its gateway lives"}},
		"the HelmRelease of the gateway before goes": {func(p *past) {
			p.is("web", p.release("before"))
			p.is("web", p.gateway(spec))
			p.is("web", dying(p.release("before")))
			p.ends("web", dying(p.release("before")))
		}, nil},
		"a gateway goes before its HelmRelease": {func(p *past) {
			p.is("web", p.gateway(spec))
			p.is("web", p.release("u"))
			p.is("web", p.gateway(spec+deleting))
			p.ends("web", p.gateway(spec+deleting))
		}, []string{"team/web at revision 4: the gateway is gone, and its HelmRelease is there"}},
		"a gateway goes, and its release stays": {func(p *past) {
			p.is("web", p.gateway(spec))
			p.runs("2.0", "hi", 1)
			p.is("web", p.gateway(spec+deleting))
			p.ends("web", p.gateway(spec+deleting))
		}, []string{
			"team/web at revision 6: the gateway is gone, and ConfigMap web-settings is there",
			"team/web at revision 6: the gateway is gone, and Deployment web is there",
			"team/web at revision 6: the gateway is gone, and Secret sh.helm.release.v1.web.v1 is there",
		}},
		"under Orphan its release stays": {func(p *past) {
			p.is("web", p.gateway(orphan))
			p.runs("2.0", "hi", 1)
			p.is("web", p.gateway(orphan+deleting))
			p.ends("web", p.gateway(orphan+deleting))
		}, nil},
		"under Orphan its release goes": {func(p *past) {
			p.is("web", p.gateway(orphan))
			p.runs("2.0", "hi", 1)
			p.is("web", p.gateway(orphan+deleting))
			p.uninstalled()
			p.ends("web", p.gateway(orphan+deleting))
		}, []string{"team/web at revision 9: the gateway is gone under Orphan, and so is what ran"}},
		"Ready before anything runs": {func(p *past) {
			p.is("web", p.gateway(ready))
		}, []string{"team/web at revision 1: the gateway is Ready, and of its objects there are only []"}},
		"Ready while the old runs": {func(p *past) {
			p.runs("1.0", "ho", 2)
			p.is("web", p.gateway(ready))
		}, []string{
			`team/web at revision 4: the gateway is Ready, and chart is "1.0" and not "2.0"`,
			`team/web at revision 4: the gateway is Ready, and its Deployment has 2 replicas and not 1`,
			`team/web at revision 4: the gateway is Ready, and message is "ho" and not "hi"`,
		}},
		"Ready and then something else runs": {func(p *past) {
			p.runs("2.0", "hi", 1)
			p.is("web", p.gateway(ready))
			p.is("web-settings", &corev1.ConfigMap{Data: map[string]string{"chart": "2.0", "message": "ho"}})
		}, []string{`team/web at revision 5: the gateway is Ready, and message is "ho" and not "hi"`}},
		"Ready of the generation before": {func(p *past) {
			p.runs("1.0", "ho", 1)
			p.is("web", p.gateway("metadata: {generation: 2}\n"+ready))
		}, nil},
		"a status that goes back": {func(p *past) {
			p.is("web", p.gateway("metadata: {generation: 3}\nstatus: {observedGeneration: 2}\n"))
			p.is("web", p.gateway("metadata: {generation: 3}\nstatus: {observedGeneration: 1}\n"))
		}, []string{"team/web at revision 2: the status went back from generation 2 to 1"}},
		"a status that contradicts itself": {func(p *past) {
			p.is("web", p.gateway("status: {observedGeneration: 1, phase: Ready}\n"))
		}, []string{
			"team/web at revision 1: not so: phase Ready and Ready=True are the same",
			"team/web at revision 1: not so: a phase and conditions come together",
		}},
	} {
		t.Run(what, func(t *testing.T) {
			p := &past{T: t}
			c.happens(p)
			_, wrong := Judge(p.changes)
			require.Equal(t, c.want, wrong)
		})
	}
}

func TestLeft(t *testing.T) {
	p := &past{T: t}
	p.is("web", p.gateway(spec))
	p.is("web", p.release("u"))
	p.is("other", p.release("v"))
	world, wrong := Judge(p.changes)
	require.Empty(t, wrong)
	require.Equal(t, []string{"team/other: the HelmRelease is left of a gateway that is gone"}, world.Left())
}
