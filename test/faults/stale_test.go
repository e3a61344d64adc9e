// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/test/apiproxy"
	"github.com/sluice-gateway/sluice/test/gitops"
)

// While the news of HelmReleases is held up, a commit and its revert reach the operator: its cache then has a HelmRelease that
// carries what is desired and is Ready, as it was before both. What runs is the commit.
func TestARevertIsNotReadyByWhatTheCacheHeldBefore(t *testing.T) {
	t.Parallel()
	d := newDayOf(t, "stale", 0)
	commit := func(message string, web wish) {
		t.Helper()
		d.model.wishes["web"] = web
		d.push(message, gitops.Files{"class.yaml": d.model.class(), "web.yaml": web.manifest(d.team, "web")})
	}
	one, two := wish{good, "1", "one", 1}, wish{good, "1", "two", 1}
	commit("Add a gateway", one)
	d.converges("added")

	proxy.Set(apiproxy.Weather{HeldWatch: 1, Hold: 12 * time.Second, Only: "/helmreleases"})
	commit("Change it", two)
	d.eventually("the change to run", func(context.Context) error {
		if config := d.world().Configs[types.NamespacedName{Namespace: d.team, Name: "web-settings"}]; config.Data["message"] != "two" {
			return fmt.Errorf("it runs with %v", config.Data)
		}
		return nil
	})
	commit("Revert it", one)
	d.eventually("the revert to arrive", func(context.Context) error {
		g := d.world().Gateways[types.NamespacedName{Namespace: d.team, Name: "web"}]
		if g.Generation != 3 || g.Status.ObservedGeneration != 3 {
			return fmt.Errorf("generation %d, observed %d", g.Generation, g.Status.ObservedGeneration)
		}
		return nil
	})
	d.calm()
	d.converges("reverted")
	d.push("remove everything", d.model.end())
	d.converges("with nothing left")
	d.judged()
}
