// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestGarbageIsCollectedSoonerUnlessTheEnvironmentSaysWhen(t *testing.T) {
	before := debug.SetGCPercent(70)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}

	t.Setenv("GOGC", "70")
	collectSooner()
	if got := percent(); got != 70 {
		t.Errorf("GOGC is 70, and the percentage %d", got)
	}
	t.Setenv("GOGC", "")
	collectSooner()
	if got := percent(); got != 50 {
		t.Errorf("without GOGC the percentage is %d, want 50", got)
	}
}
