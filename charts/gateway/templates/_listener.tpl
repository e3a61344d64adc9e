{{- define "gateway.listener" -}}
- name: {{ .listener.name | quote }}
  address:
    {{- include "gateway.bind" (dict "root" .root "port" .listener.port) | nindent 4 }}
  per_connection_buffer_limit_bytes: 32768
  filter_chains:
    - filters:
        - name: envoy.filters.network.http_connection_manager
          typed_config:
            {{- include "gateway.connectionManager" . | nindent 12 }}
      {{- if eq .listener.protocol "HTTPS" }}
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          {{- include "gateway.downstreamTLS" .root | nindent 10 }}
      {{- end }}
{{- end }}

{{- define "gateway.bind" -}}
{{- $address := .root.Values.http.bindAddress | default "0.0.0.0" -}}
socket_address:
  address: {{ $address | quote }}
  port_value: {{ int .port }}
  {{- if eq $address "::" }}
  ipv4_compat: true
  {{- end }}
{{- end }}

{{/* The settings that Envoy's documentation gives for a proxy at the edge. */}}
{{- define "gateway.connectionManager" -}}
{{- $http := .root.Values.http -}}
"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
stat_prefix: {{ .listener.name | quote }}
use_remote_address: true
xff_num_trusted_hops: {{ int $http.trustedHops }}
normalize_path: true
merge_slashes: true
path_with_escaped_slashes_action: UNESCAPE_AND_REDIRECT
common_http_protocol_options:
  idle_timeout: {{ include "gateway.duration" ($http.idleTimeout | default "1h") }}
  headers_with_underscores_action: REJECT_REQUEST
http2_protocol_options:
  max_concurrent_streams: 100
  initial_stream_window_size: 65536
  initial_connection_window_size: 1048576
stream_idle_timeout: {{ include "gateway.duration" ($http.streamIdleTimeout | default "5m") }}
request_timeout: {{ include "gateway.duration" ($http.requestTimeout | default "5m") }}
{{- if .root.Values.accessLog.enabled }}
access_log:
  {{- include "gateway.accessLog" .root.Values.accessLog | nindent 2 }}
{{- end }}
http_filters:
  - name: envoy.filters.http.router
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
route_config:
  name: {{ .listener.name | quote }}
  ignore_port_in_host_matching: true
  virtual_hosts:
    {{- $root := .root }}{{ $listener := .listener }}
    {{- range include "gateway.domains" . | fromJsonArray }}
    {{- include "gateway.virtualHost" (dict "root" $root "listener" $listener "domain" .) | nindent 4 }}
    {{- end }}
{{- end }}

{{- define "gateway.accessLog" -}}
- name: envoy.access_loggers.stdout
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog
    {{- if eq (.format | default "json") "json" }}
    log_format:
      json_format:
        {{- include "gateway.entries" (list .json) | nindent 8 }}
    {{- else if .text }}
    log_format:
      text_format_source: {inline_string: {{ printf "%s\n" (trimSuffix "\n" .text) | quote }}}
    {{- end }}
{{- end }}

{{- define "gateway.downstreamTLS" -}}
"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
common_tls_context:
  alpn_protocols: [h2, http/1.1]
  tls_params: {tls_minimum_protocol_version: {{ .Values.tls.minVersion | default "TLSv1_2" }}}
  tls_certificate_sds_secret_configs:
    - name: listener
      sds_config:
        resource_api_version: V3
        path_config_source: {path: /etc/gateway/config/listener-certificate.yaml}
{{- end }}
