// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// stopWithin is how long the end of a cluster, or of another demo, may take.
const stopWithin = time.Minute

// demo is one that runs. Its steps fill it in as they go.
type demo struct {
	at     places
	report *report

	cluster  *cluster.Cluster
	client   client.Client
	worktree *cluster.Worktree
	chartURL string
	// gateway is the APIGateway of the example, and the HelmRelease made of it.
	gateway client.ObjectKey
	// commit is the full hash of the last one.
	commit string
	// revision is the Helm revision that ran before the last commit.
	revision int64
	// ready is the time from the start to the first Ready.
	ready time.Duration
}

// Up shows the demo and leaves its cluster running. When a step fails, or ctx ends, it says what failed, stops the cluster
// and returns an error. A demo that runs already is stopped first, with its cluster. Times count from started.
func Up(ctx context.Context, out *os.File, started time.Time) (err error) {
	d, err := newDemo(out, started)
	if err != nil {
		return err
	}
	release, err := takeTurn(ctx, d.at, d.report)
	if err != nil {
		return err
	}
	defer release()
	complete := false
	defer func() {
		if !complete { // also on a panic
			err = errors.Join(err, d.stop())
		}
	}()
	if err := play(ctx, d.report, d.chapters()); err != nil {
		return d.explain(ctx, err)
	}
	complete = true
	d.farewell()
	return nil
}

// Down stops the demo and its cluster. That none runs is no error.
func Down(ctx context.Context, out *os.File) error {
	d, err := newDemo(out, time.Now())
	if err != nil {
		return err
	}
	release, err := takeTurn(ctx, d.at, d.report)
	if err != nil {
		return err
	}
	defer release()
	return nil
}

// Serve is the cluster's supervisor, which Up starts as a process of its own: it runs the cluster until it is told to stop,
// or ctx ends. Progress goes to out, a line each.
func Serve(ctx context.Context, out io.Writer) error {
	layout, err := toolchain.Find()
	if err != nil {
		return err
	}
	started, err := cluster.Start(ctx, cluster.Options{
		Dir:      newPlaces(layout.Root()).cluster(),
		Progress: func(text string) { fmt.Fprintln(out, text) },
		Args: map[string][]string{
			// The commit that mends a gateway need not wait until the health check of the broken one has timed out.
			cluster.KustomizeController: {"--feature-gates=CancelHealthCheckOnNewRevision=true"},
		},
	})
	if err != nil {
		return err
	}
	return started.Serve(ctx)
}

func newDemo(out *os.File, started time.Time) (*demo, error) {
	layout, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	return &demo{at: newPlaces(layout.Root()), report: newReport(out, started)}, nil
}

// stop ends the cluster. It does so also when the demo was interrupted, so it has a time of its own.
func (d *demo) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	return stopCluster(ctx, d.at, d.report)
}
