// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const otherOperator = `{"spec":{"controllerName":"example.com/other"}}`

// A class that gets another controllerName takes its gateways along. Until the other operator has them, ours says so, and
// whoever deletes them is not held up.
func TestAGatewayWhoseClassMovedToAnAbsentOperatorSaysSoAndCanBeDeleted(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	before := w.release("web")
	w.patchClass(otherOperator)
	message := fmt.Sprintf("spec.className: APIGatewayClass %s is served by controller example.com/other, which has not taken this gateway over from controller"+
		" gateway.sluice.dev/sluice: run an operator with that --controller-name, or name a class of this one; until then what runs stays as it is", w.class)
	equal(t, "message", w.awaitReason("web", "Ready", v1alpha1.ReasonOtherController), message)
	status := w.status("web")
	equal(t, "phase", status.Phase, v1alpha1.PhaseDegraded)
	equal(t, "conditions", conditionsOf(status), "Accepted=False SourceReady=True Programmed=False Ready=False Stalled=True")
	equal(t, "HelmRelease", w.release("web").ResourceVersion, before.ResourceVersion)

	w.patchClass(`{"spec":{"controllerName":null}}`)
	w.awaitReason("web", "Ready", v1alpha1.ReasonReady)

	w.patchClass(otherOperator)
	w.awaitReason("web", "Ready", v1alpha1.ReasonOtherController)
	w.uninstalls("web")
	w.deleteClass()
	gateway := w.delete("web")
	w.awaitDeleting("web")
	w.awaitReason("web", "Ready", v1alpha1.ReasonDeleting)
	w.uninstalled("web")
	w.awaitGone(gateway)
	w.awaitClassGone(w.class)
}

// Once the other operator has written the HelmRelease, ours touches nothing, and neither finalizer nor status is its own.
func TestAGatewayThatAnotherOperatorTookOverIsLeftToIt(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	other.patchClass(otherOperator)
	w.running("web", "values: {}")
	w.patch(&helmv2.HelmRelease{}, "web", fmt.Sprintf(`{"metadata":{"annotations":{%q:"example.com/other"}}}`, v1alpha1.AnnotationMadeBy))
	w.awaitRelease("web", "is ours again", func(hr *helmv2.HelmRelease) bool {
		return hr.Annotations[v1alpha1.AnnotationMadeBy] == v1alpha1.DefaultControllerName
	})

	w.gatewayOf(other.class, "web", "values: {}")
	w.awaitReason("web", "Ready", v1alpha1.ReasonOtherController)
	w.patch(&helmv2.HelmRelease{}, "web", fmt.Sprintf(`{"metadata":{"annotations":{%q:"example.com/other"}}}`, v1alpha1.AnnotationMadeBy))
	since := time.Now()
	w.delete("web")
	later := newWorld(t) // a later gateway has been served: so the earlier has been looked at
	later.gateway("web", "values: {}")
	later.settled("web")
	gateway := &v1alpha1.APIGateway{}
	w.must(w.get("web", gateway))
	equal(t, "it is held", slices.Contains(gateway.Finalizers, v1alpha1.Finalizer), true)
	equal(t, "its HelmRelease is being deleted", w.release("web").DeletionTimestamp != nil, false)
	equal(t, "writes", len(writes(t, since, w.ns)), 0)
}
