// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const uninstalls = "waiting for Flux to uninstall HelmRelease "

func TestAFailingUninstallHookIsSaidUntilItPasses(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "unhook")
	m.commit("Add a gateway with an uninstall hook", files{"class.yaml": webClass(),
		"web.yaml": gateway("web", "values: {hooks: {pre-delete: 'registry.example.com/hook:1.0'}}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	no := m.forbid("no-jobs", "count/jobs.batch")

	m.commit("Remove it", files{"web.yaml": removed})
	m.gateways.await(t, soon, "web", "on its way out", both(inPhase(v1alpha1.PhaseDeleting), notReady("Deleting")))
	m.gateways.await(t, release, "web", "held up", both(inPhase(v1alpha1.PhaseDeleting),
		notReady("Deleting", "Flux could not uninstall the release and tries again: ", "exceeded quota: no-jobs")))
	m.treeIs("uninstall-fails", "web")
	equal(m, "ready pods", len(m.pods("web")), 1)
	if err := api.Delete(t.Context(), no); err != nil {
		t.Fatal(err)
	}
	m.gateways.awaitGone(t, release, "web")
	equal(m, "Helm's revisions", m.helmRevisions("web"), nil)
	m.leftOnly("web")
}

// leftOnly: none of the chart's objects whose names begin so is left. Kubernetes' garbage collector takes away pods after their
// Deployment, when Flux has finished already.
func (m *team) leftOnly(gone string) {
	m.Helper()
	m.eventually(soon, "the end of "+gone, func(context.Context) error {
		for _, what := range m.contents() {
			if !notOfTheChart(what) && strings.Contains(what, " "+gone) {
				return fmt.Errorf("there is still: %v", m.contents())
			}
		}
		return nil
	})
}

func TestDeletedInMidInstallAndInMidUpgrade(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "cut-short")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "up.yaml": gateway("up")})
	m.gateways.await(t, release, "up", "ready", isReady(1))
	const hang = "release: {timeout: 15s}"
	m.commit("Upgrade it to what hangs, and add another that hangs", files{
		"up.yaml": gateway("up", brokenImage, hang), "in.yaml": gateway("in", brokenImage, hang)})
	m.awaitRevision("up", "2 pending-upgrade")
	m.awaitRevision("in", "1 pending-install")

	m.commit("Remove both", files{"up.yaml": removed, "in.yaml": removed})
	for _, name := range []string{"up", "in"} {
		m.gateways.await(t, soon, name, "on its way out", both(inPhase(v1alpha1.PhaseDeleting), notReady("Deleting", uninstalls+"cut-short/"+name)))
	}
	for _, name := range []string{"up", "in"} {
		m.gateways.awaitGone(t, release, name)
		equal(m, "Helm's revisions of "+name, m.helmRevisions(name), nil)
		m.leftOnly(name)
		for _, s := range m.gateways.sinceMark(name) {
			if g := s.object; g.DeletionTimestamp != nil && g.Status.ObservedGeneration == g.Generation && g.Status.Phase != v1alpha1.PhaseDeleting {
				t.Errorf("not Deleting: %s", describe(g))
			}
		}
	}
}

// What nobody saw go, since the operator was down, does not keep the gateway.
func TestDeletedTogetherWithItsHelmRelease(t *testing.T) {
	t.Parallel()
	process := startOperator(t, "sluice-absent", "gateway.sluice.dev/absent")
	m := newTeam(t, "absent")
	m.commit("Add a gateway", files{"class.yaml": webClass("controllerName: gateway.sluice.dev/absent"), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))

	m.kill(process)
	m.mark()
	if err := api.Delete(t.Context(), get(m, "web", &helmv2.HelmRelease{})); err != nil {
		t.Fatal(err)
	}
	m.releases.awaitGone(t, release, "web")
	m.commit("Remove it", files{"web.yaml": removed})
	m.start(process)
	m.gateways.awaitGone(t, soon, "web")
	equal(m, "HelmReleases", names(t, &helmv2.HelmReleaseList{}, client.InNamespace("absent")), "")
}

