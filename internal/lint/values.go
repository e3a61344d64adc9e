// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

// gateway holds a gateway's values against its chart: its own documents for keys that the chart does not know, and what
// they come to with the class's against the schema.
func (l *linter) gateway(p render.Planned) {
	c := l.chartOf(p)
	if c == nil {
		return
	}
	k := valuesCheck{linter: l, Planned: p, chart: c, class: l.classOf(p), values: decode(p.Gateway.Spec.Values), config: configValues(p)}
	k.configLines = sync.OnceValue(func() plan.Lines { return plan.LinesOf([]byte(p.Config.Data[v1alpha1.ConfigKey])) })
	k.unknown()
	k.invalid()
}

// chartOf is the chart that the gateway gets; nil where there is none to check.
func (l *linter) chartOf(p render.Planned) *chart.Chart {
	if own := l.Charts.OfGateways[p.Plan.Gateway]; own != nil {
		return own
	}
	c := l.Charts.OfClasses[p.Plan.ClassName]
	if c == nil || p.Gateway.Spec.Chart == nil {
		return c
	}
	wanted, taken := takes(p.Gateway.Spec.Chart.ChartVersion, c.Version)
	if !taken {
		l.add(Warning, RuleNotChecked, gatewayName(p.Gateway), "spec.chart",
			fmt.Sprintf("asks for %q, so that the values are not checked: the chart given for class %s is %s", wanted, p.Plan.ClassName, c))
		return nil
	}
	return c
}

func (l *linter) classOf(p render.Planned) *v1alpha1.APIGatewayClass {
	for i := range l.all {
		if l.all[i].Name == p.Plan.ClassName {
			return &l.all[i]
		}
	}
	return &v1alpha1.APIGatewayClass{}
}

// configValues are read as Helm reads a file of values; that they can be read, the plan says.
func configValues(p render.Planned) map[string]any {
	if p.Config == nil {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(p.Config.Data[v1alpha1.ConfigKey]))
	if err != nil {
		return nil
	}
	values, err := chart.Decode(data)
	if err != nil {
		return nil
	}
	return values
}

type valuesCheck struct {
	*linter
	render.Planned
	chart *chart.Chart
	class *v1alpha1.APIGatewayClass
	// values and config are the gateway's own documents.
	values, config map[string]any
	// configLines are those of the document in the ConfigMap; of use only where there is one.
	configLines func() plan.Lines
}

func (k valuesCheck) unknown() {
	for _, v := range k.chart.UnknownKeys(k.values) {
		k.at(Warning, RuleUnknownValue, k.ofValues(v.Path), v.Message)
	}
	for _, v := range k.chart.UnknownKeys(k.config) {
		k.at(Warning, RuleUnknownValue, k.ofConfig(v.Path), v.Message)
	}
}

// invalid reports where the merged values break the schema. With valuesFrom, what is missing may come from there.
func (k valuesCheck) invalid() {
	given, err := chart.Decode(k.Plan.Release.Values)
	if err != nil {
		k.add(Error, RuleInvalidValues, gatewayName(k.Gateway), "spec.values", err.Error())
		return
	}
	for _, v := range k.chart.Validate(k.chart.Merge(given)) {
		if v.Lacking && len(k.Plan.Release.ValuesFrom) > 0 {
			continue
		}
		message := v.Message
		if v.Unknown {
			if text := k.chart.Unknown(v.Path); text != "" {
				message = text
			}
		}
		k.at(Error, RuleInvalidValues, k.sourceOf(v.Path), message)
	}
}

// source is where a value was written: the object, its field, and the value's path where the field does not say it.
type source struct {
	object, field string
	path          plan.Path
	// textLine is the line of the text that the field holds, if it holds the value in one.
	textLine int
}

// wholeSpec is the field of what nobody wrote.
const wholeSpec = "spec"

func (k valuesCheck) at(severity Severity, rule string, s source, message string) {
	switch {
	case len(s.path) > 0:
		message = s.path.String() + " " + message
	case s.field == wholeSpec:
		message = "what its values come to " + message
	}
	k.addIn(s.textLine, severity, rule, s.object, s.field, message)
}

func (k valuesCheck) ofValues(path plan.Path) source {
	return source{object: gatewayName(k.Gateway), field: "spec.values." + path.String()}
}

func (k valuesCheck) ofConfig(path plan.Path) source {
	field := "data." + plan.Path{{Key: v1alpha1.ConfigKey}}.String()
	return source{object: "ConfigMap " + k.Config.Namespace + "/" + k.Config.Name, field: field, path: path, textLine: k.configLines().At(path)}
}

// sourceOf looks through the layers of values from the highest down.
func (k valuesCheck) sourceOf(path plan.Path) source {
	switch {
	case holds(k.values, path):
		return k.ofValues(path)
	case holds(k.config, path):
		return k.ofConfig(path)
	}
	if field := k.mappedAt(path); field != "" {
		return source{object: gatewayName(k.Gateway), field: field, path: path}
	}
	if holds(decode(k.class.Spec.Values), path) {
		return source{object: className(k.class.Name), field: "spec.values." + path.String()}
	}
	return source{object: gatewayName(k.Gateway), field: wholeSpec, path: path}
}

// holds says whether a document sets the value at the path, which is not empty.
func holds(document map[string]any, path plan.Path) bool {
	var node any = document
	for _, step := range path {
		switch parent := node.(type) {
		case map[string]any:
			child, found := parent[step.Key]
			if step.IsIndex || !found {
				return false
			}
			node = child
		case []any:
			if !step.IsIndex || step.Index >= len(parent) {
				return false
			}
			node = parent[step.Index]
		default:
			return false
		}
	}
	return len(path) > 0
}

// mappedAt is the field of the gateway that was mapped to the path, or to what it lies within; empty where none was.
func (k valuesCheck) mappedAt(path plan.Path) string {
	fields := asTree(k.Gateway)
	for _, m := range k.class.Spec.ValueMappings {
		field := "spec." + m.Field
		if strings.HasPrefix(m.Field, "metadata.") {
			field = m.Field
		}
		for _, text := range m.Paths {
			if isWithin(path, text) && holds(fields, dotted(field)) {
				return field
			}
		}
	}
	for _, m := range k.class.Spec.ImageMappings {
		field := "spec.infrastructure.images." + m.Name
		for _, p := range m.Paths {
			for _, text := range []*string{p.Registry, p.Repository, p.Tag, p.Digest} {
				if text != nil && isWithin(path, *text) && holds(fields, append(dotted("spec.infrastructure.images"), plan.Step{Key: m.Name})) {
					return field
				}
			}
		}
	}
	return ""
}

func isWithin(path plan.Path, mapped string) bool {
	outer, err := plan.ParsePath(mapped)
	if err != nil || len(outer) > len(path) {
		return false
	}
	return outer.String() == path[:len(outer)].String()
}

func asTree(g *v1alpha1.APIGateway) map[string]any {
	data, err := json.Marshal(g)
	if err != nil {
		return nil
	}
	tree, err := chart.Decode(data)
	if err != nil {
		return nil
	}
	return tree
}

func dotted(field string) plan.Path {
	var path plan.Path
	for _, key := range strings.Split(field, ".") {
		path = append(path, plan.Step{Key: key})
	}
	return path
}
