// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestSuspendTrueFalseAndAbsent(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	marked := func(hr *helmv2.HelmRelease) bool { return hr.Annotations[v1alpha1.AnnotationSuspended] == "true" }

	w.gateway("web", "suspend: true")
	if hr := w.awaitRelease("web", "is suspended", suspended(true)); !marked(hr) {
		t.Error("our suspension is not marked")
	}
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":false}}`)
	w.awaitRelease("web", "is suspended again", suspended(true))

	w.gateway("web", "values: {}")
	if hr := w.awaitRelease("web", "is resumed, since we had suspended it", suspended(false)); marked(hr) {
		t.Error("the mark stays")
	}

	w.gateway("web", "suspend: false")
	w.settled("web")
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":true}}`)
	w.awaitRelease("web", "is kept resumed", suspended(false))
}

func TestSuspensionByPeopleIsRespected(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {size: 1}")
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":true}}`)
	w.gateway("web", "values: {size: 2}")
	hr := w.awaitRelease("web", "has the new value", hasValue("size: 2"))
	if !hr.Spec.Suspend || hr.Annotations[v1alpha1.AnnotationSuspended] != "" {
		t.Errorf("it was resumed or marked: %s", inYAML(hr))
	}
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonSuspended), "flux resume helmrelease web -n "+w.ns)
}

func TestEditByHandIsUndoneAndWhatIsForeignStays(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {size: 1}")
	w.patch(&helmv2.HelmRelease{}, "web", `{
		"metadata":{"labels":{"mine":"yes","gateway.sluice.dev/class":"other"},"annotations":{"mine":"yes"},"finalizers":["example.com/mine"]},
		"spec":{"values":{"size":7,"extra":{"key":1}},"persistentClient":false,"timeout":"1s"}}`)
	after := w.awaitRelease("web", "as it was", func(hr *helmv2.HelmRelease) bool {
		return inYAML(hr.Spec) == inYAML(before.Spec) && hr.Labels[v1alpha1.LabelClass] == w.class
	})
	if after.Labels["mine"] != "yes" || after.Annotations["mine"] != "yes" || len(after.Finalizers) != 1 {
		t.Errorf("foreign metadata went: %s", inYAML(after.ObjectMeta))
	}
	w.patch(&helmv2.HelmRelease{}, "web", `{"metadata":{"finalizers":null}}`)
}

func TestHelmReleaseDeletedByHandIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {}")
	w.must(admin.Delete(w.ctx, before))
	w.awaitRelease("web", "is another", func(hr *helmv2.HelmRelease) bool { return hr.UID != before.UID })
}

func TestForeignHelmReleaseIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	foreign := &helmv2.HelmRelease{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.ns, Labels: map[string]string{
			v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelGateway: "web",
			"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
		}},
		Spec: helmv2.HelmReleaseSpec{
			ChartRef: &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: "theirs"},
			Interval: metav1.Duration{Duration: time.Hour},
		},
	}
	w.create(foreign)
	knowsHelmReleases(t)
	w.gateway("web", "values: {}")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonConflict),
		"HelmRelease "+w.ns+"/web", "Kustomization flux-system/apps", "another name")
	if hr := w.release("web"); hr.ResourceVersion != foreign.ResourceVersion {
		t.Errorf("it was written: %s", inYAML(hr))
	}
	equal(t, "sources", len(w.sources()), 0)

	w.must(admin.Delete(w.ctx, foreign))
	w.awaitRelease("web", "is the gateway's", func(hr *helmv2.HelmRelease) bool { return metav1.GetControllerOf(hr) != nil })
	w.awaitReason("web", "Accepted", v1alpha1.ReasonAccepted)
}

func TestTwoGatewaysWithOneHelmRelease(t *testing.T) {
	w := newWorld(t)
	w.gateway("first", "release: {name: shared}")
	w.awaitRelease("first", "exists", nil)
	w.gateway("second", "release: {name: shared}")
	contains(t, w.awaitReason("second", "Accepted", v1alpha1.ReasonConflict), "shared", w.ns+"/first")
	if w.get("second", &helmv2.HelmRelease{}) == nil {
		t.Error("a second HelmRelease was written")
	}
	w.awaitReason("first", "Accepted", v1alpha1.ReasonAccepted)

	w.must(admin.Delete(w.ctx, &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "first", Namespace: w.ns}}))
	w.awaitRelease("second", "exists, now that the first is gone", nil)
	w.awaitReason("second", "Accepted", v1alpha1.ReasonAccepted)
}

