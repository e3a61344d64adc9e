{{/*
Faults that a schema cannot state, since they lie between values. All are reported at once, each with what would be right.
A value that would have no effect is a fault too.
*/}}
{{- define "gateway.validate" -}}
{{- $faults := list -}}
{{- range list "names" "keys" "ports" "tls" "upstreams" "routes" "pods" "service" -}}
{{- range include (printf "gateway.faults.%s" .) $ | splitList "\n" -}}
{{- with trim . }}{{ $faults = append $faults (printf "- %s" .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $faults }}{{ fail (printf "these values cannot work:\n%s\n" (uniq $faults | join "\n")) }}{{ end -}}
{{- end }}

{{- define "gateway.faults.names" -}}
{{- $fullname := include "gateway.fullname" . }}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $fullname) }}
fullnameOverride: must be set, since the Service would be named {{ $fullname }}, and its name must begin with a letter and end in a letter or digit
{{- end }}
{{- $listeners := dict "status" "the listener of the probes" }}
{{- range $index, $listener := .Values.listeners }}
{{- with get $listeners $listener.name }}
listeners[{{ $index }}] ({{ $listener.name }}): the name is taken by {{ . }}; give each listener a name of its own
{{- end }}
{{- $_ := set $listeners $listener.name (printf "listeners[%d]" $index) }}
{{- end }}
{{- $upstreams := dict }}
{{- range $index, $upstream := .Values.upstreams }}
{{- with get $upstreams $upstream.name }}
upstreams[{{ $index }}] ({{ $upstream.name }}): the name is taken by {{ . }}; give each upstream a name of its own
{{- end }}
{{- $_ := set $upstreams $upstream.name (printf "upstreams[%d]" $index) }}
{{- end }}
{{- end }}

