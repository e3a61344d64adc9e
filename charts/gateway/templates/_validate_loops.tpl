{{/*
Redirects that lead back to themselves, which a client would follow without end: {where, root, listener, domain}. Told are
those that one route makes alone. The port that clients see is taken to be the Service's. A new host that only a wildcard of
the route would answer is taken to be served elsewhere, as most are.
*/}}
{{- define "gateway.faults.loops" -}}
{{- $context := . }}
{{- $earlier := list }}
{{- range $index, $route := .listener.routes }}
{{- if include "gateway.answers" (dict "root" $context.root "route" $route "domain" $context.domain) }}
{{- with $route.redirect }}
{{- $target := $route }}
{{- if .path }}{{ $target = dict "path" .path }}{{ end }}
{{- $returns := include "gateway.hides" (dict "earlier" $route "later" $target) }}
{{- range $earlier }}{{ if include "gateway.hides" (dict "earlier" . "later" $target) }}{{ $returns = "" }}{{ end }}{{ end }}
{{- $stays := include "gateway.stays" (dict "redirect" . "listener" $context.listener "domain" $context.domain) }}
{{- if and $returns $stays }}
{{ $context.where }}: routes[{{ $index }}] ({{ $route.path | default $route.pathPrefix | default "/" }}): redirect leads back to itself for host {{ .host | default $context.domain }}; change its https, host, port or path, or put a route for its target before it
{{- end }}
{{- end }}
{{- $earlier = append $earlier $route }}
{{- end }}
{{- end }}
{{- end }}

{{/*
"true" if a redirect leads to the listener and domain where it stands, else empty: {redirect, listener, domain}. Envoy
keeps the port of a request, but with a new host it leaves the port out.
*/}}
{{- define "gateway.stays" -}}
{{- $listener := .listener -}}
{{- $secure := eq $listener.protocol "HTTPS" -}}
{{- $host := .redirect.host | default "" -}}
{{- $ownHost := or (not $host) (eq .domain $host) -}}
{{- $ownPort := true -}}
{{- if or $host .redirect.port -}}
{{- $port := .redirect.port | default (ternary 443 80 $secure) | int -}}
{{- $ownPort = eq $port ($listener.servicePort | default $listener.port | int) -}}
{{- end -}}
{{- $changes := or .redirect.https $host .redirect.port .redirect.path -}}
{{- if and $changes $ownHost $ownPort (or $secure (not .redirect.https)) }}true{{ end -}}
{{- end }}
