{{/*
What the kubelet and Prometheus may see, on the pod's address. The admin interface itself, which can stop Envoy, stays on
loopback; of it only the metrics are passed on. /ready turns 503 once Envoy was told to drain, /live does not.
*/}}
{{- define "gateway.statusListener" -}}
- name: status
  address:
    {{- include "gateway.bind" (dict "root" . "port" .Values.status.port) | nindent 4 }}
  ignore_global_conn_limit: true
  filter_chains:
    - filters:
        - name: envoy.filters.network.http_connection_manager
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
            stat_prefix: status
            http_filters:
              - name: envoy.filters.http.health_check
                typed_config:
                  "@type": type.googleapis.com/envoy.extensions.filters.http.health_check.v3.HealthCheck
                  pass_through_mode: false
                  headers:
                    - name: ":path"
                      string_match: {exact: /ready}
              - name: envoy.filters.http.router
                typed_config:
                  "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
            route_config:
              name: status
              virtual_hosts:
                - name: status
                  domains: ["*"]
                  routes:
                    - match: {path: /live}
                      direct_response: {status: 200}
                    {{- if .Values.status.metrics }}
                    - match: {path: /metrics}
                      route: {cluster: envoy_admin, prefix_rewrite: /stats/prometheus}
                    {{- end }}
{{- end }}

{{/* An underscore is not allowed in the name of an upstream, so nobody can route to this one. */}}
{{- define "gateway.adminCluster" -}}
- name: envoy_admin
  type: STATIC
  connect_timeout: 1s
  load_assignment:
    cluster_name: envoy_admin
    endpoints:
      - lb_endpoints:
          - endpoint:
              address:
                socket_address: {address: 127.0.0.1, port_value: {{ int .Values.admin.port }}}
{{- end }}
