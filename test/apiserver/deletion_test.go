// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// uninstalls gives the HelmRelease the finalizer that helm-controller would hold it with.
func (w *world) uninstalls(name string) {
	w.Helper()
	w.patch(&helmv2.HelmRelease{}, name, `{"metadata":{"finalizers":["finalizers.fluxcd.io"]}}`)
}

// uninstalled takes it away.
func (w *world) uninstalled(name string) {
	w.Helper()
	w.patch(&helmv2.HelmRelease{}, name, `{"metadata":{"finalizers":null}}`)
}

func (w *world) delete(name string) *v1alpha1.APIGateway {
	w.Helper()
	gateway := &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.ns}}
	w.must(admin.Delete(w.ctx, gateway))
	return gateway
}

func (w *world) awaitDeleting(name string) *helmv2.HelmRelease {
	w.Helper()
	return w.awaitRelease(name, "is being deleted", func(hr *helmv2.HelmRelease) bool { return hr.DeletionTimestamp != nil })
}

func TestDeletedGatewayStaysUntilItsReleaseIsUninstalled(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	w.uninstalls("web")
	gateway := w.delete("web")
	w.awaitDeleting("web")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonDeleting), "uninstall")
	equal(t, "phase", w.status("web").Phase, v1alpha1.PhaseDeleting)
	w.uninstalled("web")
	w.awaitGone(gateway)
}

func TestDeletionNeedsNeitherClassNorValidSpec(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	w.gateway("web", "infrastructure: {labels: {a: b}}")
	w.awaitReason("web", "Accepted", v1alpha1.ReasonUnmappedField)
	w.deleteClass()
	w.patchClass(`{"metadata":{"finalizers":null}}`) // somebody insists
	w.awaitReason("web", "Accepted", v1alpha1.ReasonClassNotFound)
	w.awaitGone(w.delete("web"))
	w.awaitGone(&helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
}

func TestGatewayThatWasNeverAcceptedGoesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "infrastructure: {labels: {a: b}}")
	w.awaitReason("web", "Accepted", v1alpha1.ReasonUnmappedField)
	equal(t, "finalizers", len(w.settled("web").Finalizers), 0)
	w.awaitGone(w.delete("web"))
}

func TestForeignHelmReleaseOutlivesTheGateway(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	w.patch(&helmv2.HelmRelease{}, "web", `{"metadata":{"ownerReferences":null}}`)
	w.awaitReason("web", "Accepted", v1alpha1.ReasonConflict)
	w.awaitGone(w.delete("web"))
	w.release("web")
}

func TestDeletionLiftsOurSuspension(t *testing.T) {
	w := newWorld(t)
	w.running("web", "suspend: true")
	w.awaitRelease("web", "is suspended", suspended(true))
	w.uninstalls("web")
	gateway := w.delete("web")
	if hr := w.awaitDeleting("web"); hr.Spec.Suspend {
		t.Error("Flux would not uninstall it: it is suspended")
	}
	w.uninstalled("web")
	w.awaitGone(gateway)
}

func TestDeletionWaitsForPeopleToLiftTheirSuspension(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":true}}`)
	gateway := w.delete("web")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonDeleting), "flux resume helmrelease web -n "+w.ns)
	if hr := w.release("web"); hr.DeletionTimestamp != nil || !hr.Spec.Suspend {
		t.Errorf("it was touched: %s", inYAML(hr))
	}
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":false}}`)
	w.awaitGone(gateway)
}

func TestDeletionWaitsForTheServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.running("web", "release: {serviceAccountName: deployer}")
	gateway := w.delete("web")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonDeleting), "kubectl create serviceaccount deployer -n "+w.ns)
	equal(t, "being deleted", w.release("web").DeletionTimestamp != nil, false)
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer", Namespace: w.ns}})
	w.awaitGone(gateway)
}

func TestOrphanIsSuspendedThenDeleted(t *testing.T) {
	w := newWorld(t)
	w.running("web", "deletionPolicy: Orphan")
	w.uninstalls("web")
	since := time.Now()
	gateway := w.delete("web")
	if hr := w.awaitDeleting("web"); !hr.Spec.Suspend {
		t.Error("Flux would uninstall it: it is not suspended")
	}
	w.uninstalled("web")
	w.awaitGone(gateway)
	w.wroteOf("helmreleases", since, "update helmreleases web", "delete helmreleases web")
}

func TestOrphanMovesOwnershipInOneWrite(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	uid := string(w.settled("web").UID)
	w.gateway("web", "deletionPolicy: Orphan")
	byAnnotation := func(hr *helmv2.HelmRelease) bool {
		return len(hr.OwnerReferences) == 0 && hr.Annotations[v1alpha1.AnnotationOwnerUID] == uid
	}
	hr := w.awaitRelease("web", "is owned by annotation", byAnnotation)
	w.gateway("web", "deletionPolicy: Delete")
	byReference := func(hr *helmv2.HelmRelease) bool {
		return len(hr.OwnerReferences) == 1 && hr.Annotations[v1alpha1.AnnotationOwnerUID] == ""
	}
	equal(t, "generation", w.awaitRelease("web", "is owned by reference", byReference).Generation, hr.Generation)
	w.awaitReason("web", "Ready", v1alpha1.ReasonReady)
}

// Foreground deletion lets the garbage collector delete what the gateway owns: an orphan must not be among that.
func TestOrphanSurvivesForegroundDeletionSuspended(t *testing.T) {
	w := newWorld(t)
	w.running("web", "deletionPolicy: Orphan")
	w.uninstalls("web")
	gateway := w.settled("web")
	w.must(admin.Delete(w.ctx, gateway, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	equal(t, "suspended", w.awaitDeleting("web").Spec.Suspend, true)
	w.uninstalled("web")
	w.awaitGone(gateway)
}

func TestNothingWaitsInATerminatingNamespace(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t)
	w.running("web", "release: {targetNamespace: "+other.ns+"}")
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":true}}`)
	w.must(admin.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}))
	w.awaitGone(&v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
	w.await("a warning", func() error {
		list := &corev1.EventList{}
		if err := admin.List(w.ctx, list, client.InNamespace("default")); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Name == w.ns && strings.Contains(e.Message, other.ns) {
				return nil
			}
		}
		return fmt.Errorf("there is none among %d events", len(list.Items))
	})
}
