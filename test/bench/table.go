// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Goals of the project.
const (
	goalRatio     = 1.3   // emission, against the bare client with the same writes
	goalLatency   = 100.0 // ms, p99 of creation and status at rest
	goalMB        = 100.0 // resident at rest, beside
	goalKBGateway = 10.0  // for each gateway
)

func goalResident(gateways int) float64 { return goalMB + goalKBGateway*float64(gateways)/1000 }

// row is a line of the table: what, and a text for each size.
type row struct {
	what string
	of   func(Size) string
}

func rows() []row {
	return []row{
		{"emission, Sluice", func(s Size) string { return fmt.Sprintf("%.2f s", median(s.Emission.Sluice)) }},
		{"  bare client, same writes", func(s Size) string { return fmt.Sprintf("%.2f s", median(s.Emission.Bare)) }},
		{"  bare client, own sources", func(s Size) string { return fmt.Sprintf("%.2f s", median(s.Emission.BareOwnSources)) }},
		{"  Sluice / same writes", func(s Size) string {
			ratio := median(s.Emission.Sluice) / median(s.Emission.Bare)
			return fmt.Sprintf("%.2f %s", ratio, held(ratio <= goalRatio))
		}},
		{"  Sluice / own sources", func(s Size) string {
			ratio := median(s.Emission.Sluice) / median(s.Emission.BareOwnSources)
			return fmt.Sprintf("%.2f %s", ratio, held(ratio < 1))
		}},
		{"  per gateway", func(s Size) string { return fmt.Sprintf("%.2f ms", 1000*median(s.Emission.Sluice)/float64(s.Gateways)) }},
		{"  writes per gateway", func(s Size) string { return fmt.Sprintf("%.2f", float64(total(s.Emission.Writes))/float64(s.Gateways)) }},
		{"  reads per gateway", func(s Size) string { return fmt.Sprintf("%.2f", float64(s.Emission.Reads)/float64(s.Gateways)) }},
		{"  CPU per gateway", func(s Size) string { return fmt.Sprintf("%.2f ms", 1000*s.Emission.CPUSeconds/float64(s.Gateways)) }},
		{"gateway to HelmRelease, p50", func(s Size) string { return fmt.Sprintf("%.0f ms", s.Latency.Create.P50) }},
		{"  p99", func(s Size) string {
			return fmt.Sprintf("%.0f ms %s", s.Latency.Create.P99, held(s.Latency.Create.P99 < goalLatency))
		}},
		{"Flux's status to gateway's, p50", func(s Size) string { return fmt.Sprintf("%.0f ms", s.Latency.Status.P50) }},
		{"  p99", func(s Size) string {
			return fmt.Sprintf("%.0f ms %s", s.Latency.Status.P99, held(s.Latency.Status.P99 < goalLatency))
		}},
		{"class edit to HelmReleases, p50", func(s Size) string { return fmt.Sprintf("%.2f s", s.Latency.ClassEdit.P50/1000) }},
		{"  p99", func(s Size) string { return fmt.Sprintf("%.2f s", s.Latency.ClassEdit.P99/1000) }},
		{"  last", func(s Size) string { return fmt.Sprintf("%.2f s", s.Latency.ClassEdit.Max/1000) }},
		{"  per gateway", func(s Size) string { return fmt.Sprintf("%.2f ms", s.Latency.ClassEdit.Max/float64(s.Gateways)) }},
		{"at rest, writes", func(s Size) string { return fmt.Sprintf("%d %s", s.Rest.Writes, held(s.Rest.Writes == 0)) }},
		{"  reads", func(s Size) string { return fmt.Sprint(s.Rest.Reads) }},
		{"  CPU", func(s Size) string { return fmt.Sprintf("%.2f s in %.0f s", s.Rest.CPUSeconds, s.Rest.Seconds) }},
		{"  resident", func(s Size) string {
			return fmt.Sprintf("%.0f MB %s", s.Rest.ResidentMB, held(s.Rest.ResidentMB < goalResident(s.Gateways)))
		}},
		{"  goal", func(s Size) string { return fmt.Sprintf("%.0f MB", goalResident(s.Gateways)) }},
		{"restart, first useful write", func(s Size) string { return fmt.Sprintf("%.2f s", s.Restart.FirstSeconds) }},
		{"  quiet", func(s Size) string { return fmt.Sprintf("%.2f s", s.Restart.QuietSeconds) }},
		{"  per gateway", func(s Size) string { return fmt.Sprintf("%.2f ms", 1000*s.Restart.QuietSeconds/float64(s.Gateways)) }},
		{"  writes", func(s Size) string { return fmt.Sprintf("%d %s", s.Restart.Writes, held(s.Restart.Writes == 0)) }},
		{"  reads", func(s Size) string { return fmt.Sprint(s.Restart.Reads) }},
	}
}

// held marks a goal as held or not.
func held(yes bool) string {
	if yes {
		return "✓"
	}
	return "✗"
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// Table is for people.
func (r Results) Table() string {
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "gateways\t")
	for _, s := range r.Sizes {
		fmt.Fprintf(out, "%d\t", s.Gateways)
	}
	fmt.Fprintln(out)
	for _, row := range rows() {
		fmt.Fprintf(out, "%s\t", row.what)
		for _, s := range r.Sizes {
			fmt.Fprintf(out, "%s\t", row.of(s))
		}
		fmt.Fprintln(out)
	}
	out.Flush() // into memory, which does not fail
	for _, s := range r.Sizes {
		fmt.Fprintf(&text, "\nwrites of the operator for %d gateways: %s\nobjects cached: %s\n", s.Gateways, counted(s.Emission.Writes), counted(s.Rest.Cached))
	}
	if r.EndToEnd != nil {
		text.WriteString("\n" + r.EndToEnd.table())
	}
	return text.String()
}

func counted(counts map[string]int) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%d %s", counts[what], what))
	}
	return strings.Join(all, ", ")
}

func (e EndToEnd) table() string {
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "%d gateways with real Flux\tall Ready\tSluice, before Flux\tFlux\tSluice, after Flux\twhole\t\n", e.Gateways)
	for _, p := range []struct {
		what string
		Phase
	}{{"install", e.Install}, {"class edit", e.Edit}} {
		fmt.Fprintf(out, "%s\t%.1f s\t%s\t%s\t%s\t%s\t\n", p.what, p.Seconds, p.Before, p.Flux, p.After, p.Whole)
	}
	out.Flush()
	return text.String() + "(p50 / p99 over the gateways)\n"
}

func (q Quantiles) String() string { return fmt.Sprintf("%.2f / %.2f s", q.P50/1000, q.P99/1000) }
