// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// maxShort is how much of the message the plain table shows, in characters.
const maxShort = 60

var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name"},
	{Name: "Class", Type: "string"},
	{Name: "Ready", Type: "string"},
	{Name: "Phase", Type: "string"},
	{Name: "Version", Type: "string"},
	{Name: "Revision", Type: "string"},
	{Name: "Age", Type: "string"},
	{Name: "Message", Type: "string"},
}

var wideColumns = append(columns[:7:7],
	metav1.TableColumnDefinition{Name: "Source", Type: "string"},
	metav1.TableColumnDefinition{Name: "Failures", Type: "integer"},
	metav1.TableColumnDefinition{Name: "Next attempt", Type: "string"},
	columns[7])

// List is the table of gateways, a line each. A wide one has more columns, and whole messages.
func List(gateways []v1alpha1.APIGateway, wide bool, now metav1.Time) *metav1.Table {
	t := &metav1.Table{ColumnDefinitions: columns}
	if wide {
		t.ColumnDefinitions = wideColumns
	}
	for i := range gateways {
		g := &gateways[i]
		t.Rows = append(t.Rows, metav1.TableRow{Cells: cells(g, wide, now.Time), Object: runtime.RawExtension{Object: g}})
	}
	return t
}

func cells(g *v1alpha1.APIGateway, wide bool, now time.Time) []any {
	s := g.Status
	ready, message := "", ""
	if c := apimeta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil {
		ready, message = string(c.Status), oneLine(c.Message)
	}
	version, revision := "", ""
	if s.Release != nil {
		version, revision = s.Release.ChartVersion, fmt.Sprint(s.Release.Revision)
	}
	row := []any{g.Name, orNone(s.ClassName), orNone(ready), orNone(string(s.Phase)), orNone(version), orNone(revision), age(g.CreationTimestamp, now)}
	if !wide {
		return append(row, cut(message, maxShort))
	}
	source, next := "", ""
	if s.Source != nil {
		source = s.Source.Name
	}
	if s.NextRetryTime != nil {
		next = "in " + duration.HumanDuration(max(s.NextRetryTime.Sub(now), 0))
	}
	return append(row, orNone(source), s.Failures, orNone(next), message)
}
