// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// warmUp is how many gateways are made before anything is measured: the first client would pay for the API server's start.
const warmUp = 100

// emission: all gateways are applied at once; how long until all HelmReleases exist. Contestants take turns; after the last
// round the operator's gateways stay.
func (s *stage) emission(ctx context.Context, o Options, at *Size) error {
	if _, err := s.emitBare(ctx, min(warmUp, at.Gateways), fluxobjects.OwnSources); err != nil {
		return err
	}
	for round := range o.Rounds {
		for _, c := range []struct {
			times  *[]float64
			naming fluxobjects.Naming
		}{{&at.Emission.Bare, fluxobjects.SharedSources}, {&at.Emission.BareOwnSources, fluxobjects.OwnSources}} {
			took, err := s.emitBare(ctx, at.Gateways, c.naming)
			if err != nil {
				return err
			}
			*c.times = append(*c.times, took.Seconds())
		}
		if err := s.emitSluice(ctx, at, round == o.Rounds-1); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) emitBare(ctx context.Context, n int, naming fluxobjects.Naming) (time.Duration, error) {
	if err := s.wipe(ctx); err != nil {
		return 0, err
	}
	b, err := newBare(s, n, naming)
	if err != nil {
		return 0, err
	}
	sent := make(chan error, 1)
	go func() { sent <- b.sendEvents(ctx) }()
	took, err := s.untilReleased(ctx, n, b.run)
	close(b.events)
	if err := errors.Join(err, <-sent); err != nil {
		return 0, err
	}
	return took, s.wipe(ctx)
}

// emitSluice has the operator work, which is up before the clock runs. After the last round it, and the gateways, stay.
func (s *stage) emitSluice(ctx context.Context, at *Size, last bool) error {
	process, err := s.startOperator(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	took, err := s.untilReleased(ctx, at.Gateways, func(ctx context.Context) error {
		return each(ctx, at.Gateways, func(ctx context.Context, i int) error { return s.api.Create(ctx, newGateway(gatewayName(i))) })
	})
	if err != nil {
		return err
	}
	at.Emission.Sluice = append(at.Emission.Sluice, took.Seconds())
	if _, err := s.quiet(ctx); err != nil {
		return err
	}
	if at.Emission.Writes, err = s.writesSince(begin); err != nil {
		return err
	}
	if _, at.Emission.Reads, err = s.counted(begin); err != nil {
		return err
	}
	if at.Emission.CPUSeconds, err = s.used(); err != nil {
		return err
	}
	if last {
		return nil
	}
	if err := s.wipe(ctx); err != nil {
		return err
	}
	return process.Stop()
}

// untilReleased measures until the last HelmRelease exists.
func (s *stage) untilReleased(ctx context.Context, n int, do func(context.Context) error) (time.Duration, error) {
	seen, err := watchFor(ctx, s.api, &helmv2.HelmReleaseList{}, func(*helmv2.HelmRelease) bool { return true })
	if err != nil {
		return 0, err
	}
	defer seen.stop()
	begin := time.Now()
	if err := do(ctx); err != nil {
		return 0, err
	}
	times, err := seen.await(ctx, "HelmReleases", namesOf(n)...)
	return latest(times).Sub(begin), err
}

// requests are the operator's since a moment, leases aside.
func (s *stage) requests(since time.Time, which func(cluster.AuditEvent) bool) ([]cluster.AuditEvent, error) {
	return s.cluster.AuditEvents(since, func(e cluster.AuditEvent) bool {
		return e.User == operator.User && e.Resource != "leases" && which(e)
	})
}

// writesSince counts the operator's write requests by verb and resource, and by the code where they were refused, as with a
// conflict.
func (s *stage) writesSince(since time.Time) (map[string]int, error) {
	events, err := s.requests(since, cluster.AuditEvent.IsWrite)
	counts := map[string]int{}
	for _, e := range events {
		what := e.Verb + " " + e.Resource
		if e.Subresource != "" {
			what += "/" + e.Subresource
		}
		if e.Code >= 300 {
			what += fmt.Sprintf(" (%d)", e.Code)
		}
		counts[what]++
	}
	return counts, err
}
