// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/internal/plan"
	"github.com/sluice-gateway/sluice/internal/render"
)

var update = flag.Bool("update", false, "write testdata anew")

// wso2Rows set each field of an APIGateway of WSO2's operator, in the flow form of its spec.
var wso2Rows = map[string]string{
	"spec.gatewayClassName":                        `gatewayClassName: production`,
	"spec.apiSelector.scope":                       `apiSelector: {scope: Cluster}`,
	"spec.apiSelector.namespaces":                  `apiSelector: {namespaces: [shop]}`,
	"spec.apiSelector.matchLabels":                 `apiSelector: {matchLabels: {team: shop}}`,
	"spec.apiSelector.matchExpressions":            `apiSelector: {matchExpressions: [{key: team, operator: Exists}]}`,
	"spec.infrastructure.replicas":                 `infrastructure: {replicas: 3}`,
	"spec.infrastructure.resources":                `infrastructure: {resources: {limits: {cpu: "2"}}}`,
	"spec.infrastructure.image":                    `infrastructure: {image: "ghcr.io/acme/controller:1.2.0"}`,
	"spec.infrastructure.routerImage":              `infrastructure: {routerImage: "ghcr.io/acme/runtime:1.2.0"}`,
	"spec.infrastructure.nodeSelector":             `infrastructure: {nodeSelector: {pool: edge}}`,
	"spec.infrastructure.tolerations":              `infrastructure: {tolerations: [{key: edge, operator: Exists}]}`,
	"spec.infrastructure.affinity":                 `infrastructure: {affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}}`,
	"spec.infrastructure.labels":                   `infrastructure: {labels: {team: shop}}`,
	"spec.infrastructure.annotations":              `infrastructure: {annotations: {owner: shop}}`,
	"spec.controlPlane.host":                       `controlPlane: {host: cp.example.com}`,
	"spec.controlPlane.tokenSecretRef.name":        `controlPlane: {tokenSecretRef: {name: token}}`,
	"spec.controlPlane.tokenSecretRef.key":         `controlPlane: {tokenSecretRef: {name: token, key: value}}`,
	"spec.controlPlane.tokenSecretRef.optional":    `controlPlane: {tokenSecretRef: {name: token, optional: true}}`,
	"spec.controlPlane.tls.enabled":                `controlPlane: {tls: {enabled: true}}`,
	"spec.controlPlane.tls.certSecretRef.name":     `controlPlane: {tls: {certSecretRef: {name: cert}}}`,
	"spec.controlPlane.tls.certSecretRef.key":      `controlPlane: {tls: {certSecretRef: {name: cert, key: tls.crt}}}`,
	"spec.controlPlane.tls.certSecretRef.optional": `controlPlane: {tls: {certSecretRef: {name: cert, optional: false}}}`,
	"spec.storage.type":                            `storage: {type: mysql}`,
	"spec.storage.sqlitePath":                      `storage: {sqlitePath: /data/gateway.db}`,
	"spec.storage.connectionSecretRef.name":        `storage: {connectionSecretRef: {name: db}}`,
	"spec.storage.connectionSecretRef.key":         `storage: {connectionSecretRef: {name: db, key: password}}`,
	"spec.storage.connectionSecretRef.optional":    `storage: {connectionSecretRef: {name: db, optional: true}}`,
	"spec.configRef.name":                          `configRef: {name: web-values}`,
}

// hyperShellRows set each field of a Gateway of HyperShell, in its flat form.
var hyperShellRows = map[string]string{
	"metadata.name":                     `metadata: {name: other}`,
	"metadata.namespace":                `metadata: {namespace: elsewhere}`,
	"metadata.description":              `metadata: {description: The agents of the shop}`,
	"metadata.labels":                   `metadata: {labels: {team: shop}}`,
	"metadata.annotations":              `metadata: {annotations: {owner: shop}}`,
	"spec.image":                        `image: "ghcr.io/nvidia/openshell/gateway:0.0.101"`,
	"spec.supervisor_image":             `supervisor_image: "ghcr.io/nvidia/openshell/supervisor:0.0.101"`,
	"spec.server_dns_names":             `server_dns_names: [agents.example.com]`,
	"spec.external_dns":                 `external_dns: agents.example.com`,
	"spec.oidc.issuer":                  `oidc: {issuer: "https://login.example.com"}`,
	"spec.oidc.audience":                `oidc: {audience: agents}`,
	"spec.oidc.jwks_ttl":                `oidc: {jwks_ttl: 600}`,
	"spec.oidc.roles_claim":             `oidc: {roles_claim: roles}`,
	"spec.oidc.admin_role":              `oidc: {admin_role: admin}`,
	"spec.oidc.user_role":               `oidc: {user_role: user}`,
	"spec.oidc.scopes_claim":            `oidc: {scopes_claim: scope}`,
	"spec.route.host":                   `route: {host: agents.example.com}`,
	"spec.route.enabled":                `route: {enabled: false}`,
	"spec.database.storage_size":        `database: {storage_size: 10Gi}`,
	"spec.database.image":               `database: {image: postgres:16}`,
	"spec.database.external_secret_ref": `database: {external_secret_ref: agents-db}`,
	"spec.credential_driver.type":       `credential_driver: {type: kubernetes-secrets}`,
	"spec.service_type":                 `service_type: LoadBalancer`,
	"spec.tls_mode":                     `tls_mode: enabled`,
	"spec.namespace":                    `namespace: elsewhere`,
	"spec.project":                      `project: elsewhere`,
	"spec.fleet_id":                     `fleet_id: f1`,
	"spec.cluster_id":                   `cluster_id: c1`,
	"spec.release_id":                   `release_id: r1`,
	"spec.database_id":                  `database_id: d1`,
	"spec.external_reference":           `external_reference: ticket-1`,
	"spec.id":                           `id: g1`,
	"spec.href":                         `href: /api/gateways/g1`,
	"spec.created_at":                   `created_at: "2026-08-01T00:00:00Z"`,
	"spec.updated_at":                   `updated_at: "2026-08-02T00:00:00Z"`,
	"spec.status":                       `status: Running`,
	"spec.phase":                        `phase: Running`,
	"spec.route_address":                `route_address: "https://agents.example.com"`,
	"spec.console_address":              `console_address: "https://console.example.com"`,
	"spec.active_sandbox_count":         `active_sandbox_count: 2`,
}

