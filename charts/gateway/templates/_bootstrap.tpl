{{/* Envoy's bootstrap. Whatever renders it checks the values first, so that a fault is named before it becomes an odd file. */}}
{{- define "gateway.bootstrap" -}}
{{- include "gateway.validate" . -}}
node:
  id: {{ include "gateway.fullname" . | quote }}
  cluster: {{ include "gateway.fullname" . | quote }}
admin:
  address:
    socket_address: {address: 127.0.0.1, port_value: {{ int .Values.admin.port }}}
  ignore_global_conn_limit: true
overload_manager:
  resource_monitors:
    - name: envoy.resource_monitors.global_downstream_max_connections
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig
        max_active_downstream_connections: {{ int .Values.http.maxConnections }}
static_resources:
  listeners:
    {{- include "gateway.statusListener" . | nindent 4 }}
    {{- range .Values.listeners }}
    {{- include "gateway.listener" (dict "root" $ "listener" .) | nindent 4 }}
    {{- end }}
  clusters:
    {{- include "gateway.adminCluster" . | nindent 4 }}
    {{- range .Values.upstreams }}
    {{- include "gateway.cluster" (dict "root" $ "upstream" .) | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Files that Envoy watches: unlike a path in the bootstrap, they are read anew when the mounted Secret or ConfigMap changes. */}}
{{- define "gateway.listenerCertificate" -}}
resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: listener
    tls_certificate:
      certificate_chain: {filename: {{ printf "/etc/gateway/tls/%s" .Values.tls.secret.certKey | quote }}}
      private_key: {filename: {{ printf "/etc/gateway/tls/%s" .Values.tls.secret.privateKeyKey | quote }}}
      watched_directory: {path: /etc/gateway/tls}
{{- end }}
{{- define "gateway.trustedCA" -}}
resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: trusted-ca
    validation_context:
      trusted_ca: {filename: {{ printf "/etc/gateway/trusted-ca/%s" .Values.trustedCA.key | quote }}}
      watched_directory: {path: /etc/gateway/trusted-ca}
{{- end }}

{{/* All files of the ConfigMap; their hash is what makes new pods. */}}
{{- define "gateway.files" -}}
envoy.yaml: |
  {{- include "gateway.bootstrap" . | nindent 2 }}
{{- if .Values.tls.enabled }}
listener-certificate.yaml: |
  {{- include "gateway.listenerCertificate" . | nindent 2 }}
{{- end }}
{{- if .Values.trustedCA.name }}
trusted-ca.yaml: |
  {{- include "gateway.trustedCA" . | nindent 2 }}
{{- end }}
{{- end }}
