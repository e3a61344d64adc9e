// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/stretchr/testify/require"
)

// routeCases have the routes of one listener and the virtual hosts that Envoy must get.
var routeCases = map[string]struct{ values, want string }{
	"without routes every host gets 404": {
		`listeners: [{name: http, port: 8080, protocol: HTTP}]`,
		`virtual_hosts: [{name: "*", domains: ["*"]}]`},
	"without hostnames a route answers every host, and matches every path": {
		listener(`[{upstream: a}]`),
		`virtual_hosts:
          - {name: "*", domains: ["*"], routes: [{name: http-0, match: {prefix: /}, route: {cluster: a}}]}`},
	"each host has its routes in the order of the values, hostnames standing in where a route names none": {
		"hostnames: [www.example.com]\n" + listener(`
          - {name: one, path: /one, upstream: a}
          - {hosts: ["*.example.com", www.example.com], pathPrefix: /two, upstream: b}
          - {hosts: ["*.example.com"], upstream: b}`),
		`virtual_hosts:
          - name: www.example.com
            domains: [www.example.com]
            routes:
              - {name: one, match: {path: /one}, route: {cluster: a}}
              - {name: http-1, match: {path_separated_prefix: /two}, route: {cluster: b}}
          - name: "*.example.com"
            domains: ["*.example.com"]
            routes:
              - {name: http-1, match: {path_separated_prefix: /two}, route: {cluster: b}}
              - {name: http-2, match: {prefix: /}, route: {cluster: b}}`},
	"a prefix is rewritten without doubling or losing a slash": {
		listener(`
          - {path: /exact, upstream: a, prefixRewrite: /other}
          - {pathPrefix: /to.root, upstream: a, prefixRewrite: /}
          - {pathPrefix: /to, upstream: a, prefixRewrite: /deeper/path}
          - {upstream: a, prefixRewrite: /v2}`),
		`virtual_hosts:
          - name: "*"
            domains: ["*"]
            routes:
              - {name: http-0, match: {path: /exact}, route: {cluster: a, prefix_rewrite: /other}}
              - name: http-1
                match: {path_separated_prefix: /to.root}
                route: {cluster: a, regex_rewrite: {pattern: {regex: '^/to\.root/*'}, substitution: /}}
              - {name: http-2, match: {path_separated_prefix: /to}, route: {cluster: a, prefix_rewrite: /deeper/path}}
              - {name: http-3, match: {prefix: /}, route: {cluster: a, prefix_rewrite: /v2/}}`},
	"timeouts, retries and the host reach Envoy": {
		listener(`
          - {path: /a, upstream: a, hostRewrite: a.example.com, timeout: 1500ms, retries: {attempts: 3}}
          - {path: /b, upstream: b, timeout: 0s, retries: {attempts: 1, conditions: [5xx, reset], perTryTimeout: 2m}}`),
		`virtual_hosts:
          - name: "*"
            domains: ["*"]
            routes:
              - name: http-0
                match: {path: /a}
                route:
                  cluster: a
                  timeout: 1.5s
                  host_rewrite_literal: a.example.com
                  retry_policy: {retry_on: "connect-failure,refused-stream", num_retries: 3}
              - name: http-1
                match: {path: /b}
                route:
                  cluster: b
                  timeout: 0s
                  retry_policy: {retry_on: "5xx,reset", num_retries: 1, per_try_timeout: 120s}`},
	"redirects": {
		listener(`
          - {pathPrefix: /moved, redirect: {host: www.example.com, port: 8443, path: /new, code: 308}}
          - {redirect: {https: true}}`),
		`virtual_hosts:
          - name: "*"
            domains: ["*"]
            routes:
              - name: http-0
                match: {path_separated_prefix: /moved}
                redirect:
                  {response_code: PERMANENT_REDIRECT, host_redirect: www.example.com, port_redirect: 8443, path_redirect: /new}
              - {name: http-1, match: {prefix: /}, redirect: {response_code: MOVED_PERMANENTLY, https_redirect: true}}`},
	"text with characters that mean something to YAML": {
		listener(`[{name: 'a "b": {c', path: '/a:b{c}"d', upstream: a}]`),
		`virtual_hosts:
          - name: "*"
            domains: ["*"]
            routes: [{name: 'a "b": {c', match: {path: '/a:b{c}"d'}, route: {cluster: a}}]`},
}

// listener has the routes, a YAML list, and two upstreams a and b.
func listener(routes string) string {
	return `
upstreams: [{name: a, hosts: ["a:80"]}, {name: b, hosts: ["b:80"]}]
listeners:
  - name: http
    port: 8080
    protocol: HTTP
    routes: ` + routes
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	for sentence, c := range routeCases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			manager, err := connectionManager(findListener(t, bootstrap(t, c.values), "http"))
			require.NoError(t, err)
			got := &routev3.RouteConfiguration{VirtualHosts: manager.GetRouteConfig().GetVirtualHosts()}
			requireEnvoy(t, c.want, got)
		})
	}
}