// TestEveryFieldIsAccountedFor walks the old types, so that a field added to them fails until it has a row, and compares what
// becomes of each with testdata/fields.txt: where it lands, or what is said of it.
func TestEveryFieldIsAccountedFor(t *testing.T) {
	var text strings.Builder
	walk(t, &text, "APIGateway", reflect.TypeFor[wso2Spec](), "spec", wso2Rows, func(row string) string {
		return laidOver(t, `{apiVersion: gateway.api-platform.wso2.com/v1, kind: APIGateway, metadata: {name: web, namespace: shop}}`, "spec: {"+row+"}")
	})
	walk(t, &text, "Gateway", reflect.TypeFor[hyperShellGateway](), "", hyperShellRows, func(row string) string {
		return laidOver(t, `{kind: Gateway, metadata: {name: agents}, namespace: shop}`, row)
	})
	if *update {
		require.NoError(t, os.WriteFile("testdata/fields.txt", []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}

func walk(t *testing.T, text *strings.Builder, kind string, typ reflect.Type, root string, rows map[string]string, manifest func(string) string) {
	t.Helper()
	fields := leavesOf(typ, root)
	for _, field := range slices.Sorted(maps.Keys(rows)) {
		require.Contains(t, fields, field, "a row without a field")
	}
	before := outcome(t, manifest(""))
	for _, field := range fields {
		row, known := rows[field]
		require.True(t, known, "%s %s is neither moved nor named", kind, field)
		fmt.Fprintf(text, "%s %s\n  given %s\n", kind, field, row)
		after := outcome(t, manifest(row))
		changes := 0
		for _, line := range after {
			if !slices.Contains(before, line) {
				fmt.Fprintf(text, "  %s\n", line)
				changes++
			}
		}
		require.NotZero(t, changes, "%s %s is dropped in silence", kind, field)
	}
}

// outcome are the leaves of the gateway that comes of a manifest, and the warnings.
func outcome(t *testing.T, manifest string) []string {
	t.Helper()
	result := migrated(t, Options{OperatorValues: &OperatorValues{}}, manifest)
	require.Empty(t, result.Problems, manifest)
	var lines []string
	for _, g := range result.gateways {
		object, err := g.printed().Tree()
		require.NoError(t, err)
		lines = append(lines, flat("", object)...)
	}
	slices.Sort(lines)
	for _, w := range result.Warnings {
		lines = append(lines, "warning: "+strings.TrimPrefix(w.Field+": ", ": ")+w.Message)
	}
	return lines
}

// laidOver is a manifest with more fields, or others.
func laidOver(t *testing.T, manifest, row string) string {
	t.Helper()
	base, problems := plan.ReadValues([]byte(manifest))
	require.Empty(t, problems)
	over, problems := plan.ReadValues([]byte(row))
	require.Empty(t, problems)
	data, err := yaml.Marshal(plan.MergeValues(base, over))
	require.NoError(t, err)
	return string(data)
}

func flat(path string, value any) []string {
	node, isMap := value.(map[string]any)
	if !isMap {
		data, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return []string{path + ": " + string(data)}
	}
	var lines []string
	for key, inner := range node {
		lines = append(lines, flat(strings.TrimPrefix(path+"."+key, "."), inner)...)
	}
	return lines
}

// leavesOf are the fields of a type down to what is no struct of this package; those of the object itself are left out.
func leavesOf(typ reflect.Type, path string) []string {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ.PkgPath() != reflect.TypeFor[wso2Spec]().PkgPath() {
		return []string{path}
	}
	var all []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		at := strings.TrimPrefix(path+"."+name, ".")
		if at == "apiVersion" || at == "kind" || at == "status" {
			continue
		}
		all = append(all, leavesOf(typ.Field(i).Type, at)...)
	}
	return all
}

// migrated runs on manifests, beside the catalogue's classes.
func migrated(t *testing.T, options Options, manifests ...string) Result {
	t.Helper()
	reader := &render.Reader{}
	for _, name := range []string{"wso2", "openshell"} {
		class, err := os.ReadFile("../../flux/classes/" + name + ".yaml")
		require.NoError(t, err)
		reader.Add(name+".yaml", class)
	}
	for i, manifest := range manifests {
		reader.Add(fmt.Sprintf("old-%d.yaml", i), []byte(manifest))
	}
	options.WSO2Class, options.OpenShellClass = "wso2", "openshell"
	return Run(reader, options)
}
