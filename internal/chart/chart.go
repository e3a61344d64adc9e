// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart reads Helm charts as far as values go: what a chart is called, which values it has and what it demands of
// them. It stands beside the flow; internal/lint holds classes and gateways against it. It knows charts as the files that
// they are made of, so that no part of Helm is needed, and it looks at nothing but the bytes that it is given.
package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// Chart is a chart's face: what those who set its values see of it.
type Chart struct {
	Name, Version string
	// Values are the defaults of values.yaml, numbers as they are written.
	Values map[string]any
	// HasSchema says whether there is a values.schema.json.
	HasSchema bool
	// Subcharts that lie in its folder charts.
	Subcharts []Subchart

	schema *jsonschema.Schema
}

// Subchart is a chart within another one.
type Subchart struct {
	// Key of the parent's values under which the subchart's lie: its alias or its name.
	Key string
	// Conditional says that it is installed by a condition or a tag, so that offline nobody knows whether it is.
	Conditional bool
	Chart       *Chart
}

// String is the name and version.
func (c *Chart) String() string {
	return c.Name + " " + c.Version
}

// Files of a chart that FromFiles looks at, by their paths below the chart's folder, with slashes.
const (
	metadataFile = "Chart.yaml"
	valuesFile   = "values.yaml"
	schemaFile   = "values.schema.json"
	subcharts    = "charts/"
)

// Wanted says whether a file is of use, by its path below the chart's folder.
func Wanted(file string) bool {
	for {
		rest, below := strings.CutPrefix(file, subcharts)
		switch folder, inner, found := strings.Cut(rest, "/"); {
		case !below:
			return file == metadataFile || file == valuesFile || file == schemaFile
		case !found:
			return isArchive(folder)
		default:
			file = inner
		}
	}
}

func isArchive(file string) bool {
	return path.Ext(file) == ".tgz"
}

// FromFiles reads a chart from its files.
func FromFiles(files map[string][]byte) (*Chart, error) {
	return newReader().chart(files)
}

type dependency struct {
	Name      string   `json:"name"`
	Alias     string   `json:"alias"`
	Condition string   `json:"condition"`
	Tags      []string `json:"tags"`
}

type metadata struct {
	Name         string       `json:"name"`
	Version      string       `json:"version"`
	Dependencies []dependency `json:"dependencies"`
}

func (r *reader) chart(files map[string][]byte) (*Chart, error) {
	data, found := files[metadataFile]
	if !found {
		return nil, fmt.Errorf("has no %s, and so is no chart", metadataFile)
	}
	var about metadata
	if err := yaml.Unmarshal(data, &about); err != nil {
		return nil, fmt.Errorf("%s: %w", metadataFile, err)
	}
	if about.Name == "" || about.Version == "" {
		return nil, fmt.Errorf("%s: has no name or no version", metadataFile)
	}
	c := &Chart{Name: about.Name, Version: about.Version}
	if err := c.readValues(files[valuesFile]); err != nil {
		return nil, fmt.Errorf("%s: %w", valuesFile, err)
	}
	if err := c.readSchema(files[schemaFile]); err != nil {
		return nil, fmt.Errorf("%s: %w", schemaFile, err)
	}
	var err error
	c.Subcharts, err = r.subcharts(files, about.Dependencies)
	return c, err
}

func (c *Chart) readValues(data []byte) error {
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return err
	}
	c.Values, err = Decode(asJSON)
	return err
}

// Decode reads values that are written as a JSON object, or as nothing. Numbers stay as they are written.
func Decode(data []byte) (map[string]any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var values map[string]any
	err := decoder.Decode(&values)
	if _, isOther := errors.AsType[*json.UnmarshalTypeError](err); isOther {
		return nil, errors.New("is not a map")
	}
	if err != nil {
		return nil, fmt.Errorf("is not a map: %w", err)
	}
	return values, nil
}

// subcharts reads what lies under charts, in the order of the names.
func (r *reader) subcharts(files map[string][]byte, declared []dependency) ([]Subchart, error) {
	folders := map[string]map[string][]byte{}
	var all []Subchart
	for _, file := range slices.Sorted(keys(files)) {
		rest, below := strings.CutPrefix(file, subcharts)
		folder, inner, found := strings.Cut(rest, "/")
		switch {
		case !below:
		case found:
			if folders[folder] == nil {
				folders[folder] = map[string][]byte{}
			}
			folders[folder][inner] = files[file]
		case isArchive(folder):
			sub, err := r.archive(bytes.NewReader(files[file]))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, mount(sub, declared)...)
		}
	}
	for _, folder := range slices.Sorted(keys(folders)) {
		sub, err := r.chart(folders[folder])
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", subcharts, folder, err)
		}
		all = append(all, mount(sub, declared)...)
	}
	return all, nil
}

// mount puts a subchart where the parent's dependencies want it, which may be at several keys, or at its name.
func mount(sub *Chart, declared []dependency) []Subchart {
	var all []Subchart
	for _, d := range declared {
		if d.Name != sub.Name {
			continue
		}
		key := d.Name
		if d.Alias != "" {
			key = d.Alias
		}
		all = append(all, Subchart{Key: key, Conditional: d.Condition != "" || len(d.Tags) > 0, Chart: sub})
	}
	if all == nil {
		return []Subchart{{Key: sub.Name, Chart: sub}}
	}
	return all
}
