{{- define "gateway.faults.routes" -}}
{{- $known := list }}
{{- range .Values.upstreams }}{{ $known = append $known .name }}{{ end }}
{{- range $listenerIndex, $listener := .Values.listeners }}
{{- range $index, $route := $listener.routes }}
{{- $where := printf "listeners[%d] (%s): routes[%d]" $listenerIndex $listener.name $index }}
{{- include "gateway.faults.route" (dict "where" $where "route" $route "known" $known) }}
{{- end }}
{{- range include "gateway.domains" (dict "root" $ "listener" $listener) | fromJsonArray }}
{{- $where := printf "listeners[%d] (%s)" $listenerIndex $listener.name }}
{{- $context := dict "where" $where "root" $ "listener" $listener "domain" . }}
{{- include "gateway.faults.order" $context }}
{{- include "gateway.faults.loops" $context }}
{{- end }}
{{- end }}
{{- end }}

{{/* One route by itself: {where, route, known}. */}}
{{- define "gateway.faults.route" -}}
{{- $route := .route }}
{{- if and $route.path $route.pathPrefix }}
{{ .where }}: has path and pathPrefix; keep one of them
{{- end }}
{{- range $key := list "path" "pathPrefix" }}
{{- with get $route $key }}
{{- if or (contains "//" .) (regexMatch "/\\.{1,2}(/|$)" .) (regexMatch "(?i)%(2f|5c)|[^ -~]" .) }}
{{ $.where }}: {{ $key }} {{ . }} never matches, since Envoy normalizes the path of a request first; write it without //, /./, /../, %2F and %5C, and characters beyond ASCII percent-encoded
{{- end }}
{{- end }}
{{- end }}
{{- with $route.hostRewrite }}
{{- if and (contains ":" .) (gt (include "gateway.portOf" . | int) 65535) }}
{{ $.where }}: hostRewrite {{ . }} has a port above 65535
{{- end }}
{{- end }}
{{- if and $route.upstream $route.redirect }}
{{ .where }}: has upstream and redirect; keep one of them
{{- else if $route.redirect }}
{{- range list "prefixRewrite" "hostRewrite" "timeout" "retries" }}
{{- if get $route . }}
{{ $.where }}: {{ . }} is for routes with an upstream, and this one has a redirect; remove it
{{- end }}
{{- end }}
{{- if not (or $route.redirect.https $route.redirect.host $route.redirect.port $route.redirect.path) }}
{{ .where }}: redirect leads back to itself; set https, host, port or path
{{- end }}
{{- else if not (has $route.upstream .known) }}
{{ .where }}: upstream {{ $route.upstream }} is not in upstreams; {{ if .known }}known are {{ join ", " .known }}{{ else }}add it, upstreams is empty{{ end }}
{{- end }}
{{- end }}

