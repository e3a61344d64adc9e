// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestAShardIsHandedOnToTheObjectsAndTakenBack(t *testing.T) {
	w := newWorld(t)
	plain := w.running("web", "values: {}").Spec.ChartRef.Name
	w.shard("web", `"shard1"`)
	sharded := w.awaitSourceOfShard("shard1")
	equal(t, "made by", sharded.Annotations[v1alpha1.AnnotationMadeBy], v1alpha1.DefaultControllerName+",shard1")
	w.pulled(sharded.Name)
	hr := w.awaitRelease("web", "has switched", refersTo(sharded.Name))
	equal(t, "shard of the HelmRelease", hr.Labels[v1alpha1.LabelShard], "shard1")
	w.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: plain}})

	w.shard("web", "null")
	w.pulled(w.awaitSourceOfShard("").Name)
	w.awaitRelease("web", "is of no shard", func(hr *helmv2.HelmRelease) bool {
		_, labelled := hr.Labels[v1alpha1.LabelShard]
		return !labelled && hr.Spec.ChartRef.Name == plain
	})
	w.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: sharded.Name}})
}

func (w *world) shard(name, value string) {
	w.Helper()
	w.patch(&v1alpha1.APIGateway{}, name, fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, v1alpha1.LabelShard, value))
}

func (w *world) awaitSourceOfShard(shard string) sourcev1.OCIRepository {
	w.Helper()
	var found sourcev1.OCIRepository
	w.await("a source of shard "+shard, func() error {
		for _, s := range w.sources() {
			if s.Labels[v1alpha1.LabelShard] == shard {
				found = s
				return nil
			}
		}
		return fmt.Errorf("%d sources", len(w.sources()))
	})
	return found
}
