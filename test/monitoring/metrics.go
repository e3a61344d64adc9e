// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are series by the metric's name.
type Metrics map[string][]Series

// Series is one of a metric, with the value that was scraped.
type Series struct {
	Labels map[string]string
	Value  float64
}

// Parse reads what a metrics endpoint answers. A histogram becomes the metrics that Prometheus stores.
func Parse(text io.Reader) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, err
	}
	metrics := Metrics{}
	for name, family := range families {
		for _, m := range family.Metric {
			metrics.add(name, m)
		}
	}
	return metrics, nil
}

func (m Metrics) add(name string, metric *dto.Metric) {
	labels := map[string]string{}
	for _, pair := range metric.Label {
		labels[pair.GetName()] = pair.GetValue()
	}
	one := func(name string, value float64) { m[name] = append(m[name], Series{labels, value}) }
	switch {
	case metric.Gauge != nil:
		one(name, metric.Gauge.GetValue())
	case metric.Counter != nil:
		one(name, metric.Counter.GetValue())
	case metric.Untyped != nil:
		one(name, metric.Untyped.GetValue())
	case metric.Histogram != nil:
		one(name+"_count", float64(metric.Histogram.GetSampleCount()))
		one(name+"_sum", metric.Histogram.GetSampleSum())
		for _, b := range metric.Histogram.Bucket {
			bucket := maps.Clone(labels)
			bucket["le"] = strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64)
			m[name+"_bucket"] = append(m[name+"_bucket"], Series{bucket, float64(b.GetCumulativeCount())})
		}
	}
}

// Lines are the series of some metrics that have these labels, sorted, as "name{other labels} value".
func (m Metrics) Lines(prefix string, having map[string]string) []string {
	var lines []string
	for name, all := range m {
		for _, s := range all {
			if strings.HasPrefix(name, prefix) && s.has(having) {
				lines = append(lines, fmt.Sprintf("%s{%s} %s", name, s.without(having), strconv.FormatFloat(s.Value, 'f', -1, 64)))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func (s Series) has(labels map[string]string) bool {
	for name, value := range labels {
		if s.Labels[name] != value {
			return false
		}
	}
	return true
}

func (s Series) without(labels map[string]string) string {
	var pairs []string
	for name, value := range s.Labels {
		if _, left := labels[name]; !left {
			pairs = append(pairs, fmt.Sprintf("%s=%q", name, value))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ",")
}
