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

func TestEditOfValuesIsOneUpdate(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {size: 1}")
	since := time.Now()
	w.gateway("web", "values: {size: 2}")
	after := w.awaitRelease("web", "has the new value", hasValue("size: 2"))
	w.settled("web")
	equal(t, "generation", after.Generation, before.Generation+1)
	w.wrote(since, "update helmreleases web", "update apigateways/status web")
}

func TestChartAndValuesSwitchInOneWriteOnceTheNewChartIsThere(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {size: 1}")
	since := time.Now()
	w.gateway("web", "chart: {tag: 2.0.0}\nvalues: {size: 2}")
	next := w.awaitSource("2.0.0")
	contains(t, w.awaitReason("web", "Ready", v1alpha1.ReasonPending), next)
	if hr := w.release("web"); hr.ResourceVersion != before.ResourceVersion {
		t.Fatalf("the HelmRelease was written before the chart was there: %s", inYAML(hr.Spec))
	}
	w.pulled(next)
	after := w.awaitRelease("web", "refers to the new source", refersTo(next))
	if !hasValue("size: 2")(after) || after.Generation != before.Generation+1 {
		t.Errorf("generation %d after %d: %s", after.Generation, before.Generation, inYAML(after.Spec))
	}
	w.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: before.Spec.ChartRef.Name}})
	w.wroteOf("helmreleases", since, "update helmreleases web")
	w.wroteOf("ocirepositories", since, "create ocirepositories "+next, "delete ocirepositories "+before.Spec.ChartRef.Name)
	w.must(w.get(next, &sourcev1.OCIRepository{}))
}

func TestChartThatNeverComesLeavesTheReleaseAlone(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {size: 1}")
	w.gateway("web", "chart: {tag: 9.9.9}\nvalues: {size: 2}")
	wrong := w.awaitSource("9.9.9")
	w.notPulled(wrong)
	contains(t, w.awaitReason("web", "SourceReady", sourcev1.OCIPullFailedReason), "no such tag")
	if hr := w.release("web"); hr.ResourceVersion != before.ResourceVersion {
		t.Fatalf("the HelmRelease was written: %s", inYAML(hr.Spec))
	}

	w.gateway("web", "chart: {tag: 9.9.9}\nvalues: {size: 2}\nsuspend: true")
	held := w.awaitRelease("web", "is suspended meanwhile", suspended(true))
	if !refersTo(before.Spec.ChartRef.Name)(held) || !hasValue("size: 1")(held) {
		t.Errorf("more than suspend was written: %s", inYAML(held.Spec))
	}

	w.gateway("web", "values: {size: 3}")
	w.awaitRelease("web", "follows the values of the chart that runs", hasValue("size: 3"))
	w.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: wrong}})
	w.must(w.get(before.Spec.ChartRef.Name, &sourcev1.OCIRepository{}))
}

func TestFirstInstallWithAWrongTagIsCorrectedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "chart: {tag: 9.9.9}")
	wrong := w.awaitSource("9.9.9")
	w.notPulled(wrong)
	w.awaitReason("web", "Ready", sourcev1.OCIPullFailedReason)
	w.gateway("web", "chart: {tag: 2.0.0}")
	w.awaitRelease("web", "refers to the corrected source", refersTo(w.awaitSource("2.0.0")))
	w.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: wrong}})
}

func TestSourceDeletedByHandIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	name := w.running("web", "values: {}").Spec.ChartRef.Name
	source := &sourcev1.OCIRepository{}
	w.must(w.get(name, source))
	w.must(admin.Delete(w.ctx, source))
	w.await("a new source", func() error {
		made := &sourcev1.OCIRepository{}
		if err := w.get(name, made); err != nil {
			return err
		}
		if made.UID == source.UID {
			return fmt.Errorf("still the old")
		}
		return nil
	})
}

