// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// foreign makes a deployed HelmRelease of people's own.
func (w *world) foreign(name string, change func(*helmv2.HelmRelease)) *helmv2.HelmRelease {
	w.Helper()
	hr := &helmv2.HelmRelease{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.ns, Labels: map[string]string{"mine": "yes"}},
		Spec: helmv2.HelmReleaseSpec{
			ChartRef: &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: "theirs"},
			Interval: metav1.Duration{Duration: time.Hour},
		},
	}
	if change != nil {
		change(hr)
	}
	w.create(hr)
	hr.Status.History = helmv2.Snapshots{{
		Name: name, Namespace: w.ns, Version: 3, ChartName: "gateway", ChartVersion: "0.9.0", Status: "deployed",
		FirstDeployed: metav1.Now(), LastDeployed: metav1.Now(),
	}}
	w.must(admin.Status().Update(w.ctx, hr))
	return hr
}

// knowsHelmReleases waits until the operator knows of all HelmReleases that there are: it has looked at a later one.
func knowsHelmReleases(t *testing.T) {
	t.Helper()
	newWorld(t).running("later", "values: {}")
}

const adopting = `{"metadata":{"annotations":{"gateway.sluice.dev/adopt":"true"}}}`

func (w *world) allowAdoption() { w.patchClass(`{"spec":{"policy":{"allowAdoption":true}}}`) }

func TestAForeignHelmReleaseIsTakenOverWhereTheClassAllowsItAndTheGatewayAsks(t *testing.T) {
	w := newWorld(t)
	theirs := w.foreign("web", nil)
	w.gateway("web", "values: {size: 1}")
	w.awaitReason("web", "Accepted", v1alpha1.ReasonConflict)
	w.patch(&v1alpha1.APIGateway{}, "web", adopting)
	w.awaitReason("web", "Accepted", v1alpha1.ReasonNotAllowed)
	w.allowAdoption()
	w.awaitReason("web", "Accepted", v1alpha1.ReasonAccepted)

	// It is ours at once, and keeps what it runs until the new chart is there.
	hr := w.awaitRelease("web", "is the gateway's", func(hr *helmv2.HelmRelease) bool { return metav1.GetControllerOf(hr) != nil })
	equal(t, "UID", hr.UID, theirs.UID)
	equal(t, "chart", hr.Spec.ChartRef.Name, "theirs")
	equal(t, "a label of people", hr.Labels["mine"], "yes")
	w.pulled(w.awaitSource("1.0.0"))
	w.awaitRelease("web", "has switched", hasValue("size: 1"))
	equal(t, "UID", w.release("web").UID, theirs.UID)
}

func TestWhatCannotBeTakenOverStaysAsItIs(t *testing.T) {
	w := newWorld(t)
	w.allowAdoption()
	for name, c := range map[string]struct {
		change  func(*helmv2.HelmRelease)
		message string
	}{
		"owned": {func(hr *helmv2.HelmRelease) {
			yes := true
			hr.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Tenant", Name: "shop", UID: "x", Controller: &yes}}
		}, "it is owned by Tenant shop, which would fight for it; delete that owner with --cascade=orphan first"},
		"name": {func(hr *helmv2.HelmRelease) { hr.Spec.ReleaseName = "other" },
			`its release would move, since this gateway's spec.release.name is "name" and there it is "other"; make the gateway anew with that, since it cannot be changed (deleting this one leaves the HelmRelease alone)`},
		"target": {func(hr *helmv2.HelmRelease) { hr.Spec.TargetNamespace, hr.Spec.ReleaseName = "other", "target" },
			fmt.Sprintf(`its release would move, since this gateway's spec.release.targetNamespace is %q and there it is "other"; make the gateway anew with that, since it cannot be changed (deleting this one leaves the HelmRelease alone)`, w.ns)},
		"storage": {func(hr *helmv2.HelmRelease) { hr.Spec.StorageNamespace = "other" },
			fmt.Sprintf(`its release would move, since this gateway's spec.release.storageNamespace is %q and there it is "other"; make the gateway anew with that, since it cannot be changed (deleting this one leaves the HelmRelease alone)`, w.ns)},
		"remote": {func(hr *helmv2.HelmRelease) {
			hr.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "east"}}
		},
			fmt.Sprintf(`its release would move, since this gateway's spec.cluster.kubeConfig is "" and there it is "%s/east"; make the gateway anew with that, since it cannot be changed (deleting this one leaves the HelmRelease alone)`, w.ns)},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.foreign(name, c.change)
			w.gateway(name, "values: {}")
			w.patch(&v1alpha1.APIGateway{}, name, adopting)
			message := fmt.Sprintf("metadata.annotations[gateway.sluice.dev/adopt]: HelmRelease %s/%s cannot be taken over: %s", w.ns, name, c.message)
			w.await("the refusal", func() error {
				said, err := w.reason(name, "Accepted", v1alpha1.ReasonConflict)
				if err != nil || said != message {
					return fmt.Errorf("%q, %v", said, err)
				}
				return nil
			})
			equal(t, "HelmRelease", w.release(name).ResourceVersion, before.ResourceVersion)
		})
	}
}

func TestAHelmReleaseOfAnotherNameKeepsItsRelease(t *testing.T) {
	w := newWorld(t)
	platform := w.foreign("platform", nil)
	knowsHelmReleases(t)
	w.gateway("web", "release: {name: platform}")
	equal(t, "message", w.awaitReason("web", "Accepted", v1alpha1.ReasonConflict), fmt.Sprintf(
		"spec.release.name: Helm release platform belongs to HelmRelease %s/platform already (it has no owner): make this gateway with another release name", w.ns))
	equal(t, "HelmReleases", len(w.releases()), 1)
	w.must(admin.Delete(w.ctx, platform))
	w.awaitRelease("web", "exists", nil)
	w.awaitReason("web", "Accepted", v1alpha1.ReasonAccepted)
}
