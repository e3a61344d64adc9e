// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// The source of a class with a namespace of its own lies there, once for all namespaces, and goes when nobody uses it.
func TestGatewaysOfTwoNamespacesShareASourceInAThird(t *testing.T) {
	a, b, home := newWorld(t), newWorld(t), newWorld(t)
	a.patchClass(fmt.Sprintf(`{"spec":{"chart":{"namespace":%q}}}`, home.ns))
	a.gateway("web", "values: {}")
	b.gatewayOf(a.class, "web", "values: {}")
	first, second := a.awaitRelease("web", "exists", nil), b.awaitRelease("web", "exists", nil)
	equal(t, "source of the second", *second.Spec.ChartRef, *first.Spec.ChartRef)
	equal(t, "namespace of the source", first.Spec.ChartRef.Namespace, home.ns)
	equal(t, "sources there", len(home.sources()), 1)
	equal(t, "sources at home", len(a.sources())+len(b.sources()), 0)

	home.pulled(first.Spec.ChartRef.Name)
	a.awaitReason("web", "SourceReady", v1alpha1.ReasonReady)
	b.awaitReason("web", "SourceReady", v1alpha1.ReasonReady)

	a.awaitGone(a.delete("web"))
	b.awaitReason("web", "SourceReady", v1alpha1.ReasonReady)
	b.awaitGone(b.delete("web"))
	home.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: first.Spec.ChartRef.Name}})
}

// The namespace of a class's source is part of where it is: a class that moves it moves its gateways' sources.
func TestASourceMovesWithItsClassOnceItHasItsArtifact(t *testing.T) {
	w, home := newWorld(t), newWorld(t)
	old := w.running("web", "values: {}")
	w.patchClass(fmt.Sprintf(`{"spec":{"chart":{"namespace":%q}}}`, home.ns))
	home.await("the new source", func() error {
		if len(home.sources()) != 1 {
			return errors.New("is not there")
		}
		return nil
	})
	equal(t, "HelmRelease before the artifact", w.release("web").ResourceVersion, old.ResourceVersion)
	home.pulled(home.sources()[0].Name)
	w.await("the switch", func() error {
		if ref := w.release("web").Spec.ChartRef; ref.Namespace != home.ns {
			return errors.New(inYAML(ref))
		}
		return nil
	})
}
