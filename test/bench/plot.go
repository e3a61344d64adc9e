// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"html"
	"strings"
)

// curve is a line of a chart: a value for each size.
type curve struct {
	name   string
	colour string
	of     func(Size) float64
}

// chart is one of the plot's panels.
type chart struct {
	title  string
	unit   string
	curves []curve
}

func charts() []chart {
	return []chart{
		{"Emission: until all HelmReleases exist", "s", []curve{
			{"Sluice", "#1b6ca8", func(s Size) float64 { return median(s.Emission.Sluice) }},
			{"bare client, same writes", "#8a8a8a", func(s Size) float64 { return median(s.Emission.Bare) }},
			{"bare client, own sources", "#d1603d", func(s Size) float64 { return median(s.Emission.BareOwnSources) }},
		}},
		{"Memory at rest", "MB", []curve{
			{"Sluice", "#1b6ca8", func(s Size) float64 { return s.Rest.ResidentMB }},
			{"goal", "#8a8a8a", func(s Size) float64 { return goalResident(s.Gateways) }},
		}},
		{"Cost of one gateway", "ms", []curve{
			{"emission", "#1b6ca8", func(s Size) float64 { return 1000 * median(s.Emission.Sluice) / float64(s.Gateways) }},
			{"class edit", "#d1603d", func(s Size) float64 { return s.Latency.ClassEdit.Max / float64(s.Gateways) }},
			{"restart", "#3a9d5d", func(s Size) float64 { return 1000 * s.Restart.QuietSeconds / float64(s.Gateways) }},
		}},
		{"Latency at rest, p99", "ms", []curve{
			{"gateway to HelmRelease", "#1b6ca8", func(s Size) float64 { return s.Latency.Create.P99 }},
			{"Flux's status to gateway's", "#d1603d", func(s Size) float64 { return s.Latency.Status.P99 }},
			{"goal", "#8a8a8a", func(Size) float64 { return goalLatency }},
		}},
	}
}

// Measures of a panel, in pixels.
const (
	panelWidth, panelHeight = 460.0, 300.0
	left, right, top, foot  = 60.0, 20.0, 60.0, 40.0
)

// plot draws all panels, two in a row.
func (r Results) plot() string {
	var text strings.Builder
	all := charts()
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n",
		2*panelWidth, panelHeight*float64((len(all)+1)/2))
	text.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, c := range all {
		fmt.Fprintf(&text, `<g transform="translate(%.0f %.0f)">`+"\n", panelWidth*float64(i%2), panelHeight*float64(i/2))
		r.panel(&text, c)
		text.WriteString("</g>\n")
	}
	text.WriteString("</svg>\n")
	return text.String()
}

func (r Results) panel(text *strings.Builder, c chart) {
	most, widest := 0.0, 1.0
	for _, s := range r.Sizes {
		widest = max(widest, float64(s.Gateways))
		for _, line := range c.curves {
			most = max(most, line.of(s))
		}
	}
	most = max(most, 1e-9) * 1.05
	x := func(n float64) float64 { return left + n/widest*(panelWidth-left-right) }
	y := func(v float64) float64 { return panelHeight - foot - v/most*(panelHeight-top-foot) }
	label := func(atX, atY float64, anchor, what string) {
		fmt.Fprintf(text, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", atX, atY, anchor, html.EscapeString(what))
	}
	label(left, 20, "start", c.title+" ("+c.unit+")")
	for i := range 5 {
		v := most * float64(i) / 4
		fmt.Fprintf(text, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", left, y(v), panelWidth-right, y(v))
		label(left-6, y(v)+4, "end", fmt.Sprintf("%.4g", v))
	}
	for _, s := range r.Sizes {
		label(x(float64(s.Gateways)), panelHeight-foot+18, "middle", fmt.Sprint(s.Gateways))
	}
	legend := left
	for _, line := range c.curves {
		var points []string
		for _, s := range r.Sizes {
			px, py := x(float64(s.Gateways)), y(line.of(s))
			points = append(points, fmt.Sprintf("%.1f,%.1f", px, py))
			fmt.Fprintf(text, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", px, py, line.colour)
		}
		fmt.Fprintf(text, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), line.colour)
		fmt.Fprintf(text, `<rect x="%.1f" y="32" width="10" height="10" fill="%s"/>`+"\n", legend, line.colour)
		label(legend+14, 41, "start", line.name)
		legend += 30 + 6.2*float64(len(line.name))
	}
}