// While the gateway stays, a HelmRelease that somebody deletes is made again.
func TestAHelmReleaseDeletedByHandIsMadeAgain(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "remade")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", "values: {message: again}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	old := get(m, "web", &helmv2.HelmRelease{})
	m.mark()
	if err := api.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	m.releases.awaitGone(t, release, "web")
	m.releases.await(t, soon, "web", "another one", func(hr *helmv2.HelmRelease) error {
		if hr.UID == old.UID {
			return fmt.Errorf("%s", describe(hr))
		}
		return helmReady(hr)
	})
	m.eventually(soon, "the gateway to say so", func(context.Context) error {
		return isReady(1)(m.gateways.latest()["web"])
	})
	m.went("web", "Ready True Ready", "(Pending|Progressing) Unknown Pending", "(Pending|Progressing) Unknown (Pending|Progressing)", "Progressing Unknown Progressing", "Ready True Ready")
	equal(m, "settings", get(m, "web-settings", &corev1.ConfigMap{}).Data["message"], "again")
}

func TestANamespaceIsDeletedWithAllThatIsInIt(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "doomed")
	other := &corev1.Namespace{}
	other.Name = "doomed-else"
	if err := api.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	m.commit("Add gateways, one with its release elsewhere", files{
		"class.yaml": webClass("policy: {allowedTargetNamespaces: [doomed-else]}"),
		"web.yaml":   gateway("web"), "far.yaml": gateway("far", "release: {targetNamespace: doomed-else}"),
		"hangs.yaml": gateway("hangs", brokenImage, "release: {timeout: 30s}"),
	})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.gateways.await(t, release, "far", "ready", isReady(1))

	if err := api.Delete(t.Context(), get(m, "doomed", &corev1.Namespace{})); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"web", "far", "hangs"} {
		m.gateways.awaitGone(t, release, name)
	}
	m.eventually(release, "the end of the namespace", func(ctx context.Context) error {
		err := api.Get(ctx, client.ObjectKey{Name: "doomed"}, &corev1.Namespace{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there (%v)", err)
		}
		return nil
	})
	m.eventually(release, "the end of what lies elsewhere", func(context.Context) error {
		left := names(t, &appsv1.DeploymentList{}, client.InNamespace("doomed-else")) + names(t, &corev1.SecretList{}, client.InNamespace("doomed-else"))
		if left != "" {
			return fmt.Errorf("there is still %s", left)
		}
		return nil
	})
	// Kubernetes deletes HelmReleases first. A gateway that has none is let go by whichever operator comes first, and where those
	// of other tests run too, two may come at the same time.
	m.eventually(soon, "what events say", func(ctx context.Context) error {
		events, err := local.Kubectl(ctx, "get", "events", "--namespace", "default", "--field-selector", "reason=ReleaseMayRemain,involvedObject.name=doomed",
			"--output", `jsonpath={range .items[*]}{.message}{"\n"}{end}`)
		said := slices.Compact(strings.Split(strings.TrimSpace(events), "\n"))
		if err == nil && !slices.Equal(said, []string{
			"APIGateway doomed/far went with its namespace: objects of Helm release far may remain in namespace doomed-else, and its record in namespace doomed-else",
		}) {
			err = fmt.Errorf("it is %q", said)
		}
		return err
	})
}

func TestCreatedAgainUnderItsNameItWaitsForTheOldOne(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "recreated")
	web := m.expand(gateway("web", "values: {message: new, hooks: {pre-delete: 'registry.example.com/hook:1.0'}}"))
	m.create(webClass())
	m.create(strings.Replace(web, "message: new", "message: old", 1))
	old := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	no := m.forbid("no-jobs", "count/jobs.batch")

	// The old one is deleted, and then even its finalizer is taken from it, while Flux cannot uninstall.
	m.mark()
	if err := api.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	m.gateways.await(t, release, "web", "held up", notReady("Deleting", "exceeded quota"))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := api.Patch(t.Context(), old.DeepCopy(), patch); err != nil {
		t.Fatal(err)
	}
	m.gateways.awaitGone(t, soon, "web")
	m.mark()
	m.create(web)
	m.gateways.await(t, soon, "web", "waiting", both(inPhase(v1alpha1.PhaseProgressing),
		says(v1alpha1.ConditionReady, metav1.ConditionUnknown, "Pending", "the HelmRelease is being deleted; it is made again once it is gone")))
	equal(m, "Helm's revisions meanwhile", m.helmRevisions("web"), []string{"1 uninstalling"})
	if err := api.Delete(t.Context(), no); err != nil {
		t.Fatal(err)
	}
	m.gateways.await(t, release, "web", "ready", isReady(1))
	equal(m, "settings", get(m, "web-settings", &corev1.ConfigMap{}).Data["message"], "new")

	if err := api.Delete(t.Context(), get(m, "web", &v1alpha1.APIGateway{})); err != nil {
		t.Fatal(err)
	}
	m.gateways.awaitGone(t, release, "web")
}
