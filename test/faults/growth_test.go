// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/test/apiproxy"
	"github.com/sluice-gateway/sluice/test/gitops"
	"github.com/sluice-gateway/sluice/test/monitoring"
	"github.com/sluice-gateway/sluice/test/suite"
)

// size is what an operator takes.
type size struct {
	goroutines float64
	heapMB     float64 // live at the last collection
}

// How much more than before may be there when all is over.
const (
	moreGoroutines = 5
	moreHeapMB     = 8
)

// Under a storm of SLUICE_STORM seconds nothing grows: what a cut watch, a lost answer or a timeout leaves behind would add up over months.
func TestNothingGrowsUnderAStorm(t *testing.T) {
	d := newDayOf(t, "growth", 0)
	files := d.model.begin()
	d.push("begin", files)
	d.converges("before the storm")
	before := d.atRest()
	storm := apiproxy.Weather{
		TooManyRequests: 0.1, InternalError: 0.1, Conflict: 0.2, Timeout: 0.1, LostAnswer: 0.1, Slow: 0.2, CutWatch: 0.2, HeldWatch: 0.1, Refuse: 0.1,
		Hang: 200 * time.Millisecond, Delay: 100 * time.Millisecond, Hold: 200 * time.Millisecond,
	}
	proxy.Set(storm)
	cuts := 0
	for begin := time.Now(); time.Since(begin) < time.Duration(suite.Number(t, "SLUICE_STORM", 10))*time.Second; cuts++ {
		time.Sleep(100 * time.Millisecond)
		proxy.CutWatches()
		if cuts%20 == 0 {
			d.model.note = fmt.Sprint(cuts + 1)
			d.push("another note", gitops.Files{"class.yaml": d.model.class()})
		}
	}
	d.calm()
	d.converges("after the storm")
	var after size
	d.eventually("what the storm left to go", func(ctx context.Context) (err error) {
		if after, err = measure(ctx); err == nil && (after.goroutines > before.goroutines+moreGoroutines || after.heapMB > before.heapMB+moreHeapMB) {
			err = fmt.Errorf("before %+v, after all watches were cut %d times %+v", before, cuts, after)
		}
		return err
	})
	t.Logf("before %+v, after all watches were cut %d times %+v; done to requests: %v", before, cuts, after, proxy.Done())
	d.push("remove everything", d.model.end())
	d.converges("with nothing left")
	d.judged()
}

// atRest measures when two measurements agree.
func (d *day) atRest() size {
	d.Helper()
	var last size
	d.eventually("the operator to rest", func(ctx context.Context) error {
		before := last
		var err error
		if last, err = measure(ctx); err == nil && last.goroutines != before.goroutines {
			err = fmt.Errorf("%+v, then %+v", before, last)
		}
		return err
	})
	return last
}

func measure(ctx context.Context) (size, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metricsAddress+"/metrics", nil)
	if err != nil {
		return size{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return size{}, err
	}
	defer answer.Body.Close()
	m, err := monitoring.Parse(answer.Body)
	if err != nil {
		return size{}, err
	}
	for _, name := range []string{"go_goroutines", "go_gc_heap_live_bytes"} {
		if len(m[name]) != 1 {
			return size{}, fmt.Errorf("there are %d series of %s", len(m[name]), name)
		}
	}
	return size{m["go_goroutines"][0].Value, m["go_gc_heap_live_bytes"][0].Value / 1e6}, nil
}