{{/* The keys of labels and annotations, where the schema could only say that one is wrong. */}}
{{- define "gateway.faults.keys" -}}
{{- $labels := dict "commonLabels" .Values.commonLabels "podLabels" .Values.podLabels "nodeSelector" .Values.nodeSelector }}
{{- range $where, $map := $labels }}
{{- range $key, $_ := $map }}
{{- if not (include "gateway.isKey" $key) }}
{{ $where }}: {{ quote $key }} is not the key of a label; {{ include "gateway.keyForm" . }}
{{- end }}
{{- end }}
{{- end }}
{{- $annotations := dict "commonAnnotations" .Values.commonAnnotations "podAnnotations" .Values.podAnnotations }}
{{- $_ := set $annotations "service.annotations" .Values.service.annotations }}
{{- $_ := set $annotations "serviceAccount.annotations" .Values.serviceAccount.annotations }}
{{- range $where, $map := $annotations }}
{{- range $key, $_ := $map }}
{{- if not (include "gateway.isKey" (lower $key)) }}
{{ $where }}: {{ quote $key }} is not the key of an annotation; {{ include "gateway.keyForm" . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gateway.faults.ports" -}}
{{- $pod := dict (.Values.admin.port | int | toString) "admin.port" }}
{{- $statusPort := .Values.status.port | int | toString }}
{{- with get $pod $statusPort }}
status.port: {{ $statusPort }} is taken by {{ . }}; choose another
{{- end }}
{{- $_ := set $pod $statusPort "status.port" }}
{{- $service := dict }}
{{- $node := dict }}
{{- range $index, $listener := .Values.listeners }}
{{- $where := printf "listeners[%d] (%s)" $index $listener.name }}
{{- $port := $listener.port | int | toString }}
{{- with get $pod $port }}
{{ $where }}: port {{ $port }} is taken by {{ . }}; give each listener a port of its own
{{- end }}
{{- $_ := set $pod $port $where }}
{{- $servicePort := $listener.servicePort | default $listener.port | int | toString }}
{{- with get $service $servicePort }}
{{ $where }}: servicePort {{ $servicePort }} is taken by {{ . }}; give each listener a servicePort of its own
{{- end }}
{{- $_ := set $service $servicePort $where }}
{{- with $listener.nodePort }}
{{- $nodePort := . | int | toString }}
{{- with get $node $nodePort }}
{{ $where }}: nodePort {{ $nodePort }} is taken by {{ . }}; give each listener a nodePort of its own
{{- end }}
{{- $_ := set $node $nodePort $where }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gateway.faults.tls" -}}
{{- $https := list }}
{{- range .Values.listeners }}{{ if eq .protocol "HTTPS" }}{{ $https = append $https .name }}{{ end }}{{ end }}
{{- $tls := .Values.tls }}
{{- range $index, $listener := .Values.listeners }}
{{- if and (eq $listener.protocol "HTTPS") (not $tls.enabled) }}
listeners[{{ $index }}] ({{ $listener.name }}): protocol HTTPS needs a certificate; set tls.enabled: true and tls.secret.name, or protocol: HTTP
{{- end }}
{{- end }}
{{- if and $tls.enabled (not $tls.secret.name) }}
tls.secret.name: is empty while tls.enabled is true; name a Secret with {{ $tls.secret.certKey }} and {{ $tls.secret.privateKeyKey }}
{{- end }}
{{- if and $tls.enabled (not $https) }}
tls.enabled: is true, but no listener has protocol HTTPS, so the certificate would not be used; add such a listener, or set tls.enabled: false
{{- end }}
{{- if and $tls.secret.name (not $tls.enabled) }}
tls.secret.name: is set while tls.enabled is false, so the certificate would not be used; set tls.enabled: true, or remove the name
{{- end }}
{{- end }}

{{- define "gateway.faults.upstreams" -}}
{{- range $index, $upstream := .Values.upstreams }}
{{- $where := printf "upstreams[%d] (%s)" $index $upstream.name }}
{{- $type := $upstream.type | default "STRICT_DNS" }}
{{- if and (eq $type "LOGICAL_DNS") (ne (len $upstream.hosts) 1) }}
{{ $where }}: type LOGICAL_DNS takes one host, and {{ len $upstream.hosts }} are given; keep one, or use STRICT_DNS
{{- end }}
{{- range $upstream.hosts }}
{{- $host := include "gateway.hostOf" . }}
{{- if not (include "gateway.isIP" $host) }}
{{- if or (contains ":" $host) (regexMatch "^[0-9.]*\\.[0-9.]*$" $host) }}
{{ $where }}: {{ . }} looks like an IP address and is none; give an IP address or a name
{{- else if eq $type "STATIC" }}
{{ $where }}: type STATIC takes IP addresses, and {{ . }} is a name; use STRICT_DNS
{{- end }}
{{- end }}
{{- if gt (include "gateway.portOf" . | int) 65535 }}
{{ $where }}: {{ . }} has a port above 65535
{{- end }}
{{- end }}
{{- with ($upstream.healthCheck).host }}
{{- if and (contains ":" .) (gt (include "gateway.portOf" . | int) 65535) }}
{{ $where }}: healthCheck.host {{ . }} has a port above 65535
{{- end }}
{{- end }}
{{- if and ($upstream.tls).enabled (not (include "gateway.sni" $upstream)) }}
{{ $where }}: tls.sni is needed, since the hosts are not one single name whose certificate could be asked for
{{- end }}
{{- end }}
{{- end }}

{{- define "gateway.faults.pods" -}}
{{- if le (int .Values.terminationGracePeriodSeconds) (int .Values.drain.seconds) }}
terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }} ends the pod before drain.seconds ({{ int .Values.drain.seconds }}) have passed; make it greater
{{- end }}
{{- range $map := list "commonLabels" "podLabels" }}
{{- range $key := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/managed-by" }}
{{- if hasKey (get $.Values $map | default dict) $key }}
{{ $map }}: {{ $key }} is set by the chart; remove it (nameOverride changes the name)
{{- end }}
{{- end }}
{{- end }}
{{- range $map := list "commonAnnotations" "podAnnotations" }}
{{- if hasKey (get $.Values $map | default dict) "checksum/config" }}
{{ $map }}: checksum/config is set by the chart; remove it
{{- end }}
{{- end }}
{{- if and .Values.accessLog.enabled (eq (.Values.accessLog.format | default "json") "json") (not (include "gateway.entries" (list .Values.accessLog.json))) }}
accessLog.json: has no field left while accessLog.format is json, so there is nothing to log; keep one, or set accessLog.enabled: false
{{- end }}
{{- if and .Values.accessLog.text (ne (.Values.accessLog.format | default "json") "text") }}
accessLog.text: is set while accessLog.format is json, so it would not be used; set accessLog.format: text
{{- end }}
{{- end }}
