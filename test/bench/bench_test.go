// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A run with next to nothing: it shows that everything is still measured, not how fast anything is.
func TestEverythingIsMeasured(t *testing.T) {
	o := Options{Sizes: []int{20}, Rounds: 1, Samples: 3, Rest: time.Second, EndToEnd: 2, Out: t.TempDir(), Progress: t.Logf}
	results, err := Run(t.Context(), o)
	require.NoError(t, err)
	t.Log("\n" + results.Table())

	s := results.Sizes[0]
	require.Len(t, s.Emission.Sluice, 1)
	require.Len(t, s.Emission.Bare, 1)
	require.Len(t, s.Emission.BareOwnSources, 1)
	// What the bare client writes for a gateway is what the operator writes, so that the two can be compared.
	require.Equal(t, 20, s.Emission.Writes["patch apigateways"], "%v", s.Emission.Writes)
	require.Equal(t, 20, s.Emission.Writes["create helmreleases"], "%v", s.Emission.Writes)
	require.GreaterOrEqual(t, s.Emission.Writes["update apigateways/status"], 20, "%v", s.Emission.Writes)
	require.GreaterOrEqual(t, s.Emission.Writes["create events"], 40, "%v", s.Emission.Writes)
	require.Equal(t, 3, s.Latency.Create.N)
	require.Equal(t, 3, s.Latency.Status.N)
	require.Equal(t, 20, s.Latency.ClassEdit.N)
	require.Zero(t, s.Rest.Writes)
	require.Equal(t, 20, s.Rest.Cached["HelmRelease"])
	require.Positive(t, s.Rest.ResidentMB)
	require.Zero(t, s.Restart.Writes)
	require.Positive(t, s.Restart.FirstSeconds)
	require.Equal(t, 2, results.EndToEnd.Edit.Whole.N)

	var read Results
	text, err := os.ReadFile(filepath.Join(o.Out, "results.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, results, read)
	table, err := os.ReadFile(filepath.Join(o.Out, "table.txt"))
	require.NoError(t, err)
	require.Equal(t, results.Table(), string(table))
	plot, err := os.Open(filepath.Join(o.Out, "plot.svg"))
	require.NoError(t, err)
	defer plot.Close()
	requireXML(t, plot)
}

func requireXML(t *testing.T, text io.Reader) {
	t.Helper()
	decoder := xml.NewDecoder(text)
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(100-i)*time.Millisecond)
	}
	require.Equal(t, Quantiles{N: 100, P50: 50, P99: 99, Max: 100}, quantiles(all))
	require.Equal(t, Quantiles{N: 1, P50: 7, P99: 7, Max: 7}, quantiles([]time.Duration{7 * time.Millisecond}))
	require.Equal(t, Quantiles{}, quantiles(nil))
}

func TestMedian(t *testing.T) {
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 1.5, median([]float64{2, 1}), 0)
	require.InDelta(t, 0, median(nil), 0)
}

// A goal that is missed is marked, and every panel has every curve.
func TestTableAndPlotOfMadeUpResults(t *testing.T) {
	r := Results{Sizes: []Size{{Gateways: 500, Emission: Emission{Sluice: []float64{4}, Bare: []float64{2}, BareOwnSources: []float64{5}}},
		{Gateways: 1000, Emission: Emission{Sluice: []float64{5}, Bare: []float64{5}, BareOwnSources: []float64{4}}}}}
	table := strings.Join(strings.Fields(r.Table()), " ")
	require.Contains(t, table, "gateways 500 1000 emission, Sluice 4.00 s 5.00 s")
	require.Contains(t, table, "Sluice / same writes 2.00 ✗ 1.00 ✓")
	require.Contains(t, table, "Sluice / own sources 0.80 ✓ 1.25 ✗")
	plot := r.plot()
	requireXML(t, strings.NewReader(plot))
	require.Equal(t, 11, strings.Count(plot, "<polyline"))
}
