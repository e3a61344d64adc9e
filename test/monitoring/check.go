// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Check says what in the query does not fit the metrics: a metric that there is not, a label that it does not have, a value
// that no series has.
func (m Metrics) Check(q Query) []string {
	expr, err := parser.ParseExpr(q.Expr)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", q.Where, err)}
	}
	c := &check{metrics: m}
	result := c.labels(expr)
	c.among(result, q.Labels, "what is shown")
	for i := range c.wrong {
		c.wrong[i] = q.Where + ": " + c.wrong[i]
	}
	return c.wrong
}

type check struct {
	metrics Metrics
	wrong   []string
}

func (c *check) failf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *check) among(have, wanted []string, what string) {
	for _, label := range wanted {
		if !slices.Contains(have, label) {
			c.failf("%s: there is no label %s among %s", what, label, strings.Join(have, ", "))
		}
	}
}

// labels are those that the result of an expression has.
func (c *check) labels(node parser.Expr) []string {
	switch e := node.(type) {
	case *parser.VectorSelector:
		return c.selector(e)
	case *parser.MatrixSelector:
		return c.labels(e.VectorSelector)
	case *parser.ParenExpr:
		return c.labels(e.Expr)
	case *parser.StepInvariantExpr:
		return c.labels(e.Expr)
	case *parser.Call:
		return c.call(e)
	case *parser.AggregateExpr:
		return c.aggregate(e)
	case *parser.BinaryExpr:
		return c.binary(e)
	case *parser.NumberLiteral, *parser.StringLiteral:
		return nil
	}
	c.failf("%s: this check knows no %T", node, node)
	return nil
}

func (c *check) selector(e *parser.VectorSelector) []string {
	all := c.metrics[e.Name]
	if len(all) == 0 {
		c.failf("there is no metric %s", e.Name)
		return nil
	}
	var have []string
	for label := range all[0].Labels {
		have = append(have, label)
	}
	slices.Sort(have)
	for _, matcher := range e.LabelMatchers {
		if matcher.Name == model.MetricNameLabel {
			continue
		}
		c.among(have, []string{matcher.Name}, e.Name)
		if !strings.Contains(matcher.Value, "$") && !slices.ContainsFunc(all, func(s Series) bool { return matcher.Matches(s.Labels[matcher.Name]) }) {
			c.failf("%s: no series has %s", e.Name, matcher)
		}
	}
	return have
}

func (c *check) call(e *parser.Call) []string {
	var have []string
	for _, arg := range e.Args {
		have = append(have, c.labels(arg)...)
	}
	if e.Func.Name == "histogram_quantile" {
		c.among(have, []string{"le"}, e.Func.Name)
		have = slices.DeleteFunc(have, func(label string) bool { return label == "le" })
	}
	return have
}

func (c *check) aggregate(e *parser.AggregateExpr) []string {
	have := c.labels(e.Expr)
	c.among(have, e.Grouping, e.Op.String())
	if !e.Without {
		return e.Grouping
	}
	return slices.DeleteFunc(have, func(label string) bool { return slices.Contains(e.Grouping, label) })
}

func (c *check) binary(e *parser.BinaryExpr) []string {
	left, right := c.labels(e.LHS), c.labels(e.RHS)
	if e.VectorMatching == nil { // one side is a number
		return append(left, right...)
	}
	c.among(left, e.VectorMatching.MatchingLabels, e.Op.String())
	c.among(right, e.VectorMatching.MatchingLabels, e.Op.String())
	return left
}