// A gateway that is on its way out keeps its Helm release until Flux has uninstalled it: that is a wait, and no conflict.
func TestWhoFollowsAGatewayThatIsBeingDeletedWaits(t *testing.T) {
	w := newWorld(t)
	w.running("first", "release: {name: shared}")
	w.uninstalls("first")
	w.gateway("second", "release: {name: shared}")
	w.awaitReason("second", "Accepted", v1alpha1.ReasonConflict)
	w.delete("first")
	w.awaitDeleting("first")
	equal(t, "message", w.awaitReason("second", "Ready", v1alpha1.ReasonPending), fmt.Sprintf(
		`release "shared" in target namespace %q still belongs to APIGateway %[1]s/first, which is being deleted; this gateway goes on once that is gone`, w.ns))
	status := w.status("second")
	equal(t, "phase", status.Phase, v1alpha1.PhasePending)
	equal(t, "conditions", conditionsOf(status), "Accepted=True SourceReady=True Programmed=Unknown Ready=Unknown Reconciling=True")
	w.gateway("third", "release: {name: shared}") // made meanwhile, it never conflicts with the first
	w.awaitReason("third", "Ready", v1alpha1.ReasonPending)
	if w.get("second", &helmv2.HelmRelease{}) == nil || w.get("third", &helmv2.HelmRelease{}) == nil {
		t.Error("another HelmRelease was written")
	}
	w.uninstalled("first")
	w.awaitRelease("second", "exists, now that the first is gone", nil)
	w.awaitReason("second", "Accepted", v1alpha1.ReasonAccepted)
	contains(t, w.awaitReason("third", "Accepted", v1alpha1.ReasonConflict), w.ns+"/second")
}

func TestWhoFollowsAForeignHelmReleaseThatIsBeingDeletedWaits(t *testing.T) {
	w := newWorld(t)
	platform := w.foreign("platform", nil)
	w.uninstalls("platform")
	w.gateway("web", "release: {name: platform}")
	w.awaitReason("web", "Accepted", v1alpha1.ReasonConflict)
	w.must(admin.Delete(w.ctx, platform))
	equal(t, "message", w.awaitReason("web", "Ready", v1alpha1.ReasonPending), fmt.Sprintf(
		"Helm release platform still belongs to HelmRelease %s/platform, which is being deleted; this gateway goes on once that is gone", w.ns))
	w.uninstalled("platform")
	w.awaitRelease("web", "exists", nil)
}

func conditionsOf(status v1alpha1.APIGatewayStatus) string {
	var said []string
	for _, c := range status.Conditions {
		said = append(said, c.Type+"="+string(c.Status))
	}
	return strings.Join(said, " ")
}

func TestWhoseReleaseIsDeployedKeepsIt(t *testing.T) {
	w := newWorld(t)
	// The older wants a class that is made only later.
	w.gatewayOf("late-"+w.ns, "older", "release: {name: shared}")
	w.awaitReason("older", "Accepted", v1alpha1.ReasonClassNotFound)
	w.running("younger", "release: {name: shared}")
	w.apply(fmt.Sprintf("apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGatewayClass\nmetadata: {name: late-%s}\nspec:\n"+
		"  chart: {url: \"oci://registry.example.com/charts/gateway\", ref: {tag: 1.0.0}}\n", w.ns))
	t.Cleanup(func() { _, _ = env.Kubectl(w.ctx, "delete", "apigatewayclass", "late-"+w.ns) })
	contains(t, w.awaitReason("older", "Accepted", v1alpha1.ReasonConflict), w.ns+"/younger")
	w.awaitReason("younger", "Ready", v1alpha1.ReasonReady)
}

func TestSameReleaseNameInOtherNamespacesIsNoConflict(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.gateway("web", "values: {}")
	b.gateway("web", "values: {}")
	a.awaitReason("web", "Accepted", v1alpha1.ReasonAccepted)
	b.awaitReason("web", "Accepted", v1alpha1.ReasonAccepted)

	a.gateway("api", "release: {name: api, targetNamespace: "+a.ns+"}")
	a.awaitReason("api", "Accepted", v1alpha1.ReasonAccepted)
	b.gateway("api", "release: {name: api, targetNamespace: "+a.ns+"}")
	contains(t, b.awaitReason("api", "Accepted", v1alpha1.ReasonConflict), a.ns+"/api")
}

func TestWriteThatTheAPIServerRefusesIsInTheStatus(t *testing.T) {
	w := newWorld(t)
	w.apply(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules:
    - {apiGroups: [helm.toolkit.fluxcd.io], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [helmreleases]}
  validations:
  - {expression: "false", message: "not on Fridays"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, w.ns))
	t.Cleanup(func() {
		_, _ = env.Kubectl(w.ctx, "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", w.ns)
	})
	w.await("the policy", func() error {
		probe := &helmv2.HelmRelease{
			ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: w.ns},
			Spec: helmv2.HelmReleaseSpec{
				ChartRef: &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: "x"},
				Interval: metav1.Duration{Duration: time.Hour},
			},
		}
		if err := admin.Create(w.ctx, probe); err != nil {
			return nil
		}
		return fmt.Errorf("lets a HelmRelease pass (%v)", admin.Delete(w.ctx, probe))
	})
	w.gateway("web", "values: {}")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonWriteFailed), "not on Fridays")
	_, err := env.Kubectl(w.ctx, "delete", "validatingadmissionpolicybinding", w.ns)
	w.must(err)
	w.awaitRelease("web", "exists, now that it may", nil)
}
