// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// healed is how soon Flux must have corrected what somebody did to an object.
const healed = 5 * time.Second

// The kinds of all objects that testdata/chart has, as the flag and as the chart's value take them.
const (
	watchChildren      = "--watch-children=apps/v1/Deployment,v1/Service,v1/ConfigMap"
	watchChildrenValue = `watchChildren=[{"apiVersion":"apps/v1","kind":"Deployment"},{"apiVersion":"v1","kind":"Service"},{"apiVersion":"v1","kind":"ConfigMap"}]`
)

// watchingChildren has the operator watch them, with the rights that the chart grants for it, and adds arguments.
func watchingChildren(t *testing.T, args ...string) {
	t.Helper()
	grant := func(flags ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := operator.Apply(ctx, local, filepath.Join(root, "charts", "sluice"), flags...); err != nil {
			t.Fatal(err)
		}
	}
	grant("--set-json", watchChildrenValue)
	restartOperator(t, append(args, watchChildren)...)
	t.Cleanup(func() {
		grant()
		restartOperator(t)
	})
}

// hourly: Flux looks by itself far too seldom for a test to see it.
const hourly = "release: {interval: 1h}"

// This test runs alone: it measures time, and starts the operator with other arguments.
func TestWhatIsDoneToAReleasesObjectsIsCorrectedAtOnce(t *testing.T) {
	watchingChildren(t)
	m := newTeam(t, "heal")
	begin := time.Now()
	m.commit("Add gateways", files{
		"class.yaml":   webClass(hourly),
		"deleted.yaml": gateway("deleted"),
		"scaled.yaml":  gateway("scaled"),
		"edited.yaml":  gateway("edited"),
		"service.yaml": gateway("service"),
		"twice.yaml":   gateway("twice"),
	})
	for _, name := range []string{"deleted", "scaled", "edited", "service", "twice"} {
		m.gateways.await(t, release, name, "ready", isReady(1))
		m.looked(name)
	}
	equal(m, "requests by installing", m.asked(begin, ""), nil)

	m.mark()
	old, at := m.deployments.latest()["deleted"].UID, time.Now()
	m.deleteByHand(&appsv1.Deployment{}, "deleted")
	back := m.deployments.await(t, soon, "deleted", "back", func(d *appsv1.Deployment) error {
		if d.UID == old {
			return errors.New("it is the old one")
		}
		return nil
	})
	m.within(healed, at, back.seen, "a deleted Deployment")
	m.eventually(soon, "the event", func(context.Context) error {
		return m.hasEvent("deleted", "CorrectionRequested", "Deployment heal/deleted was deleted: Flux was asked to correct it")
	})

	at = time.Now()
	m.scale("scaled", 3)
	m.within(healed, at, m.awaitReplicas("scaled", 3, 1), "a scaled Deployment")

	at = time.Now()
	m.edit("edited-settings", "by hand")
	m.within(healed, at, m.awaitMessage("edited-settings", "by hand", "hello"), "an edited ConfigMap")

	at = time.Now()
	m.deleteByHand(&corev1.Service{}, "service")
	m.eventually(healed, "the Service to be back", func(ctx context.Context) error {
		return api.Get(ctx, client.ObjectKey{Namespace: m.name, Name: "service"}, &corev1.Service{})
	})
	m.within(healed, at, time.Now(), "a deleted Service")

	// The second deed to one gateway has to wait, unless Flux finds it too as it corrects the first.
	m.scale("twice", 2)
	m.releases.await(t, soon, "twice", "asked", wasAsked)
	m.awaitHandled("twice")
	m.edit("twice-settings", "by hand")
	m.awaitMessage("twice-settings", "by hand", "hello")
	equal(m, "requests for two deeds", len(m.asked(begin, "twice")), 2)
	both := m.decided("twice")
	if len(both) != 2 || both[1].Sub(both[0]) < 10*time.Second || both[1].Sub(both[0]) > 15*time.Second {
		t.Errorf("requests for two deeds were decided on at %v, want two, 10 s apart", both)
	}

	// Each of the others was asked for once, and Flux's corrections caused nothing.
	m.awaitHandled("twice")
	m.atRest()
	for _, name := range []string{"deleted", "scaled", "edited", "service"} {
		if n := len(m.asked(begin, name)); n != 1 {
			t.Errorf("%s: %d requests, want 1", name, n)
		}
		equal(m, "Helm's revisions of "+name, m.helmRevisions(name), []string{"1 deployed"})
	}
}

