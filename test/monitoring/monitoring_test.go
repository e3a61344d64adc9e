// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/sluice-gateway/sluice/test/toolchain"
)

// TestAllQueriesParse needs no operator; test/flux has them checked against one's metrics.
func TestAllQueriesParse(t *testing.T) {
	layout, err := toolchain.Find()
	if err != nil {
		t.Fatal(err)
	}
	queries, err := Queries(filepath.Join(layout.Root(), "flux", "monitoring"))
	if err != nil {
		t.Fatal(err)
	}
	var where []string
	for _, q := range queries {
		where = append(where, q.Where)
		if _, err := parser.ParseExpr(q.Expr); err != nil {
			t.Errorf("%s: %v", q.Where, err)
		}
	}
	for _, some := range []string{"SluiceGatewayStalled", "SluiceOperatorGone", "variable namespace", "Gateways by phase"} {
		if !slices.Contains(where, some) {
			t.Errorf("there is no %s among %q", some, where)
		}
	}
}

const scraped = `
# TYPE up_ready gauge
up_ready{name="web",namespace="apis",status="True"} 1
up_ready{name="web",namespace="apis",status="False"} 0
# TYPE work_seconds histogram
work_seconds_bucket{controller="gateways",le="0.1"} 2
work_seconds_bucket{controller="gateways",le="+Inf"} 3
work_seconds_sum{controller="gateways"} 1.5
work_seconds_count{controller="gateways"} 3
`

func TestCheck(t *testing.T) {
	metrics, err := Parse(strings.NewReader(scraped))
	if err != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string]string{
		`up_ready{status="True"} == 0`:             "",
		`count(up_ready{namespace=~"$namespace"})`: "it: what is shown: there is no label name among ",
		`sum by (name) (up_ready)`:                 "",
		`histogram_quantile(0.9, sum by (controller, le) (rate(work_seconds_bucket[5m])))`: "it: what is shown: there is no label name among controller",
		`up_ready unless on (name) up_ready{status="False"} == 1`:                          "",
		`up_raedy`:                        "it: there is no metric up_raedy",
		`up_ready{phase="x"}`:             "it: up_ready: there is no label phase among name, namespace, status\nit: up_ready: no series has phase=\"x\"",
		`up_ready{status="true"}`:         "it: up_ready: no series has status=\"true\"",
		`sum by (name, class) (up_ready)`: "it: sum: there is no label class among name, namespace, status",
		`up_ready unless on (class, name) up_ready`: "it: unless: there is no label class among name, namespace, status\n" +
			"it: unless: there is no label class among name, namespace, status",
		`sum(`: "it: 1:5: parse error: unclosed left parenthesis",
	} {
		got := strings.Join(metrics.Check(Query{Where: "it", Expr: expr, Labels: []string{"name"}}), "\n")
		// A metric that there is not has no labels either.
		got = strings.TrimSuffix(got, "\nit: what is shown: there is no label name among ")
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", expr, got, want)
		}
	}
	lines := metrics.Lines("up_", map[string]string{"namespace": "apis", "name": "web"})
	if want := []string{`up_ready{status="False"} 0`, `up_ready{status="True"} 1`}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}
