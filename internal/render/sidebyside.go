// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
)

// atOnce is how many documents, gateways or objects are worked on before what comes of them goes on in its order: enough to keep
// all processors busy, and few in memory.
const atOnce = 512

// sideBySide calls f for 0 to n-1, on all processors.
func sideBySide(n int, f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	workers.Wait()
}
