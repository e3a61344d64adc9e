// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/internal/chart"
)

// mergeFiles are a chart that prints the values it gets, with a subchart that does so too.
var mergeFiles = map[string]string{
	"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: db, alias: store, version: 2.0.0}\n",
	"values.yaml": "a: 1\nempty: null\nlist: [1, 2]\ndeep: {x: 1, none: null, sub: {z: 1}}\n" +
		"store: {size: 2Gi}\nglobal: {region: eu}\n",
	"templates/values.yaml":            "{{ .Values | toJson }}\n",
	"charts/db/Chart.yaml":             "apiVersion: v2\nname: db\nversion: 2.0.0\n",
	"charts/db/values.yaml":            "size: 1Gi\nkind: {a: 1}\nglobal: {tier: low}\n",
	"charts/db/templates/_none.tpl":    "",
	"charts/cache/Chart.yaml":          "apiVersion: v2\nname: cache\nversion: 2.0.0\n",
	"charts/cache/templates/_none.tpl": "",
}

// What lint holds against a schema is what Helm would.
func TestMergeIsHelms(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{}
	for name, text := range mergeFiles {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		if chart.Wanted(name) {
			files[name] = []byte(text)
		}
	}
	c, err := chart.FromFiles(files)
	require.NoError(t, err)
	for what, values := range map[string]string{
		"nothing":                          "{}",
		"scalars and lists replace":        "{a: 2, list: [3]}",
		"maps merge":                       "{deep: {x: 2, sub: {w: 1}}}",
		"nulls remove defaults":            "{a: null, list: null, deep: {x: null, sub: {z: null}}}",
		"nulls of what is not there":       "{new: null, deep: {new: null}}",
		"nulls where the default is null":  "{empty: null, deep: {none: null}}",
		"values where the default is null": "{empty: 1, deep: {none: 1}}",
		"a scalar over a map":              "{deep: 1}",
		"a map over a scalar":              "{a: {b: 1, c: null}}",
		"a null over a map":                "{deep: null}",
		"a subchart's":                     "{store: {size: 3Gi, kind: {a: null, b: 2}}}",
		"nulls of two levels":              "{store: {size: null, kind: null}, deep: {sub: null}}",
		"a subchart's null":                "{store: {size: null, new: null}}",
		"globals":                          "{global: {region: us, tier: high}}",
		"a subchart's globals":             "{store: {global: {tier: mid}}}",
	} {
		t.Run(what, func(t *testing.T) {
			var want, got map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(renderChart(t, dir, values)), &want))
			asJSON, err := yaml.YAMLToJSON([]byte(values))
			require.NoError(t, err)
			given, err := chart.Decode(asJSON)
			require.NoError(t, err)
			merged, err := json.Marshal(c.Merge(given))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(merged, &got))
			require.Equal(t, want, got)
		})
	}
}
