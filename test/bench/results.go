// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Results of a run; results.json holds just this.
type Results struct {
	Options  Described `json:"options"`
	Sizes    []Size    `json:"sizes"`
	EndToEnd *EndToEnd `json:"endToEnd,omitempty"`
}

// Described are the options, and where it ran.
type Described struct {
	Sizes       []int   `json:"sizes"`
	Rounds      int     `json:"rounds"`
	Samples     int     `json:"samples"`
	RestSeconds float64 `json:"restSeconds"`
	Processors  int     `json:"processors"`
}

func described(o Options) Described {
	return Described{Sizes: o.Sizes, Rounds: o.Rounds, Samples: o.Samples, RestSeconds: o.Rest.Seconds(), Processors: runtime.NumCPU()}
}

// Size is what was measured with one number of gateways. Times are in seconds, of requests in milliseconds.
type Size struct {
	Gateways int      `json:"gateways"`
	Emission Emission `json:"emission"`
	Latency  Latency  `json:"latency"`
	Rest     Rest     `json:"rest"`
	Restart  Restart  `json:"restart"`
}

// Emission is how long until all HelmReleases exist, in each round.
type Emission struct {
	Sluice         []float64      `json:"sluice"`
	Bare           []float64      `json:"bare"`           // the same writes
	BareOwnSources []float64      `json:"bareOwnSources"` // and one OCIRepository a gateway
	Writes         map[string]int `json:"writes"`         // of the operator, in its last round
	Reads          int            `json:"reads"`          // of the operator, in its last round
	CPUSeconds     float64        `json:"cpuSeconds"`     // of the operator, in its last round
}

// Latency of single things, and of the HelmReleases that a class edit changes.
type Latency struct {
	Create    Quantiles `json:"create"`    // gateway made to HelmRelease
	Status    Quantiles `json:"status"`    // Flux's status to the gateway's
	ClassEdit Quantiles `json:"classEdit"` // class changed to each HelmRelease
}

// Quantiles in milliseconds.
type Quantiles struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func quantiles(all []time.Duration) Quantiles {
	if len(all) == 0 {
		return Quantiles{}
	}
	sorted := slices.Sorted(slices.Values(all))
	at := func(share float64) float64 {
		// The smallest that so many are not above.
		i := int(share*float64(len(sorted))+0.999999) - 1
		return sorted[max(0, min(i, len(sorted)-1))].Seconds() * 1000
	}
	return Quantiles{N: len(sorted), P50: at(0.5), P99: at(0.99), Max: at(1)}
}

// Rest is the steady state.
type Rest struct {
	Seconds    float64        `json:"seconds"`
	Writes     int            `json:"writes"`
	Reads      int            `json:"reads"`
	CPUSeconds float64        `json:"cpuSeconds"`
	ResidentMB float64        `json:"residentMB"`
	Cached     map[string]int `json:"cached"`
}

// Restart of the operator, with nothing to do and with one gateway changed.
type Restart struct {
	FirstSeconds float64 `json:"firstSeconds"` // to the first useful write
	QuietSeconds float64 `json:"quietSeconds"`
	Writes       int     `json:"writes"`
	Reads        int     `json:"reads"`
}

// EndToEnd is where the time of a gateway goes with real Flux.
type EndToEnd struct {
	Gateways int   `json:"gateways"`
	Install  Phase `json:"install"`
	Edit     Phase `json:"edit"`
}

// Phase is a rollout over all gateways: what Sluice takes before Flux, what Flux takes, what Sluice takes after it.
type Phase struct {
	Seconds float64   `json:"seconds"` // until the last gateway is Ready
	Before  Quantiles `json:"before"`
	Flux    Quantiles `json:"flux"`
	After   Quantiles `json:"after"`
	Whole   Quantiles `json:"whole"`
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// latest tells what was measured last of a size.
func (s Size) latest() string {
	switch {
	case s.Restart.QuietSeconds > 0:
		return fmt.Sprintf("restart quiet after %.1fs, first useful write after %.1fs", s.Restart.QuietSeconds, s.Restart.FirstSeconds)
	case s.Rest.Seconds > 0:
		return fmt.Sprintf("at rest %d writes, %.2fs CPU in %.0fs, %.0f MB", s.Rest.Writes, s.Rest.CPUSeconds, s.Rest.Seconds, s.Rest.ResidentMB)
	case s.Latency.Create.N > 0:
		return fmt.Sprintf("p99 of creation %.0f ms, of status %.0f ms", s.Latency.Create.P99, s.Latency.Status.P99)
	}
	return fmt.Sprintf("emission %.1fs, bare %.1fs, with own sources %.1fs",
		median(s.Emission.Sluice), median(s.Emission.Bare), median(s.Emission.BareOwnSources))
}

func (r Results) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"results.json": string(text) + "\n", "table.txt": r.Table(), "plot.svg": r.plot()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
