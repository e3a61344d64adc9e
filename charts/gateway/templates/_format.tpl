{{/* A duration as protobuf's JSON has it: seconds alone, so 250ms is 0.250s. */}}
{{- define "gateway.duration" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" -}}
{{ printf "%d.%03ds" (div $number 1000) (mod $number 1000) }}
{{- else -}}
{{ printf "%ds" (mul $number (get (dict "s" 1 "m" 60 "h" 3600) $unit)) }}
{{- end -}}
{{- end }}

{{/* The host and the port of host:port, the brackets of an IPv6 address taken off. */}}
{{- define "gateway.hostOf" -}}
{{- regexReplaceAll ":[0-9]+$" . "" | trimPrefix "[" | trimSuffix "]" -}}
{{- end }}
{{- define "gateway.portOf" -}}
{{- regexFind "[0-9]+$" . -}}
{{- end }}

{{/* "true" if the host is an IP address, else empty. */}}
{{- define "gateway.isIP" -}}
{{- if or (regexMatch "^[0-9]{1,3}(\\.[0-9]{1,3}){3}$" .) (contains ":" .) }}true{{ end -}}
{{- end }}

{{/* The TLS server name of an upstream: its sni, else the one host that all its addresses share, else empty. */}}
{{- define "gateway.sni" -}}
{{- if .tls.sni }}{{ .tls.sni }}{{ else -}}
{{- $names := list -}}
{{- range .hosts }}{{ $names = append $names (include "gateway.hostOf" .) }}{{ end -}}
{{- $names = uniq $names -}}
{{- if and (eq (len $names) 1) (not (include "gateway.isIP" (first $names))) }}{{ first $names }}{{ end -}}
{{- end -}}
{{- end }}

{{/* The hosts that a listener answers, as a JSON list: {root, listener}. */}}
{{- define "gateway.domains" -}}
{{- $domains := .root.Values.hostnames | default (list "*") -}}
{{- range .listener.routes }}{{ $domains = concat $domains (.hosts | default list) }}{{ end -}}
{{- $domains | uniq | toJson -}}
{{- end }}

{{/* "true" if a route answers a host: {root, route, domain}. */}}
{{- define "gateway.answers" -}}
{{- if has .domain (.route.hosts | default .root.Values.hostnames | default (list "*")) }}true{{ end -}}
{{- end }}
