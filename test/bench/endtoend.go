// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// measureEndToEnd has real Flux install gateways and roll out an edit of their class.
func measureEndToEnd(ctx context.Context, layout toolchain.Layout, o Options) (whole EndToEnd, err error) {
	whole.Gateways = o.EndToEnd
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return whole, err
	}
	started, err := cluster.Start(ctx, cluster.Options{Dir: dir})
	if err != nil {
		return whole, err
	}
	defer func() {
		err = errors.Join(err, started.Stop())
		if err == nil {
			err = os.RemoveAll(dir)
		}
	}()
	s := &stage{cluster: started}
	if err := s.prepareWhole(ctx, layout); err != nil {
		return whole, err
	}
	names := namesOf(o.EndToEnd)
	whole.Install, err = s.rollout(ctx, names, func(ctx context.Context) error {
		return each(ctx, len(names), func(ctx context.Context, i int) error { return s.api.Create(ctx, newGateway(names[i])) })
	})
	if err != nil {
		return whole, fmt.Errorf("install: %w", err)
	}
	o.Progress("%d gateways installed by Flux in %.1fs", o.EndToEnd, whole.Install.Seconds)
	whole.Edit, err = s.rollout(ctx, names, func(ctx context.Context) error {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"values":{"podAnnotations":{"note":"1"}}}}`))
		return s.api.Patch(ctx, s.class.DeepCopy(), patch)
	})
	if err != nil {
		return whole, fmt.Errorf("class edit: %w", err)
	}
	o.Progress("a class edit rolled out to them in %.1fs", whole.Edit.Seconds)
	return whole, nil
}

func (s *stage) prepareWhole(ctx context.Context, layout toolchain.Layout) (err error) {
	chart, err := s.cluster.PushChart(ctx, filepath.Join(layout.Root(), "test", "flux", "testdata", "chart"), "1.0.0")
	if err != nil {
		return err
	}
	if _, err := operator.Install(ctx, s.cluster, "--log-level=error"); err != nil {
		return err
	}
	if s.api, err = newClient(s.cluster.RESTConfig()); err != nil {
		return err
	}
	if err := s.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	s.class = newClass(chart.URL, true)
	return s.api.Create(ctx, s.class)
}

// rollout follows all gateways until they are Ready with what the deed brought.
func (s *stage) rollout(ctx context.Context, names []string, deed func(context.Context) error) (Phase, error) {
	before := map[string]int64{}
	list := &helmv2.HelmReleaseList{}
	if err := s.api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return Phase{}, err
	}
	for i := range list.Items {
		before[list.Items[i].Name] = list.Items[i].Generation
	}
	asked := func(hr *helmv2.HelmRelease) bool { return hr.Generation > before[hr.Name] }
	deployedNow := func(hr *helmv2.HelmRelease) bool {
		c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReadyCondition)
		return asked(hr) && c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == hr.Generation && hr.Status.ObservedGeneration == hr.Generation
	}
	revision := int64(1)
	if len(list.Items) > 0 {
		revision = 2
	}
	readyNow := func(g *v1alpha1.APIGateway) bool {
		return isReady(g) && g.Status.Release != nil && g.Status.Release.Revision == revision
	}
	written, err := watchFor(ctx, s.api, &helmv2.HelmReleaseList{}, asked)
	if err != nil {
		return Phase{}, err
	}
	defer written.stop()
	released, err := watchFor(ctx, s.api, &helmv2.HelmReleaseList{}, deployedNow)
	if err != nil {
		return Phase{}, err
	}
	defer released.stop()
	ready, err := watchFor(ctx, s.api, &v1alpha1.APIGatewayList{}, readyNow)
	if err != nil {
		return Phase{}, err
	}
	defer ready.stop()
	begin := time.Now()
	if err := deed(ctx); err != nil {
		return Phase{}, err
	}
	ends, err := ready.await(ctx, "Ready gateways", names...)
	if err != nil {
		return Phase{}, err
	}
	starts, err := written.await(ctx, "HelmReleases", names...)
	if err != nil {
		return Phase{}, err
	}
	done, err := released.await(ctx, "Ready HelmReleases", names...)
	if err != nil {
		return Phase{}, err
	}
	return phaseOf(begin, starts, done, ends), nil
}

func phaseOf(begin time.Time, written, released, ready []time.Time) Phase {
	var before, flux, after, whole []time.Duration
	for i := range ready {
		before = append(before, written[i].Sub(begin))
		flux = append(flux, released[i].Sub(written[i]))
		after = append(after, ready[i].Sub(released[i]))
		whole = append(whole, ready[i].Sub(begin))
	}
	return Phase{
		Seconds: latest(ready).Sub(begin).Seconds(),
		Before:  quantiles(before), Flux: quantiles(flux), After: quantiles(after), Whole: quantiles(whole),
	}
}
