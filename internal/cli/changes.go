// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	// lookAnyway is how often one looks without a sign: at what may not be watched, and at ages.
	lookAnyway = 5 * time.Second
	// watchAgain is how long after a watch broke off another one begins.
	watchAgain = time.Second
)

// interest is what a change is awaited of.
type interest struct {
	list    client.ObjectList
	options []client.ListOption
}

// changes sends a sign when something of a gateway may have changed, soon after the fact, and now and then without one. Signs
// that nobody has taken yet are one.
func (c *cluster) changes(ctx context.Context, name string) <-chan struct{} {
	here, named := client.InNamespace(c.namespace), client.MatchingFields{"metadata.name": name}
	signs := make(chan struct{}, 1)
	for _, i := range []interest{
		{&v1alpha1.APIGatewayList{}, []client.ListOption{here, named}},
		{&helmv2.HelmReleaseList{}, []client.ListOption{here, named}},
		{&sourcev1.OCIRepositoryList{}, []client.ListOption{here}},
		{&corev1.PodList{}, []client.ListOption{here}},
	} {
		go c.watch(ctx, i, signs)
	}
	go tick(ctx, signs)
	return signs
}

// watch goes on until the context ends. Where a watch is not allowed, looking anyway must do.
func (c *cluster) watch(ctx context.Context, i interest, signs chan<- struct{}) {
	for ctx.Err() == nil {
		pause := watchAgain
		if events, err := c.Watch(ctx, i.list, i.options...); err != nil {
			pause = lookAnyway
		} else {
			for range events.ResultChan() {
				sign(signs)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func tick(ctx context.Context, signs chan<- struct{}) {
	ticker := time.NewTicker(lookAnyway)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			sign(signs)
		}
	}
}

func sign(signs chan<- struct{}) {
	select {
	case signs <- struct{}{}:
	default:
	}
}