func TestSourceEditedByHandIsPutBack(t *testing.T) {
	w := newWorld(t)
	name := w.running("web", "values: {}").Spec.ChartRef.Name
	source := &sourcev1.OCIRepository{}
	w.patch(source, name, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null,"mine":"yes"}},"spec":{"ref":{"tag":"6.6.6"},"ignore":"x"}}`)
	w.await("the source as it was", func() error {
		if err := w.get(name, source); err != nil {
			return err
		}
		if source.Spec.Reference.Tag != "1.0.0" || source.Spec.Ignore != nil || source.Labels[v1alpha1.LabelManagedBy] == "" {
			return fmt.Errorf("is %s", inYAML(source))
		}
		return nil
	})
	equal(t, "a label of people", source.Labels["mine"], "yes")
}

func TestSourceInUseElsewhereStays(t *testing.T) {
	w := newWorld(t)
	before := w.running("web", "values: {}")
	old := before.Spec.ChartRef.Name
	w.create(&helmv2.HelmRelease{
		ObjectMeta: metav1.ObjectMeta{Name: "by-hand", Namespace: w.ns},
		Spec: helmv2.HelmReleaseSpec{
			ChartRef: &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: old},
			Interval: metav1.Duration{Duration: time.Hour},
		},
	})
	w.gateway("web", "chart: {tag: 2.0.0}")
	w.pulled(w.awaitSource("2.0.0"))
	w.awaitRelease("web", "has switched", func(hr *helmv2.HelmRelease) bool { return hr.Spec.ChartRef.Name != old })
	// A source that nobody uses, made later, is removed: by then this one would have been.
	w.running("other", "chart: {tag: 3.0.0}")
	third := w.awaitSource("3.0.0")
	w.must(admin.Delete(w.ctx, &v1alpha1.APIGateway{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: w.ns}}))
	w.awaitGone(&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: third}})
	w.must(w.get(old, &sourcev1.OCIRepository{}))
}

func TestForeignSourceIsUsedIfItIsTheSame(t *testing.T) {
	w := newWorld(t)
	w.gateway("first", "values: {}")
	w.settled("first")
	source := w.sources()[0]
	w.patch(&sourcev1.OCIRepository{}, source.Name, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, v1alpha1.AnnotationMadeBy))
	w.gateway("second", "values: {}")
	w.awaitRelease("second", "refers to it", refersTo(source.Name))

	w.patch(&sourcev1.OCIRepository{}, source.Name, `{"spec":{"ref":{"tag":"6.6.6"}}}`)
	w.awaitReason("second", "Accepted", v1alpha1.ReasonConflict) // so the operator knows of the edit
	w.gateway("third", "values: {}")
	contains(t, w.awaitReason("third", "Accepted", v1alpha1.ReasonConflict), source.Name)
	if w.get("third", &helmv2.HelmRelease{}) == nil {
		t.Error("a HelmRelease was written")
	}
}

// A success that the status does not tell of yet is recorded before the spec that succeeded is overwritten.
func TestSuccessIsRecordedBeforeTheSpecChanges(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "values: {size: 1}")
	w.settled("web")
	source := w.sources()[0].Name
	stop(t)
	w.pulled(source)
	w.deployed("web")
	w.gateway("web", "values: {size: 2}")
	since := time.Now()
	begin(t, options())
	w.awaitRelease("web", "has the new value", hasValue("size: 2"))
	w.settled("web")
	var first []string
	w.await("two writes", func() error {
		if first = writes(t, since, w.ns); len(first) < 2 {
			return fmt.Errorf("are %v", first)
		}
		return nil
	})
	equal(t, "writes", strings.Join(first[:2], "\n"), "update apigateways/status web\nupdate helmreleases web")
	if status := w.status("web"); status.Release == nil || status.Release.DesiredHash == "" {
		t.Errorf("nothing is recorded: %s", inYAML(status))
	}
}

// awaitSource waits for the source of a tag and returns its name.
func (w *world) awaitSource(tag string) string {
	w.Helper()
	var name string
	w.await("source of tag "+tag, func() error {
		for _, s := range w.sources() {
			if s.Spec.Reference.Tag == tag {
				name = s.Name
				return nil
			}
		}
		return fmt.Errorf("there are %d sources", len(w.sources()))
	})
	return name
}

func hasValue(line string) func(*helmv2.HelmRelease) bool {
	return func(hr *helmv2.HelmRelease) bool { return strings.Contains(inYAML(hr.Spec.Values), line) }
}

func refersTo(source string) func(*helmv2.HelmRelease) bool {
	return func(hr *helmv2.HelmRelease) bool { return hr.Spec.ChartRef.Name == source }
}

func suspended(yes bool) func(*helmv2.HelmRelease) bool {
	return func(hr *helmv2.HelmRelease) bool { return hr.Spec.Suspend == yes }
}
