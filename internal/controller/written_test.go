// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestWritten(t *testing.T) {
	at := func(version string) *helmv2.HelmRelease {
		return &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: "apis", Name: "web", ResourceVersion: version}}
	}
	w := newWritten()
	outdates := func(what, version string, want bool) {
		t.Helper()
		if got := w.outdates(at(version)); got != want {
			t.Errorf("%s: that %s is outdated: %t", what, version, got)
		}
	}
	outdates("nothing was written", "9", false)
	w.try(at("9"))
	outdates("the answer is not there", "9", true)
	outdates("somebody wrote meanwhile", "10", false)
	w.know(at("12"))
	outdates("12 was written", "9", true)
	outdates("12 was written", "11", true)
	outdates("12 was written", "12", false)
	outdates("12 was written", "100", false)
	outdates("12 was written", "of another kind", false)
	news := func(version string) bool {
		update, create := w.byOthers().Update(event.UpdateEvent{ObjectOld: at("1"), ObjectNew: at(version)}), w.byOthers().Create(event.CreateEvent{Object: at(version)})
		return update && create && w.byOthers().Delete(event.DeleteEvent{Object: at(version)})
	}
	if news("12") || !news("11") || !news("13") {
		t.Error("12 was written: only that is no news")
	}
	w.try(at("12"))
	if !news("12") {
		t.Error("12 is being written over")
	}
	w.forget(client.ObjectKeyFromObject(at("")))
	outdates("it is gone", "9", false)
}