// This test runs alone, as above.
func TestWhatIsNotToBeCorrectedCausesNoRequests(t *testing.T) {
	watchingChildren(t)
	second := operatorOfOthers(t)
	m := newTeam(t, "noise")
	m.commit("Add gateways", files{
		"class.yaml": webClass(hourly),
		"web.yaml":   gateway("web", "values: {extra: true}"),
		"hpa.yaml":   gateway("hpa", "release: {driftDetection: {ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]}}"),
		"warn.yaml":  gateway("warn", "release: {driftDetection: {mode: warn}}"),
	})
	for _, name := range []string{"web", "hpa", "warn"} {
		m.gateways.await(t, release, name, "ready", isReady(1))
		m.looked(name)
	}
	begin := time.Now()
	m.scale("warn", 2)
	m.scale("hpa", 3)
	m.releases.await(t, soon, "hpa", "asked once", wasAsked)
	m.awaitHandled("hpa")

	// An autoscaler, a controller that writes annotations, and one that writes status.
	for n := range 15 {
		m.scale("hpa", int32(4+n%3))
		m.beat(&appsv1.Deployment{}, "web", n)
		m.beat(&corev1.ConfigMap{}, "web-settings", n)
		m.status("web", n)
		time.Sleep(time.Second) // the noise lasts longer than the least time between two requests
	}
	m.atRest()
	equal(m, "replicas that a rule leaves alone", *m.deployments.latest()["hpa"].Spec.Replicas, int32(6))
	equal(m, "replicas of which Flux only warns", *m.deployments.latest()["warn"].Spec.Replicas, int32(2))

	// What an upgrade changes, adds and removes is Flux's own, and so is an uninstall.
	m.commit("Upgrade", files{"web.yaml": gateway("web", "chart: {tag: 2.0.0}", "values: {message: two}", "infrastructure: {replicas: 2}")})
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.atRest()
	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.awaitGone(t, release, "web")

	equal(m, "requests for hpa", len(m.asked(begin, "hpa")), 1)
	equal(m, "requests for warn", len(m.asked(begin, "warn")), 0)
	equal(m, "writes of web's HelmRelease", len(m.asked(begin, "web")), 1) // the switch of chart and values
	equal(m, "the other operator lives", second.Alive(), true)
}

// This test runs alone, as above.
func TestWhatIsDoneInMidUpgradeDoesNotDisturbIt(t *testing.T) {
	watchingChildren(t)
	m := newTeam(t, "midway")
	m.commit("Add a gateway", files{"class.yaml": webClass(hourly), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))

	m.commit("Upgrade it slowly", files{"web.yaml": gateway("web", "values: {message: two, minReadySeconds: 6}", "infrastructure: {labels: {a: b}}")})
	m.awaitMessage("web-settings", "", "two")
	at := time.Now()
	m.edit("web-settings", "by hand")
	ready := m.gateways.await(t, release, "web", "ready", isReady(2))
	m.within(healed, ready.seen, m.awaitMessage("web-settings", "by hand", "two"), "what was edited in mid-upgrade")
	m.atRest()
	equal(m, "requests, since Flux looks for drift as it ends an upgrade", m.asked(at, "web"), nil)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 superseded", "2 deployed"})
}

