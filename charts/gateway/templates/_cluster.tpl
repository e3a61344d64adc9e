{{- define "gateway.cluster" -}}
{{- $upstream := .upstream -}}
- name: {{ $upstream.name | quote }}
  type: {{ $upstream.type | default "STRICT_DNS" }}
  connect_timeout: {{ include "gateway.duration" ($upstream.connectTimeout | default "5s") }}
  lb_policy: {{ $upstream.lbPolicy | default "ROUND_ROBIN" }}
  {{- if ne ($upstream.type | default "STRICT_DNS") "STATIC" }}
  dns_lookup_family: V4_PREFERRED
  {{- end }}
  load_assignment:
    cluster_name: {{ $upstream.name | quote }}
    endpoints:
      - lb_endpoints:
          {{- range $upstream.hosts }}
          - endpoint:
              address:
                socket_address: {address: {{ include "gateway.hostOf" . | quote }}, port_value: {{ include "gateway.portOf" . }}}
          {{- end }}
  {{- if $upstream.http2 }}
  typed_extension_protocol_options:
    envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
      "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
      explicit_http_config:
        http2_protocol_options: {}
  {{- end }}
  {{- with $upstream.healthCheck }}
  health_checks:
    {{- include "gateway.healthCheck" (dict "check" . "http2" $upstream.http2) | nindent 4 }}
  {{- end }}
  {{- if ($upstream.tls).enabled }}
  transport_socket:
    name: envoy.transport_sockets.tls
    typed_config:
      {{- include "gateway.upstreamTLS" . | nindent 6 }}
  {{- end }}
{{- end }}

{{- define "gateway.healthCheck" -}}
- interval: {{ include "gateway.duration" (.check.interval | default "10s") }}
  timeout: {{ include "gateway.duration" (.check.timeout | default "2s") }}
  healthy_threshold: {{ .check.healthyThreshold | default 2 | int }}
  unhealthy_threshold: {{ .check.unhealthyThreshold | default 3 | int }}
  http_health_check:
    path: {{ .check.path | quote }}
    {{- with .check.host }}
    host: {{ . | quote }}
    {{- end }}
    {{- if .http2 }}
    codec_client_type: HTTP2
    {{- end }}
{{- end }}

{{/* TLS to an upstream always verifies who answers: {root, upstream}. */}}
{{- define "gateway.upstreamTLS" -}}
{{- $sni := include "gateway.sni" .upstream -}}
"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
sni: {{ $sni | quote }}
common_tls_context:
  {{- if .upstream.http2 }}
  alpn_protocols: [h2]
  {{- end }}
  {{- if .root.Values.trustedCA.name }}
  combined_validation_context:
    default_validation_context:
      {{- include "gateway.subjectAltNames" (dict "names" (.upstream.tls.subjectAltNames | default (list $sni))) | nindent 6 }}
    validation_context_sds_secret_config:
      name: trusted-ca
      sds_config:
        resource_api_version: V3
        path_config_source: {path: /etc/gateway/config/trusted-ca.yaml}
  {{- else }}
  validation_context:
    trusted_ca: {filename: /etc/ssl/certs/ca-certificates.crt}
    {{- include "gateway.subjectAltNames" (dict "names" (.upstream.tls.subjectAltNames | default (list $sni))) | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "gateway.subjectAltNames" -}}
match_typed_subject_alt_names:
  {{- range .names }}
  - san_type: DNS
    matcher: {exact: {{ . | quote }}}
  {{- end }}
{{- end }}
