// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"reflect"
	"testing"

	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/plan"
)

const values = `
replicaCount: 1
image: {repository: a, tag: ""}
nodeSelector: {}
extra:
hosts: []
ports: [{name: http}]
supervisor: {image: {pullPolicy: Always}}
`

const schema = `{
  "type": "object",
  "properties": {
    "replicaCount": {"type": "integer", "minimum": 0},
    "image": {"$ref": "#/definitions/image"},
    "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}},
    "resources": {"type": "object"},
    "ports": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {"name": {"type": "string"}}}},
    "either": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}]}
  },
  "definitions": {"image": {
    "type": "object", "additionalProperties": false, "required": ["repository"],
    "properties": {"repository": {"type": "string"}, "tag": {"type": "string"}}
  }}
}`

func read(t *testing.T, files map[string]string) *chart.Chart {
	t.Helper()
	data := map[string][]byte{"Chart.yaml": []byte(about)}
	for name, text := range files {
		data[name] = []byte(text)
	}
	c, err := chart.FromFiles(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPathsThatAChartHas(t *testing.T) {
	sub := map[string]string{
		"values.yaml": values, "charts/db/Chart.yaml": "name: db\nversion: 2.0.0\n", "charts/db/values.yaml": "size: 1Gi\n",
	}
	const no = "is no value of the chart web 1.0.0, which has no "
	for what, c := range map[string]struct {
		files map[string]string
		path  string
		want  string
	}{
		"values: a key":                        {sub, "image.tag", ""},
		"values: a typo":                       {sub, "image.tga", no + "tga under image; did you mean image.tag?"},
		"values: a typo on the way":            {sub, "imgae.tag", no + "imgae at its top; did you mean image.tag?"},
		"values: a key from elsewhere":         {sub, "supervisorImage.pullPolicy", no + "supervisorImage at its top; did you mean supervisor.image.pullPolicy?"},
		"values: a key that is nowhere":        {sub, "a.b", no + "a at its top"},
		"values: below an empty map":           {sub, "nodeSelector.a\\.b", ""},
		"values: below a null":                 {sub, "extra.a.b", ""},
		"values: below a scalar":               {sub, "replicaCount.a", no + "a under replicaCount"},
		"values: an element":                   {sub, "hosts[0].name", ""},
		"values: an element of a map":          {sub, "image[0]", no + "[0] under image"},
		"values: a subchart's":                 {sub, "db.size", ""},
		"values: a subchart's typo":            {sub, "db.siez", no + "siez under db; did you mean db.size?"},
		"values: a subchart that is not there": {sub, "dbs.size", no + "dbs at its top; did you mean db.size?"},
		"values: Helm's own":                   {sub, "global.imageRegistry", ""},
		"schema: a key":                        {map[string]string{"values.schema.json": schema}, "image.tag", ""},
		"schema: a typo":                       {map[string]string{"values.schema.json": schema}, "image.tga", no + "tga under image; did you mean image.tag?"},
		"schema: any key":                      {map[string]string{"values.schema.json": schema}, "nodeSelector.a", ""},
		"schema: what it leaves open":          {map[string]string{"values.schema.json": schema}, "resources.limits.cpu", ""},
		"schema: what values.yaml adds":        {map[string]string{"values.schema.json": schema, "values.yaml": values}, "supervisor.image.pullPolicy", ""},
		"schema: below a scalar":               {map[string]string{"values.schema.json": schema}, "replicaCount.a", no + "a under replicaCount"},
		"schema: in one of two forms":          {map[string]string{"values.schema.json": schema}, "either.name", ""},
		"schema: in none of two forms":         {map[string]string{"values.schema.json": schema}, "either.nam", no + "nam under either; did you mean either.name?"},
		"schema: an element's key":             {map[string]string{"values.schema.json": schema}, "ports[3].name", ""},
		"schema: an element's typo":            {map[string]string{"values.schema.json": schema}, "ports[3].nam", no + "nam under ports[3]; did you mean ports[3].name?"},
		"schema: that says nothing":            {map[string]string{"values.schema.json": "{}", "values.yaml": values}, "image.tga", no + "tga under image; did you mean image.tag?"},
	} {
		t.Run(what, func(t *testing.T) {
			path, err := plan.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, c.files).Unknown(path); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestKeysThatAChartHasNot(t *testing.T) {
	given, err := chart.Decode([]byte(`{"image": {"tga": {"a": 1}}, "ports": [{"name": "a"}, {"nam": "b"}], "nodeSelector": {"a": "b"}, "replicas": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range read(t, map[string]string{"values.schema.json": schema, "values.yaml": values}).UnknownKeys(given) {
		got = append(got, v.Path.String())
	}
	if want := []string{"image.tga", "ports[1].nam", "replicas"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestValuesThatTheSchemaRefuses(t *testing.T) {
	c := read(t, map[string]string{"values.schema.json": schema, "values.yaml": values})
	for what, test := range map[string]struct{ given, want string }{
		"nothing":        {"{}", ""},
		"a wrong type":   {`{"replicaCount": "3"}`, `replicaCount: got string, want integer; it is "3"`},
		"out of range":   {`{"replicaCount": -1}`, "replicaCount: minimum: got -1, want 0"},
		"a missing key":  {`{"image": {"repository": null}}`, "image: lacks repository, which the chart requires"},
		"an unknown key": {`{"image": {"tga": 1}}`, "image.tga: is no value of the chart"},
		"an element":     {`{"ports": [{"name": 1}]}`, "ports[0].name: got number, want string; it is 1"},
		"no form": {`{"either": {"name": 1}}`,
			"either: has none of the forms that the chart allows: got object, want string; or: name got number, want string"},
	} {
		t.Run(what, func(t *testing.T) {
			given, err := chart.Decode([]byte(test.given))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, v := range c.Validate(c.Merge(given)) {
				got += v.Path.String() + ": " + v.Message
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
