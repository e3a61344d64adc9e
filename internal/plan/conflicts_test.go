// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The class maps the fields below; values are given through spec.values and, again, through configRef.
func TestConflictsOfMappedFieldsAndFreeValues(t *testing.T) {
	const class = `
spec:
  values: {hosts: [{name: class, port: 1}]}
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount]}
  - {field: infrastructure.resources, paths: [resources]}
  - {field: infrastructure.tolerations, paths: [tolerations]}
  - {field: storage.type, paths: ['hosts[0].name', 'notes\.type']}
  - {field: infrastructure.labels, paths: ['pods[0].labels']}
  imageMappings:
  - {name: gateway, paths: [{repository: image.repository, tag: image.tag}]}
`
	const (
		replicas  = "{infrastructure: {replicas: 3}"
		resources = "{infrastructure: {resources: {limits: {cpu: 1}, claims: [{name: a}]}}"
		tolerate  = "{infrastructure: {tolerations: [{key: a}]}"
		storage   = "{storage: {type: x}"
		labels    = "{infrastructure: {labels: {a: b, c: d}}"
		image     = "{infrastructure: {images: {gateway: 'acme/gw:1'}}"
		agree     = "; remove one, or make them equal"
	)
	for name, c := range map[string]struct{ fields, values, want string }{
		"the same value":                         {replicas, "{deployment: {replicaCount: 3}}", ""},
		"the same value, written otherwise":      {replicas, "{deployment: {replicaCount: 3.0}}", ""},
		"another key beside it":                  {replicas, "{deployment: {strategy: Recreate}}", ""},
		"an empty map above it":                  {replicas, "{deployment: {}}", ""},
		"a key that looks like the path":         {replicas, "{deployment.replicaCount: 5}", ""},
		"the field not set":                      {"{suspend: false", "{deployment: {replicaCount: 5}}", ""},
		"another value":                          {replicas, "{deployment: {replicaCount: 5}}", "spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment.replicaCount to 5"},
		"the same digits as text":                {replicas, "{deployment: {replicaCount: '3'}}", `spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment.replicaCount to "3"`},
		"null at the path":                       {replicas, "{deployment: {replicaCount: null}}", "spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment.replicaCount to null"},
		"a map at the path":                      {replicas, "{deployment: {replicaCount: {}}}", "spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment.replicaCount to {}"},
		"null above the path":                    {replicas, "{deployment: null}", "spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment to null"},
		"a number above the path":                {replicas, "{deployment: 5}", "spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment to 5"},
		"a list above the path":                  {replicas, "{deployment: [1]}", "spec.infrastructure.replicas: sets deployment.replicaCount to 3, but %s sets deployment to [1]"},
		"part of a structure, the same":          {resources, "{resources: {limits: {cpu: '1'}}}", ""},
		"an empty map over a structure":          {resources, "{resources: {}}", ""},
		"part of a structure, another value":     {resources, "{resources: {limits: {cpu: '2'}}}", `spec.infrastructure.resources: sets resources to {"claims":[{"name":"a"}],"limits":{"cpu":"1"}}, but %s sets resources.limits.cpu to "2"`},
		"a key added to a structure":             {resources, "{resources: {requests: {cpu: 1}}}", `spec.infrastructure.resources: sets resources to {"claims":[{"name":"a"}],"limits":{"cpu":"1"}}, but %s sets resources.requests to {"cpu":1}`},
		"part of a structure made null":          {resources, "{resources: {limits: null}}", `spec.infrastructure.resources: sets resources to {"claims":[{"name":"a"}],"limits":{"cpu":"1"}}, but %s sets resources.limits to null`},
		"a list in a structure, the same":        {resources, "{resources: {claims: [{name: a}]}}", ""},
		"a list in a structure, which replaces":  {resources, "{resources: {claims: []}}", `spec.infrastructure.resources: sets resources to {"claims":[{"name":"a"}],"limits":{"cpu":"1"}}, but %s sets resources.claims to []`},
		"a list as the value, the same":          {tolerate, "{tolerations: [{key: a}]}", ""},
		"a list as the value, longer":            {tolerate, "{tolerations: [{key: a}, {key: b}]}", `spec.infrastructure.tolerations: sets tolerations to [{"key":"a"}], but %s sets tolerations to [{"key":"a"},{"key":"b"}]`},
		"a long value, cut":                      {tolerate, "{tolerations: ['0123456789012345678901234567890123456789012345678901234567890']}", `spec.infrastructure.tolerations: sets tolerations to [{"key":"a"}], but %s sets tolerations to ["0123456789012345678901234567890123456789012345678901234567…`},
		"a list with the same element":           {storage, "{hosts: [{name: x, port: 2}, {name: z}]}", ""},
		"a list with another element":            {storage, "{hosts: [{name: z}]}", `spec.storage.type: sets hosts[0].name to "x", but %s sets hosts to [{"name":"z"}]`},
		"a list whose element says nothing":      {storage, "{hosts: [{port: 2}]}", `spec.storage.type: sets hosts[0].name to "x", but %s sets hosts to [{"port":2}]`},
		"a list without the element":             {storage, "{hosts: []}", `spec.storage.type: sets hosts[0].name to "x", but %s sets hosts to []`},
		"a list with the same structure":         {labels, "{pods: [{labels: {a: b, c: d}}]}", ""},
		"a list with part of the structure":      {labels, "{pods: [{labels: {a: b}}]}", `spec.infrastructure.labels: sets pods[0].labels to {"a":"b","c":"d"}, but %s sets pods to [{"labels":{"a":"b"}}]`},
		"a map in the place of a list":           {storage, "{hosts: {name: x}}", `spec.storage.type: sets hosts[0].name to "x", but %s sets hosts to {"name":"x"}`},
		"a key with a dot":                       {storage, "{notes.type: z}", `spec.storage.type: sets notes\.type to "x", but %s sets notes\.type to "z"`},
		"an image's part, the same":              {image, "{image: {tag: '1', pullPolicy: Always}}", ""},
		"an image's part, another":               {image, "{image: {tag: '2'}}", `spec.infrastructure.images.gateway: sets image.tag to "1", but %s sets image.tag to "2"`},
		"null above the parts of an image, once": {"{infrastructure: {images: {gateway: acme/gw}}", "{image: null}", `spec.infrastructure.images.gateway: sets image.repository to "acme/gw", but %s sets image to null`},
	} {
		for place, where := range map[string]struct{ gateway, config string }{
			"spec.values":                         {c.fields + ", values: " + c.values + "}", ""},
			"ConfigMap/orders-values values.yaml": {c.fields + ", configRef: {name: orders-values}}", c.values},
		} {
			t.Run(name+" in "+place, func(t *testing.T) {
				in := input(t, class, "spec: "+where.gateway)
				in.Config = aConfig(where.config)
				var want []string
				if c.want != "" {
					want = []string{"FieldConflict " + strings.Replace(c.want, "%s", place, 1) + agree}
				}
				require.Equal(t, want, refusal(t, in))
			})
		}
	}
}

func TestConflictsOfBothLayersAreListed(t *testing.T) {
	in := input(t, "spec: {valueMappings: [{field: metadata.name, paths: [a, b]}]}", "spec: {configRef: {name: orders-values}, values: {a: x}}")
	in.Config = aConfig("a: w\nb: z\n")
	require.Equal(t, []string{
		`FieldConflict metadata.name: sets a to "orders", but ConfigMap/orders-values values.yaml sets a to "w"; remove one, or make them equal`,
		`FieldConflict metadata.name: sets a to "orders", but spec.values sets a to "x"; remove one, or make them equal`,
		`FieldConflict metadata.name: sets b to "orders", but ConfigMap/orders-values values.yaml sets b to "z"; remove one, or make them equal`,
	}, refusal(t, in))
}

func TestWhatTheClassItselfSetsIsNoConflict(t *testing.T) {
	require.Equal(t, `{"a":3,"b":{"c":1,"d":2}}`, valuesOf(t,
		"spec: {values: {a: 1, b: {c: 1}}, valueMappings: [{field: infrastructure.replicas, paths: [a], whenSet: {a: 2, b: {d: 2}}}]}",
		"spec: {infrastructure: {replicas: 3}}", ""))
}
