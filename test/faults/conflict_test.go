// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/test/apiproxy"
	"github.com/sluice-gateway/sluice/test/gitops"
)

// A write that met a conflict is made again though nothing else has the operator look: Flux is at rest for an hour. First it is
// a write of the status, then one of the HelmRelease. No other test may run meanwhile, since the conflicts would be its too.
func TestAConflictIsLookedAtAgain(t *testing.T) {
	d := newDayOf(t, "conflict", 0)
	class := strings.NewReplacer("interval: 5s", "interval: 1h", "interval: 10s", "interval: 1h").Replace(d.model.class())
	commit := func(message string, web wish) {
		t.Helper()
		d.model.wishes["web"] = web
		d.push(message, gitops.Files{"class.yaml": class, "web.yaml": web.manifest(d.team, "web")})
	}
	commit("Add a gateway", wish{good, "1", "one", 1})
	d.converges("added")

	for _, change := range []struct {
		message string
		web     wish
	}{
		{"Have it refused", wish{refused, "1", "two", 1}},
		{"Correct it", wish{good, "1", "three", 1}},
	} {
		before := proxy.Done()["Conflict"]
		proxy.Set(apiproxy.Weather{Conflict: 1})
		commit(change.message, change.web)
		d.eventually("a conflict", func(context.Context) error {
			if proxy.Done()["Conflict"] == before {
				return errors.New("there was none")
			}
			return nil
		})
		d.calm()
		d.converges(change.message)
	}
	d.push("remove everything", d.model.end())
	d.converges("with nothing left")
	d.judged()
}
