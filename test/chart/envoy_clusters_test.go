// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import "testing"

// clusterCases have an upstream named api and the cluster that Envoy must get.
var clusterCases = map[string]struct{ values, want string }{
	"hosts are resolved by DNS, five seconds to connect": {
		`upstreams: [{name: api, hosts: ["api.shop.svc:8080", "api2:80"]}]`,
		`name: api
type: STRICT_DNS
connect_timeout: 5s
lb_policy: ROUND_ROBIN
dns_lookup_family: V4_PREFERRED
load_assignment:
  cluster_name: api
  endpoints:
    - lb_endpoints:
        - endpoint: {address: {socket_address: {address: api.shop.svc, port_value: 8080}}}
        - endpoint: {address: {socket_address: {address: api2, port_value: 80}}}
`},
	"IP addresses of both families": {
		`upstreams: [{name: api, type: STATIC, lbPolicy: RANDOM, connectTimeout: 250ms, hosts: ["10.0.0.1:80", "[fd00::1]:81"]}]`,
		`name: api
type: STATIC
connect_timeout: 0.25s
lb_policy: RANDOM
load_assignment:
  cluster_name: api
  endpoints:
    - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}
        - endpoint: {address: {socket_address: {address: "fd00::1", port_value: 81}}}
`},
	"a health check with its defaults": {
		`upstreams: [{name: api, hosts: ["api:80"], healthCheck: {path: /healthz}}]`,
		plain + `health_checks:
  - {interval: 10s, timeout: 2s, healthy_threshold: 2, unhealthy_threshold: 3, http_health_check: {path: /healthz}}
`},
	"a health check with everything set, over HTTP/2": {
		`upstreams:
  - name: api
    hosts: ["api:80"]
    http2: true
    healthCheck: {path: "/h?x=1", host: h.example.com, interval: 1m, timeout: 500ms, healthyThreshold: 1, unhealthyThreshold: 5}`,
		plain + http2 + `health_checks:
  - interval: 60s
    timeout: 0.5s
    healthy_threshold: 1
    unhealthy_threshold: 5
    http_health_check: {path: "/h?x=1", host: h.example.com, codec_client_type: HTTP2}
`},
	"TLS asks for the host's certificate and verifies it against the image's bundle": {
		`upstreams: [{name: api, hosts: ["api:80"], tls: {enabled: true}}]`,
		plain + `transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    sni: api
    common_tls_context:
      validation_context:
        trusted_ca: {filename: /etc/ssl/certs/ca-certificates.crt}
        match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: api}}]
`},
	"TLS with a CA of one's own, which is read from a watched file": {
		`trustedCA: {name: corporate}
upstreams: [{name: api, hosts: ["api:80"], http2: true, tls: {enabled: true, sni: a.example.com, subjectAltNames: [b.example.com, c.example.com]}}]`,
		plain + http2 + `transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    sni: a.example.com
    common_tls_context:
      alpn_protocols: [h2]
      combined_validation_context:
        default_validation_context:
          match_typed_subject_alt_names:
            - {san_type: DNS, matcher: {exact: b.example.com}}
            - {san_type: DNS, matcher: {exact: c.example.com}}
        validation_context_sds_secret_config:
          name: trusted-ca
          sds_config: {resource_api_version: V3, path_config_source: {path: /etc/gateway/config/trusted-ca.yaml}}
`},
	"TLS that is turned off": {
		`upstreams: [{name: api, hosts: ["api:80"], tls: {enabled: false, sni: kept.example.com}}]`, plain},
}

const plain = `name: api
type: STRICT_DNS
connect_timeout: 5s
lb_policy: ROUND_ROBIN
dns_lookup_family: V4_PREFERRED
load_assignment:
  cluster_name: api
  endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: api, port_value: 80}}}}]}]
`

const http2 = `typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config: {http2_protocol_options: {}}
`

func TestClusters(t *testing.T) {
	t.Parallel()
	for sentence, c := range clusterCases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			requireEnvoy(t, c.want, findCluster(t, bootstrap(t, c.values), "api"))
		})
	}
}
