// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/controller"
)

// An operator leaves the gateways of other shards alone, and knows them all the same: by their claims to releases, and as users
// of a class, whose finalizer it does not take away while they are there.
func TestAnOperatorOfAShardServesItsGatewaysAndSeesTheOthers(t *testing.T) {
	const ofShard1, ofNone = v1alpha1.LabelShard + "=shard1", "!" + v1alpha1.LabelShard
	defer restart(t, options())
	restart(t, serving(t, ofNone))
	w := newWorld(t)
	w.gatewayIn("shard1", "east", "values: {}")
	w.running("web", "values: {}")
	for _, line := range writes(t, w.since, w.ns) {
		if strings.HasSuffix(line, " east") {
			t.Errorf("the operator of no shard did: %s", line)
		}
	}

	restart(t, serving(t, ofShard1))
	w.awaitRelease("east", "exists", nil)
	before := w.release("web")
	w.gateway("web", "values: {changed: true}")
	w.gatewayIn("shard1", "copy", "release: {name: web}")
	equal(t, "message", w.awaitReason("copy", "Accepted", v1alpha1.ReasonConflict), fmt.Sprintf(
		`spec.release.name: release "web" in target namespace "%[1]s" belongs to APIGateway %[1]s/web already: make this gateway with another release name`, w.ns))
	equal(t, "HelmRelease of the other shard", w.release("web").ResourceVersion, before.ResourceVersion)

	w.deleteClass()
	const goes = "which goes when none does: delete them, or name another class in their spec.className: "
	w.awaitInUse(fmt.Sprintf("2 APIGateways use this class, "+goes+"%[1]s/east, %[1]s/web", w.ns))
	w.awaitGone(w.delete("east"))
	w.awaitInUse("1 APIGateway uses this class, " + goes + w.ns + "/web")

	restart(t, serving(t, ofNone))
	w.awaitRelease("web", "follows its spec", hasValue("changed: true"))
	w.awaitGone(w.delete("web"))
	w.awaitClassGone(w.class)
}

// Each removes the unused sources of its own shard, though all operators of a controller name made them.
func TestAnOperatorOfAShardRemovesTheSourcesOfItsShard(t *testing.T) {
	defer restart(t, options())
	restart(t, serving(t, "!"+v1alpha1.LabelShard))
	w := newWorld(t)
	ofShard, ofNone := w.unusedSource("shard1"), w.unusedSource("")
	w.awaitGone(ofNone) // which was made after the other
	w.must(w.get(ofShard.Name, ofShard))
	restart(t, serving(t, v1alpha1.LabelShard+"=shard1"))
	w.awaitGone(ofShard)
}

func (w *world) unusedSource(shard string) *sourcev1.OCIRepository {
	w.Helper()
	source := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "unused-" + cmp.Or(shard, "plain"),
		Annotations: map[string]string{v1alpha1.AnnotationMadeBy: v1alpha1.DefaultControllerName}}}
	if shard != "" {
		source.Labels = map[string]string{v1alpha1.LabelShard: shard}
		source.Annotations[v1alpha1.AnnotationMadeBy] += "," + shard
	}
	source.Spec = sourcev1.OCIRepositorySpec{URL: "oci://registry.example.com/charts/gateway", Interval: metav1.Duration{Duration: time.Minute}}
	w.create(source)
	return source
}

// serving are the options of an operator with a label selector.
func serving(t *testing.T, selector string) controller.Options {
	t.Helper()
	o := options()
	var err error
	o.WatchLabelSelector, err = controller.ParseLabelSelector(selector)
	must(t, err)
	return o
}

// gatewayIn applies a gateway of the world's class in a shard.
func (w *world) gatewayIn(shard, name, spec string) {
	w.Helper()
	text := manifest(w.ns, name, "className: "+w.class+"\n"+spec)
	w.apply(strings.Replace(text, "namespace: "+w.ns+"}", "namespace: "+w.ns+", labels: {"+v1alpha1.LabelShard+": "+shard+"}}", 1))
}