{{/*
Routes of one host that an earlier one hides, the first match being taken: {where, root, listener, domain}. One that is
reached for another of its hosts has its purpose.
*/}}
{{- define "gateway.faults.order" -}}
{{- $context := . }}
{{- $earlier := list }}
{{- range $index, $route := .listener.routes }}
{{- if include "gateway.answers" (dict "root" $context.root "route" $route "domain" $context.domain) }}
{{- range $earlier }}
{{- if and (include "gateway.hides" (dict "earlier" .route "later" $route)) (not (include "gateway.reached" (dict "root" $context.root "listener" $context.listener "index" $index))) }}
{{ $context.where }}: routes[{{ $index }}] ({{ $route.path | default $route.pathPrefix | default "/" }}) is never reached for host {{ $context.domain }}, since routes[{{ .index }}] ({{ .route.path | default .route.pathPrefix | default "/" }}) matches first; put the more specific one first
{{- end }}
{{- end }}
{{- $earlier = append $earlier (dict "index" $index "route" $route) }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" if no earlier route hides a route for one of its hosts at least: {root, listener, index}. */}}
{{- define "gateway.reached" -}}
{{- $context := . -}}
{{- $route := index .listener.routes .index -}}
{{- $reached := "" -}}
{{- range $domain := include "gateway.domains" . | fromJsonArray -}}
{{- if include "gateway.answers" (dict "root" $context.root "route" $route "domain" $domain) -}}
{{- $hidden := "" -}}
{{- range slice $context.listener.routes 0 $context.index -}}
{{- if include "gateway.answers" (dict "root" $context.root "route" . "domain" $domain) -}}
{{- if include "gateway.hides" (dict "earlier" . "later" $route) }}{{ $hidden = "true" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if not $hidden }}{{ $reached = "true" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $reached -}}
{{- end }}

{{/* "true" if all that the later route matches is matched by the earlier one. */}}
{{- define "gateway.hides" -}}
{{- $later := .later.path | default .later.pathPrefix | default "/" -}}
{{- if .earlier.path -}}
{{- if and .later.path (eq .earlier.path $later) }}true{{ end -}}
{{- else -}}
{{- $prefix := .earlier.pathPrefix | default "/" | trimSuffix "/" -}}
{{- if or (eq $later $prefix) (hasPrefix (printf "%s/" $prefix) $later) }}true{{ end -}}
{{- end -}}
{{- end }}

{{- define "gateway.faults.service" -}}
{{- $service := .Values.service }}
{{- range $index, $listener := .Values.listeners }}
{{- if and $listener.nodePort (eq $service.type "ClusterIP") }}
listeners[{{ $index }}] ({{ $listener.name }}): nodePort needs service.type NodePort or LoadBalancer, and it is ClusterIP; change the type, or remove nodePort
{{- end }}
{{- end }}
{{- range $service.loadBalancerSourceRanges }}
{{- if not (include "gateway.isCIDR" .) }}
service.loadBalancerSourceRanges: {{ . }} is no range of addresses; write an address and the length of its prefix, as in 10.0.0.0/8
{{- end }}
{{- end }}
{{- with $service.loadBalancerClass }}
{{- if not (include "gateway.isKey" .) }}
service.loadBalancerClass: {{ quote . }} is no class; {{ include "gateway.keyForm" . }}
{{- end }}
{{- end }}
{{- if and $service.externalTrafficPolicy (eq $service.type "ClusterIP") }}
service.externalTrafficPolicy: needs service.type NodePort or LoadBalancer, and it is ClusterIP; remove it
{{- end }}
{{- range list "loadBalancerClass" "loadBalancerSourceRanges" }}
{{- if and (get $service .) (ne $service.type "LoadBalancer") }}
service.{{ . }}: needs service.type LoadBalancer, and it is {{ $service.type }}; remove it
{{- end }}
{{- end }}
{{- include "gateway.faults.autoscaling" . }}
{{- end }}

{{- define "gateway.faults.autoscaling" -}}
{{- $scaling := .Values.autoscaling }}
{{- if $scaling.enabled }}
{{- if lt (int $scaling.maxReplicas) (int .Values.replicaCount) }}
autoscaling.maxReplicas: {{ int $scaling.maxReplicas }} is below replicaCount ({{ int .Values.replicaCount }}), which is the minimum; raise it, or lower replicaCount
{{- end }}
{{- if and (not (kindIs "invalid" .Values.replicaCount)) (eq (int .Values.replicaCount) 0) }}
replicaCount: 0 cannot be the minimum of an autoscaler; raise it, or set autoscaling.enabled: false
{{- end }}
{{- if not (or $scaling.targetCPUUtilizationPercentage $scaling.targetMemoryUtilizationPercentage) }}
autoscaling: has no target; set targetCPUUtilizationPercentage or targetMemoryUtilizationPercentage
{{- end }}
{{- $requests := (.Values.resources).requests | default dict }}
{{- range $resource, $target := dict "cpu" $scaling.targetCPUUtilizationPercentage "memory" $scaling.targetMemoryUtilizationPercentage }}
{{- if and $target (not (get $requests $resource)) }}
autoscaling: a target for {{ $resource }} is a share of resources.requests.{{ $resource }}, which is not set; set it, or set the target to 0
{{- end }}
{{- end }}
{{- end }}
{{- end }}
