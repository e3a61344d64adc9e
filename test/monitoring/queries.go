// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"encoding/json"
	"fmt"
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Query is an expression, and what is shown of its result.
type Query struct {
	// Where it stands: the alert's name, or the panel's title.
	Where string
	// Expr in PromQL.
	Expr string
	// Labels of the result that a text or a legend shows.
	Labels []string
}

// Queries builds the kustomization and returns all queries in it.
func Queries(dir string) ([]Query, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	var all []Query
	for _, object := range built.Resources() {
		queries, err := queriesOf(object)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		all = append(all, queries...)
	}
	return all, nil
}

func queriesOf(object *resource.Resource) ([]Query, error) {
	switch object.GetKind() {
	case "PrometheusRule":
		text, err := object.AsYAML()
		if err != nil {
			return nil, err
		}
		return alerts(text)
	case "ConfigMap":
		var all []Query
		for _, text := range object.GetDataMap() {
			queries, err := panels(text)
			if err != nil {
				return nil, err
			}
			all = append(all, queries...)
		}
		return all, nil
	}
	return nil, nil
}

// shownInAlert are labels in the texts of an alert.
var shownInAlert = regexp.MustCompile(`\$labels\.(\w+)`)

func alerts(text []byte) ([]Query, error) {
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Expr        string
					Labels      map[string]string
					Annotations map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &rule); err != nil {
		return nil, err
	}
	var all []Query
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				return nil, fmt.Errorf("alert %s needs a severity, a summary and a description", r.Alert)
			}
			texts := r.Annotations["summary"] + r.Annotations["description"]
			all = append(all, Query{Where: r.Alert, Expr: r.Expr, Labels: submatches(shownInAlert, texts)})
		}
	}
	return all, nil
}

var (
	// shownInLegend are labels in a legend.
	shownInLegend = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
	// ofVariable is what a dashboard's variable lists: the values of a label.
	ofVariable = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	// ofGrafana are the durations that Grafana fills in.
	ofGrafana = regexp.MustCompile(`\$__(rate_interval|interval|range)`)
)

func panels(text string) ([]Query, error) {
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
		return nil, err
	}
	var all []Query
	for _, v := range dashboard.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := ofVariable.FindStringSubmatch(v.Query)
		if parts == nil {
			return nil, fmt.Errorf("variable %s: %q is not label_values(metric, label)", v.Name, v.Query)
		}
		all = append(all, Query{Where: "variable " + v.Name, Expr: parts[1], Labels: parts[2:]})
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, Query{Where: p.Title, Expr: ofGrafana.ReplaceAllString(target.Expr, "5m"), Labels: submatches(shownInLegend, target.LegendFormat)})
		}
	}
	return all, nil
}

func submatches(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}
