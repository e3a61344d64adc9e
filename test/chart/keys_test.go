// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// schema is as much of JSON schema as values.schema.json uses.
type schema struct {
	Ref                  string             `json:"$ref"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Definitions          map[string]*schema `json:"definitions"`
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir(t), "values.schema.json"))
	require.NoError(t, err)
	root := &schema{}
	require.NoError(t, json.Unmarshal(text, root))
	return root
}

// follow returns what a $ref stands for.
func (s *schema) follow(root *schema) *schema {
	if s != nil && s.Ref != "" {
		return root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
	}
	return s
}

// leaves are the dotted paths of the keys that have no keys of ours below them.
func (s *schema) leaves(root *schema, prefix string) []string {
	var paths []string
	for key, property := range s.Properties {
		property = property.follow(root)
		if len(property.Properties) == 0 {
			paths = append(paths, prefix+key)
			continue
		}
		paths = append(paths, property.leaves(root, prefix+key+".")...)
	}
	sort.Strings(paths)
	return paths
}

// find returns the schema of a dotted path, or nil.
func (s *schema) find(root *schema, path string) *schema {
	found := s
	for _, key := range strings.Split(path, ".") {
		if found = found.Properties[key].follow(root); found == nil {
			return nil
		}
	}
	return found
}

func readValues(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir(t), "values.yaml"))
	require.NoError(t, err)
	values := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict(text, &values))
	return values
}

// lookup returns what is at a dotted path.
func lookup(values map[string]any, path string) (value any, found bool) {
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		next, ok := values[key].(map[string]any)
		if !ok {
			return nil, false
		}
		values = next
	}
	value, found = values[keys[len(keys)-1]]
	return value, found
}

// nest has value at a dotted path.
func nest(path string, value any) map[string]any {
	keys := strings.Split(path, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		value = map[string]any{keys[i]: value}
	}
	return value.(map[string]any)
}

// Every key of the schema has a default in values.yaml, which is where people look keys up; the other way round helm itself
// refuses a default that the schema does not know.
func TestValuesFileShowsEveryKeyOfTheSchema(t *testing.T) {
	t.Parallel()
	root, values := readSchema(t), readValues(t)
	for _, path := range root.leaves(root, "") {
		if path == "global" {
			continue // Helm's own
		}
		_, found := lookup(values, path)
		// A probe's optional keys are Kubernetes' own, and its defaults hold.
		assert.True(t, found || strings.HasSuffix(path, "Probe.initialDelaySeconds"), "values.yaml lacks %s", path)
	}
	render(t, "")
}

// A key that no template reads would be accepted and ignored. (That a template names it is a weak proof of an effect; what
// the effect is, the other tests say.)
func TestTemplatesReadEveryKey(t *testing.T) {
	t.Parallel()
	var templates strings.Builder
	for _, pattern := range []string{"templates/*", "templates/tests/*"} {
		files, err := filepath.Glob(filepath.Join(chartDir(t), pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil { // not of a folder
				templates.Write(text)
			}
		}
	}
	root := readSchema(t)
	for name, object := range allObjects(root) {
		for key := range object.Properties {
			read := regexp.MustCompile(`[."]` + key + `\b`)
			assert.True(t, read.MatchString(templates.String()) || passedOn(name, key), "%s: no template reads %s", name, key)
		}
	}
}

// passedOn says that a key gets to Kubernetes as part of an object that the templates hand on whole.
func passedOn(object, key string) bool {
	return object == "probe" || object == "" && key == "global"
}

// An object of the schema lists its keys and refuses others, or hands all it holds on as it is.
func TestSchemaHasNoHalfOpenObject(t *testing.T) {
	t.Parallel()
	for name, object := range allObjects(readSchema(t)) {
		assert.Equal(t, "false", string(object.AdditionalProperties), name)
	}
}

// allObjects are the schemas that list keys, by the name of their definition or their path from the top.
func allObjects(root *schema) map[string]*schema {
	found := map[string]*schema{}
	var visit func(name string, s *schema)
	visit = func(name string, s *schema) {
		if len(s.Properties) > 0 {
			found[name] = s
		}
		for key, property := range s.Properties {
			visit(strings.TrimPrefix(name+"."+key, "."), property)
		}
	}
	visit("", root)
	for name, definition := range root.Definitions {
		visit(name, definition)
	}
	return found
}

// null removes every key but these, which have no meaning when they are gone.
var indispensable = []string{
	"admin.port", "autoscaling.maxReplicas", "drain.mode", "drain.seconds", "http.maxConnections", "image.repository", "listeners",
	"podDisruptionBudget.maxUnavailable", "service.type", "status.port", "terminationGracePeriodSeconds", "tls.secret.certKey",
	"tls.secret.privateKeyKey", "trustedCA.key",
}

func TestNullRemovesWhatIsOptional(t *testing.T) {
	t.Parallel()
	root := readSchema(t)
	all, optional := map[string]any{}, map[string]any{}
	for _, path := range root.leaves(root, "") {
		merge(all, nest(path, nil))
		if !slices.Contains(indispensable, path) {
			merge(optional, nest(path, nil))
		}
	}
	bootstrap(t, text(t, optional))

	message := refusal(t, text(t, all))
	for _, path := range indispensable {
		at := "/" + strings.ReplaceAll(path, ".", "/")
		parent, key := at[:strings.LastIndex(at, "/")], at[strings.LastIndex(at, "/")+1:]
		assert.Contains(t, message, "at '"+parent+"': missing propert", path)
		assert.Contains(t, message, "'"+key+"'", path)
	}
}

func TestNullIsAllowedWhereThereIsNoDefault(t *testing.T) {
	t.Parallel()
	bootstrap(t, `
global: {anything: [goes]}
commonLabels: {gone: null}
nodeSelector: {gone: null}
resources: {limits: {cpu: null, memory: null}}
upstreams:
  - {name: a, hosts: ["a:1"], type: null, connectTimeout: null, lbPolicy: null, http2: null, healthCheck: null, tls: null}
  - {name: b, hosts: ["b:1"], healthCheck: {path: /, host: null, interval: null}, tls: {enabled: true, sni: null, subjectAltNames: null}}
listeners:
  - {name: other, port: 8081, servicePort: null, nodePort: null, protocol: HTTP, routes: null}
  - name: http
    port: 8080
    protocol: HTTP
    routes:
      - {name: null, hosts: null, path: /a, pathPrefix: null, upstream: a, prefixRewrite: null, hostRewrite: null, timeout: null, retries: null}
      - {path: null, upstream: b, retries: {attempts: 1, conditions: null, perTryTimeout: null}}
`)
}

func merge(into, from map[string]any) {
	for key, value := range from {
		below, isMap := value.(map[string]any)
		existing, both := into[key].(map[string]any)
		if isMap && both {
			merge(existing, below)
		} else {
			into[key] = value
		}
	}
}

func text(t *testing.T, values any) string {
	t.Helper()
	out, err := yaml.Marshal(values)
	require.NoError(t, err)
	return string(out)
}
