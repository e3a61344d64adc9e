// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The other tests trust parseEnvoy and checkReferences; this one breaks a good bootstrap and wants them to see it.
func TestCheckerRefuses(t *testing.T) {
	t.Parallel()
	good := renderObjects(t, everything).ConfigMap.Data["envoy.yaml"]
	require.NoError(t, check(good))

	for sentence, c := range map[string]struct{ old, new, want string }{
		"an unknown field": {
			"ignore_global_conn_limit: true", "ignore_global_limit: true", `unknown field "ignore_global_limit"`},
		"an unknown field within a typed_config": {
			"xff_num_trusted_hops:", "trusted_hops:", `unknown field "trusted_hops"`},
		"an extension that was never imported": {
			"filters.http.router.v3.Router", "filters.http.router.v3.Rooter", "Rooter"},
		"a value that Envoy's rules forbid": {
			"port_value: 8080", "port_value: 80800", "PortValue"},
		"a value that they forbid within a typed_config": {
			"max_active_downstream_connections: 20000", "max_active_downstream_connections: 0", "MaxActiveDownstreamConnections"},
		"a deprecated field": {
			"  lb_policy: ROUND_ROBIN", "  lb_policy: ROUND_ROBIN\n      respect_dns_ttl: true", "deprecated"},
		"a key given twice": {
			"cluster: \"shop-gateway\"\n", "cluster: \"shop-gateway\"\n  cluster: other\n", "already set"},
		"a route to a cluster that is not there": {
			`cluster: "orders"`, `cluster: "order"`, `listener https: cluster "order" is unknown`},
		"a domain in two virtual hosts": {
			`domains: ["*.example.org"]`, `domains: [api.example.com]`, "domain api.example.com is in two virtual hosts"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, good, c.old)
			assert.ErrorContains(t, check(strings.Replace(good, c.old, c.new, 1)), c.want)
		})
	}
}

func check(text string) error {
	b := &bootstrapv3.Bootstrap{}
	if err := parseEnvoy(text, b); err != nil {
		return err
	}
	return checkReferences(b)
}
