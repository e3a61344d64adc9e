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

{{/*
"true" if the host is an IP address that Envoy can parse, else empty. An IPv6 address has eight groups, or fewer around a
"::", which stands for one at least; its last two may be written as an IPv4 address.
*/}}
{{- define "gateway.isIP" -}}
{{- $byte := "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])" -}}
{{- $four := printf "%s(\\.%s){3}$" $byte $byte -}}
{{- $groups := "([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)" -}}
{{- $six := regexReplaceAll (printf ":%s" $four) . ":0:0" -}}
{{- $count := len (regexFindAll "[0-9a-fA-F]+" $six -1) -}}
{{- if regexMatch (printf "^%s" $four) . -}}
true
{{- else if regexMatch (printf "^%s?::%s?$" $groups $groups) $six -}}
{{- if lt $count 8 }}true{{ end -}}
{{- else if regexMatch (printf "^%s$" $groups) $six -}}
{{- if eq $count 8 }}true{{ end -}}
{{- end -}}
{{- end }}

{{/* "true" if an address and the length of its prefix are given, as in 10.0.0.0/8, else empty. */}}
{{- define "gateway.isCIDR" -}}
{{- $address := regexReplaceAll "/[0-9]+$" . "" -}}
{{- $bits := contains ":" $address | ternary 128 32 -}}
{{- if and (include "gateway.isIP" $address) (regexMatch "/(0|[1-9][0-9]{0,2})$" .) -}}
{{- if le (regexFind "[0-9]+$" . | int) $bits }}true{{ end -}}
{{- end -}}
{{- end }}

{{/*
"true" if Kubernetes takes it as the key of a label, else empty: a name, or the prefix of a domain, a slash and a name. The
capital letters that the prefix of an annotation may have are for the caller to lower.
*/}}
{{- define "gateway.isKey" -}}
{{- $name := splitList "/" . | last -}}
{{- $prefix := trimSuffix (printf "/%s" $name) . -}}
{{- $domain := "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" -}}
{{- if regexMatch "^[a-zA-Z0-9]([-._a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$" $name -}}
{{- if or (eq $prefix .) (and (regexMatch $domain $prefix) (le (len $prefix) 253)) }}true{{ end -}}
{{- end -}}
{{- end }}
{{- define "gateway.keyForm" -}}
write name or domain/name, the name of at most 63 letters, digits, -, _ and . between a letter or digit at either end
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
