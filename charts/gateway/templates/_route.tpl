{{/* One virtual host for each host name, since Envoy wants a domain in one virtual host only: {root, listener, domain}. */}}
{{- define "gateway.virtualHost" -}}
- name: {{ .domain | quote }}
  domains: [{{ .domain | quote }}]
  {{- with include "gateway.routes" . }}
  routes:
    {{- . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "gateway.routes" -}}
{{- $context := . -}}
{{- $routes := list -}}
{{- range $index, $route := .listener.routes -}}
{{- if include "gateway.answers" (dict "root" $context.root "route" $route "domain" $context.domain) -}}
{{- $name := $route.name | default (printf "%s-%d" $context.listener.name $index) -}}
{{- $routes = append $routes (include "gateway.route" (dict "name" $name "route" $route)) -}}
{{- end -}}
{{- end -}}
{{- join "\n" $routes -}}
{{- end }}

{{- define "gateway.route" -}}
- name: {{ .name | quote }}
  match: {{ include "gateway.match" .route }}
  {{- if .route.redirect }}
  redirect:
    {{- include "gateway.redirect" .route.redirect | nindent 4 }}
  {{- else }}
  route:
    {{- include "gateway.forward" .route | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "gateway.match" -}}
{{- if .path -}}
{path: {{ .path | quote }}}
{{- else if eq (.pathPrefix | default "/") "/" -}}
{prefix: "/"}
{{- else -}}
{path_separated_prefix: {{ .pathPrefix | quote }}}
{{- end -}}
{{- end }}

{{- define "gateway.forward" -}}
cluster: {{ .upstream | quote }}
{{- with .timeout }}
timeout: {{ include "gateway.duration" . }}
{{- end }}
{{- if .prefixRewrite }}
{{ include "gateway.rewrite" . }}
{{- end }}
{{- with .hostRewrite }}
host_rewrite_literal: {{ . | quote }}
{{- end }}
{{- with .retries }}
retry_policy:
  retry_on: {{ .conditions | default (list "connect-failure" "refused-stream") | join "," | quote }}
  num_retries: {{ int .attempts }}
  {{- with .perTryTimeout }}
  per_try_timeout: {{ include "gateway.duration" . }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
Envoy swaps the characters of the prefix for those of the rewrite and minds no slashes: /api to / would make //users of
/api/users, and / to /v2 would make /v2users of /users.
*/}}
{{- define "gateway.rewrite" -}}
{{- $prefix := .pathPrefix | default "/" -}}
{{- if .path -}}
prefix_rewrite: {{ .prefixRewrite | quote }}
{{- else if eq $prefix "/" -}}
prefix_rewrite: {{ printf "%s/" (trimSuffix "/" .prefixRewrite) | quote }}
{{- else if eq .prefixRewrite "/" -}}
regex_rewrite:
  pattern: {regex: {{ printf "^%s/*" (regexQuoteMeta $prefix) | quote }}}
  substitution: /
{{- else -}}
prefix_rewrite: {{ .prefixRewrite | quote }}
{{- end -}}
{{- end }}

{{- define "gateway.redirect" -}}
{{- $codes := dict "301" "MOVED_PERMANENTLY" "302" "FOUND" "303" "SEE_OTHER" "307" "TEMPORARY_REDIRECT" "308" "PERMANENT_REDIRECT" -}}
response_code: {{ get $codes (.code | default 301 | int | toString) }}
{{- if .https }}
https_redirect: true
{{- end }}
{{- with .host }}
host_redirect: {{ . | quote }}
{{- end }}
{{- with .port }}
port_redirect: {{ int . }}
{{- end }}
{{- with .path }}
path_redirect: {{ . | quote }}
{{- end }}
{{- end }}
