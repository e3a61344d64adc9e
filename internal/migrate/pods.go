// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// object is one of a release's manifest, as far as its pods are concerned.
type object struct {
	// source is the file of the chart that it was rendered from; empty where that is not known.
	source   string
	Kind     string `yaml:"kind"`
	Metadata meta   `yaml:"metadata"`
	Spec     struct {
		Template template `yaml:"template"`
	} `yaml:"spec"`
}

type meta struct {
	Name        string            `yaml:"name"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// template is that of a workload's pods.
type template struct {
	Metadata meta      `yaml:"metadata"`
	Spec     yaml.Node `yaml:"spec"`
}

// podLines name the workloads whose pods are replaced although nothing else changes: Flux appends the chart's digest to its
// version, so that a pod template which shows the version, or a checksum over an object that does, is another one.
func podLines(runs *stored) []string {
	objects, err := readManifest(runs.Manifest)
	if err != nil {
		return []string{"not known, since the release's manifest cannot be read: " + err.Error()}
	}
	version := runs.Chart.Metadata.Version
	var versioned []string
	for _, o := range objects {
		if (o.Kind == "ConfigMap" || o.Kind == "Secret") && o.Metadata.names(version) != "" {
			versioned = append(versioned, o.Kind+" "+o.Metadata.Name)
		}
	}
	var lines []string
	for _, o := range objects {
		if o.Kind != "Deployment" && o.Kind != "StatefulSet" && o.Kind != "DaemonSet" {
			continue
		}
		if !asksForVersion(runs, o.source) {
			continue
		}
		if why := o.Spec.Template.replaced(runs, versioned); why != "" {
			lines = append(lines, fmt.Sprintf("%s %s: replaced%s, and Flux adds the chart's digest to that", o.Kind, o.Metadata.Name, why))
		}
	}
	if len(lines) == 0 {
		lines = []string{"none is replaced for its chart's version alone"}
	}
	return lines
}

// replaced says why, or under which condition, the chart's version makes the template another one; empty where it does not.
func (t template) replaced(runs *stored, versioned []string) string {
	chart := runs.Chart.Metadata
	if key := t.Metadata.names(chart.Version); key != "" {
		return ", since their template has the chart's version in " + key
	}
	place, checksum := t.shows(chart.Version), t.Metadata.checksum()
	switch {
	case place != "" && !contains(chart.AppVersion, chart.Version):
		return ", since their template has the chart's version in " + place
	case checksum != "" && len(versioned) > 0:
		return fmt.Sprintf(" if their %s is over %s, which has the chart's version", checksum, strings.Join(versioned, " or "))
	case place != "":
		return fmt.Sprintf(" if the %s of their template's %s is the chart's version, which the app's is too", chart.Version, place)
	}
	return ""
}

func readManifest(manifest string) ([]object, error) {
	var objects []object
	for decoder := yaml.NewDecoder(strings.NewReader(manifest)); ; {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		o := object{source: sourceOf(&node)}
		if err == nil {
			err = node.Decode(&o)
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
}

// sourceOf reads the comment that Helm puts before an object: the chart's name, and the file.
func sourceOf(node *yaml.Node) string {
	for node != nil {
		if _, file, found := strings.Cut(node.HeadComment, "# Source: "); found {
			file, _, _ = strings.Cut(file, "\n")
			_, file, _ = strings.Cut(file, "/")
			return file
		}
		if len(node.Content) == 0 {
			break
		}
		node = node.Content[0]
	}
	return ""
}

// names is the label or annotation about the chart that has its version in it.
func (m meta) names(version string) string {
	for _, all := range []map[string]string{m.Labels, m.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if strings.Contains(key, "chart") && contains(all[key], version) {
				return key
			}
		}
	}
	return ""
}

// shows is the first place, whatever it is about, that has a version in it.
func (t template) shows(version string) string {
	for _, all := range []map[string]string{t.Metadata.Labels, t.Metadata.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if contains(all[key], version) {
				return key
			}
		}
	}
	return placeOf(&t.Spec, version, "spec")
}

// placeOf is the first field below path whose value has the version in it.
func placeOf(node *yaml.Node, version, path string) string {
	switch node.Kind {
	case yaml.ScalarNode:
		if contains(node.Value, version) {
			return path
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if place := placeOf(node.Content[i+1], version, path+"."+node.Content[i].Value); place != "" {
				return place
			}
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			if place := placeOf(item, version, fmt.Sprintf("%s[%d]", path, i)); place != "" {
				return place
			}
		}
	}
	return ""
}

// contains says whether a text has a version in it, also as a label can hold it, and not as a part of a longer one.
func contains(text, version string) bool {
	version = strings.ReplaceAll(version, "+", "_")
	text = strings.ReplaceAll(text, "+", "_")
	for version != "" {
		before, after, found := strings.Cut(text, version)
		if !found {
			return false
		}
		if strings.TrimRight(before, "0123456789.") == before && strings.TrimLeft(after, "0123456789.") == after {
			return true
		}
		text = after
	}
	return false
}

// checksum is the annotation by which a template changes with an object.
func (m meta) checksum() string {
	for _, key := range slices.Sorted(maps.Keys(m.Annotations)) {
		if strings.HasPrefix(key, "checksum/") {
			return key
		}
	}
	return ""
}
