// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// latency of one thing after the other, while nothing else happens, and of a class edit that concerns all.
func (s *stage) latency(ctx context.Context, o Options, at *Size) error {
	if err := s.deployAll(ctx, at.Gateways); err != nil {
		return err
	}
	_, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	if at.Latency.Create, err = s.creations(ctx, o.Samples); err != nil {
		return err
	}
	if at.Latency.Status, err = s.statuses(ctx, o.Samples, at.Gateways); err != nil {
		return err
	}
	if at.Latency.ClassEdit, err = s.classEdit(ctx, at.Gateways); err != nil {
		return err
	}
	return s.deployAll(ctx, at.Gateways)
}

// creations: from the request that makes a gateway to the news of its HelmRelease.
func (s *stage) creations(ctx context.Context, n int) (Quantiles, error) {
	seen, err := watchFor(ctx, s.api, &helmv2.HelmReleaseList{}, func(*helmv2.HelmRelease) bool { return true })
	if err != nil {
		return Quantiles{}, err
	}
	defer seen.stop()
	var took []time.Duration
	for i := range n {
		g := newGateway(fmt.Sprintf("latency-%05d", i))
		begin := time.Now()
		if err := s.api.Create(ctx, g); err != nil {
			return Quantiles{}, err
		}
		times, err := seen.await(ctx, "a HelmRelease", g.Name)
		if err != nil {
			return Quantiles{}, err
		}
		took = append(took, times[0].Sub(begin))
		if err := pause(ctx); err != nil {
			return Quantiles{}, err
		}
	}
	for i := range n {
		g := &v1alpha1.APIGateway{}
		g.SetNamespace(namespace)
		g.SetName(fmt.Sprintf("latency-%05d", i))
		if err := s.api.Delete(ctx, g); err != nil {
			return Quantiles{}, err
		}
	}
	_, err = s.quiet(ctx)
	return quantiles(took), err
}

// statuses: from the request that changes a HelmRelease's status to the news of its gateway's.
func (s *stage) statuses(ctx context.Context, n, gateways int) (Quantiles, error) {
	var took []time.Duration
	for i := range n {
		name := gatewayName(i * 7 % gateways)
		for _, change := range []struct {
			report func(*helmv2.HelmRelease)
			shows  func(*v1alpha1.APIGateway) bool
			counts bool
		}{
			{acting, func(g *v1alpha1.APIGateway) bool { return g.Status.Phase == v1alpha1.PhaseProgressing }, true},
			{deployed, isReady, false},
		} {
			one, err := s.status(ctx, name, change.report, change.shows)
			if err != nil {
				return Quantiles{}, err
			}
			if change.counts {
				took = append(took, one)
			}
		}
	}
	return quantiles(took), nil
}

func (s *stage) status(ctx context.Context, name string, report func(*helmv2.HelmRelease), shows func(*v1alpha1.APIGateway) bool) (time.Duration, error) {
	seen, err := watchFor(ctx, s.api, &v1alpha1.APIGatewayList{}, func(g *v1alpha1.APIGateway) bool { return g.Name == name && shows(g) },
		client.MatchingFields{"metadata.name": name})
	if err != nil {
		return 0, err
	}
	defer seen.stop()
	hr := &helmv2.HelmRelease{}
	if err := s.api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, hr); err != nil {
		return 0, err
	}
	report(hr)
	begin := time.Now()
	if err := s.api.Status().Update(ctx, hr); err != nil {
		return 0, err
	}
	times, err := seen.await(ctx, "the gateway's status", name)
	if err != nil {
		return 0, err
	}
	return times[0].Sub(begin), pause(ctx)
}

// classEdit: from the request that changes the class to the news of each HelmRelease that carries the change.
func (s *stage) classEdit(ctx context.Context, gateways int) (Quantiles, error) {
	generations := map[string]int64{}
	list := &helmv2.HelmReleaseList{}
	if err := s.api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return Quantiles{}, err
	}
	for i := range list.Items {
		generations[list.Items[i].Name] = list.Items[i].Generation
	}
	seen, err := watchFor(ctx, s.api, &helmv2.HelmReleaseList{}, func(hr *helmv2.HelmRelease) bool { return hr.Generation > generations[hr.Name] })
	if err != nil {
		return Quantiles{}, err
	}
	defer seen.stop()
	patch := fmt.Sprintf(`{"spec":{"values":{"podAnnotations":{"note":%q}}}}`, time.Now().Format(time.RFC3339Nano))
	begin := time.Now()
	if err := s.api.Patch(ctx, s.class.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return Quantiles{}, err
	}
	times, err := seen.await(ctx, "the change of the class", namesOf(gateways)...)
	if err != nil {
		return Quantiles{}, err
	}
	var took []time.Duration
	for _, t := range times {
		took = append(took, t.Sub(begin))
	}
	_, err = s.quiet(ctx)
	return quantiles(took), err
}
