// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/gitops"
	"github.com/sluice-gateway/sluice/test/operator"
)

// clock is the real one, set wrong.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load())) // without the reading that no setting of a clock changes
}

func (c *clock) jump(by time.Duration) { c.offset.Add(int64(by)) }

// A clock that jumps neither stops the rounds nor costs anything that runs. The operator runs in this process, with a clock
// of the test's; timers go on as they do where a machine's clock is set.
func TestTheClockJumps(t *testing.T) {
	t.Parallel()
	const served = "gateway.sluice.dev/clock"
	c := &clock{}
	runInProcess(t, controller.Options{ControllerName: served, Now: c.now})
	d := newDayOf(t, "clock", 0)
	class := strings.Replace(d.model.class(), "spec:\n", "spec:\n  controllerName: "+served+"\n", 1)
	class = strings.Replace(class, "initial: 2s, max: 2s", "initial: 5s, max: 5s", 1)
	web := wish{good, "1", "one", 1}
	commit := func(message string) {
		t.Helper()
		d.model.wishes["web"] = web
		d.push(message, gitops.Files{"class.yaml": class, "web.yaml": web.manifest(d.team, "web")})
		d.converges(message)
	}
	commit("Add a gateway")
	c.jump(24 * time.Hour)
	web.kind, web.message = broken, "two"
	commit("Break it a day later")
	d.eventually("the next round to be scheduled", func(context.Context) error {
		for _, g := range d.world().Gateways {
			if g.Status.NextRetryTime == nil {
				return fmt.Errorf("%s", d.story())
			}
		}
		return nil
	})

	c.jump(-48 * time.Hour)
	before := d.failures("web")
	d.eventually("another round, two days earlier", func(context.Context) error {
		if now := d.failures("web"); now <= before {
			return fmt.Errorf("failed rounds: %d; %s", now, d.story())
		}
		return nil
	})
	web.kind, web.message = good, "three"
	commit("Correct it")
	c.jump(24 * 365 * time.Hour)
	web.chart, web.message = "2", "four"
	commit("A new chart, a year later")
	delete(d.model.wishes, "web")
	d.push("Remove it", gitops.Files{"web.yaml": gitops.Removed})
	d.converges("removed")
	d.judged()
}

// failures of a gateway, as its status counts them.
func (d *day) failures(name string) int64 {
	d.Helper()
	for gateway, g := range d.world().Gateways {
		if gateway.Name == name {
			return g.Status.Failures
		}
	}
	d.Fatalf("there is no gateway %s", name)
	return 0
}

// runInProcess runs an operator until the test ends, with the rights of the chart's ServiceAccount.
func runInProcess(t *testing.T, o controller.Options) {
	t.Helper()
	log.SetLogger(logr.Discard())
	kubeconfig, err := local.KubeconfigFor(t.Context(), operator.Namespace, operator.ServiceAccount)
	must(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	config.QPS = -1
	options, err := o.Manager()
	must(t, err)
	options.Metrics = metrics.Options{BindAddress: "0"}
	mgr, err := ctrl.NewManager(config, options)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	must(t, controller.Setup(ctx, mgr, o))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