// operatorOfOthers is a second operator, which watches the same objects and serves other classes.
func operatorOfOthers(t *testing.T) *cluster.Process {
	t.Helper()
	kubeconfig, err := local.KubeconfigFor(t.Context(), operator.Namespace, operator.ServiceAccount)
	if err != nil {
		t.Fatal(err)
	}
	process, err := local.StartProcess(t.Context(), cluster.ProcessSpec{
		Name: "sluice-controller-of-others", Path: operatorBinary(), Env: []string{"KUBECONFIG=" + kubeconfig},
		Args: []string{"--controller-name=example.com/other", "--health-addr=0", "--metrics-addr=0", watchChildren},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	return process
}

// asked are the times at which the operator wrote the HelmRelease ("": any of the team's), its creation aside.
func (m *team) asked(since time.Time, name string) []time.Time {
	m.Helper()
	var times []time.Time
	for _, e := range m.requests(since, func(e cluster.AuditEvent) bool {
		return e.Verb == "update" && e.Resource == "helmreleases" && e.Namespace == m.name && (name == "" || e.Name == name) && e.Code == 200
	}) {
		times = append(times, e.Received)
	}
	return times
}

// atRest: nothing of the team's is written any more, once what has just happened has been told of.
func (m *team) atRest() {
	m.Helper()
	time.Sleep(3 * time.Second)
	begin := time.Now()
	time.Sleep(15 * time.Second) // longer than the least time between two requests
	for _, w := range m.requests(begin, func(e cluster.AuditEvent) bool { return e.IsWrite() && e.Namespace == m.name }) {
		m.Errorf("the operator wrote: %s %s %s %s at %s: %d", w.Verb, w.Resource, w.Name, w.Subresource, w.Received, w.Code)
	}
}

func (m *team) within(limit time.Duration, begin, end time.Time, what string) {
	m.Helper()
	took := end.Sub(begin)
	m.Logf("%s: corrected after %s", what, took.Round(time.Millisecond))
	if took > limit {
		m.Errorf("%s: corrected after %s, want %s", what, took, limit)
	}
}

func (m *team) deleteByHand(object client.Object, name string) {
	m.Helper()
	object.SetNamespace(m.name)
	object.SetName(name)
	m.remove(object)
}

// scale does what kubectl scale does, and autoscalers.
func (m *team) scale(name string, replicas int32) {
	m.Helper()
	m.mark()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: name}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	if err := api.SubResource("scale").Update(m.Context(), deployment, client.WithSubResourceBody(scale)); err != nil {
		m.Fatal(err)
	}
}

func (m *team) edit(config, message string) {
	m.Helper()
	m.mark()
	m.patch(&corev1.ConfigMap{}, config, fmt.Sprintf(`{"data":{"message":%q}}`, message))
}

func (m *team) beat(object client.Object, name string, n int) {
	m.Helper()
	m.patch(object, name, fmt.Sprintf(`{"metadata":{"annotations":{"example.com/beat-%d":"%d"}}}`, n%2, n))
}

func (m *team) patch(object client.Object, name, merge string) {
	m.Helper()
	object.SetNamespace(m.name)
	object.SetName(name)
	if err := api.Patch(m.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		m.Fatal(err)
	}
}

func (m *team) status(name string, n int) {
	m.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: name}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"collisionCount":%d}}`, n+1))
	if err := api.Status().Patch(m.Context(), deployment, patch); err != nil {
		m.Fatal(err)
	}
}

// awaitReplicas awaits that a number was there, and then another; it returns when that was.
func (m *team) awaitReplicas(name string, first, then int32) time.Time {
	m.Helper()
	seen := false
	return m.deployments.await(m.T, soon, name, fmt.Sprintf("with %d replicas after %d", then, first), func(d *appsv1.Deployment) error {
		seen = seen || *d.Spec.Replicas == first
		if !seen || *d.Spec.Replicas != then {
			return fmt.Errorf("it has %d, and %d was seen: %v", *d.Spec.Replicas, first, seen)
		}
		return nil
	}).seen
}

// awaitMessage is the same for the ConfigMap of testdata/chart; any message may be first if that is "".
func (m *team) awaitMessage(config, first, then string) time.Time {
	m.Helper()
	seen := first == ""
	return m.configs.await(m.T, 2*soon, config, fmt.Sprintf("with %q after %q", then, first), func(c *corev1.ConfigMap) error {
		seen = seen || c.Data["message"] == first
		if !seen || c.Data["message"] != then {
			return fmt.Errorf("it has %v, and %q was seen: %v", c.Data, first, seen)
		}
		return nil
	}).seen
}

// hasEvent passes a gateway about which there is an event of that reason and note.
func (m *team) hasEvent(gateway, reason, note string) error {
	list := &corev1.EventList{}
	if err := api.List(m.Context(), list, client.InNamespace(m.name)); err != nil {
		return err
	}
	var seen []string
	for _, e := range list.Items {
		if e.InvolvedObject.Kind != v1alpha1.APIGatewayKind || e.InvolvedObject.Name != gateway {
			continue
		}
		if e.Reason == reason && e.Message == note {
			return nil
		}
		seen = append(seen, e.Reason+": "+e.Message)
	}
	return fmt.Errorf("there is none among %q", seen)
}
