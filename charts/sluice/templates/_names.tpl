{{- define "sluice.fullname" -}}
{{- $derived := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- $derived | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "sluice.metricsName" -}}
{{- printf "%s-metrics" (include "sluice.fullname" . | trunc 55 | trimSuffix "-") -}}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: sluice
{{- end }}

{{- define "sluice.image" -}}
{{- .Values.image.repository }}
{{- if .Values.image.tag }}:{{ .Values.image.tag }}{{ else if not .Values.image.digest }}:v{{ .Chart.AppVersion }}{{ end }}
{{- with .Values.image.digest }}@{{ . }}{{ end -}}
{{- end }}

{{- /* Of one of watchChildren: its API group, "" for the core group. */ -}}
{{- define "sluice.group" -}}
{{- if contains "/" .apiVersion }}{{ first (splitList "/" .apiVersion) }}{{ end -}}
{{- end }}

{{- /* Of one of watchChildren: the plural that RBAC knows it by. */ -}}
{{- define "sluice.resource" -}}
{{- $name := lower .kind -}}
{{- if .resource }}{{ .resource -}}
{{- else if hasSuffix "s" $name }}{{ $name }}es
{{- else if regexMatch "[^aeiou]y$" $name }}{{ trimSuffix "y" $name }}ies
{{- else }}{{ $name }}s
{{- end -}}
{{- end }}

{{- /* watchChildren as the flag takes them. */ -}}
{{- define "sluice.watchChildren" -}}
{{- $kinds := list -}}
{{- range $i, $child := .Values.watchChildren -}}
{{- if not (and $child.apiVersion $child.kind) -}}
{{- fail (printf "watchChildren[%d] needs apiVersion and kind, as in {apiVersion: apps/v1, kind: Deployment}" $i) -}}
{{- end -}}
{{- if and (or (eq $child.kind "Secret") (eq (include "sluice.resource" $child) "secrets")) (eq (include "sluice.group" $child) "") -}}
{{- fail (printf "watchChildren[%d]: Secrets are never watched, leave it out: Flux corrects them at its interval" $i) -}}
{{- end -}}
{{- if not (regexMatch "^([a-z0-9.-]+/)?v[0-9][a-z0-9]*/[a-z0-9-]+$" (printf "%s/%s" $child.apiVersion (include "sluice.resource" $child))) -}}
{{- fail (printf "watchChildren[%d]: %s of %s is no resource: wildcards are not granted" $i (include "sluice.resource" $child) $child.apiVersion) -}}
{{- end -}}
{{- $kind := printf "%s/%s" $child.apiVersion $child.kind -}}
{{- if has $kind $kinds -}}
{{- fail (printf "watchChildren[%d]: %s is in the list twice; remove one" $i $kind) -}}
{{- end -}}
{{- $kinds = append $kinds $kind -}}
{{- end -}}
{{- join "," $kinds -}}
{{- end }}

{{- /* A constraint on where pods lie, about the operator's own pods unless it says which. */ -}}
{{- define "sluice.topologySpread" -}}
{{- $all := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "sluice.selector" $ | fromYaml)) -}}
{{- $all = append $all (hasKey . "labelSelector" | ternary . (merge (dict) . $own)) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{- /* Refuses labels of a value that would replace the chart's own: the selector is among them. Of a list: the root, the
value's name, the value. */ -}}
{{- define "sluice.refuseOwnLabels" -}}
{{- $own := include "sluice.labels" (index . 0) | fromYaml -}}
{{- $field := index . 1 -}}
{{- range $key, $_ := index . 2 -}}
{{- if hasKey $own $key -}}
{{- fail (printf "%s: %s is set by the chart; remove it" $field $key) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* Labels of pods. */ -}}
{{- define "sluice.podLabels" -}}
{{- include "sluice.refuseOwnLabels" (list . "podLabels" .Values.podLabels) -}}
{{- toYaml (merge (include "sluice.labels" . | fromYaml) .Values.podLabels) -}}
{{- end }}
