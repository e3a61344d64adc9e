{{- define "gateway.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* A release's name may hold dots, a Service's must not. */}}
{{- define "gateway.fullname" -}}
{{- $name := include "gateway.name" . -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $derived := contains $name $release | ternary $release (printf "%s-%s" $release $name) -}}
{{- .Values.fullnameOverride | default $derived | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.name -}}
{{ .Values.serviceAccount.name }}
{{- else if .Values.serviceAccount.create -}}
{{ include "gateway.fullname" . }}
{{- else -}}
default
{{- end -}}
{{- end }}

{{/* A digest without a tag stays without one: beside a digest the chart's own tag would only mislead. */}}
{{- define "gateway.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}
{{- if .Values.image.tag }}:{{ .Values.image.tag }}{{ else if not .Values.image.digest }}:v{{ .Chart.AppVersion }}{{ end }}
{{- with .Values.image.digest }}@{{ . }}{{ end -}}
{{- end }}

{{/* These end in an immutable field of the Deployment, so they hold nothing that a user or a new chart could change. */}}
{{- define "gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gateway.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* The chart's version is left out everywhere: Flux appends a digest to it, and a release must be adoptable without new pods. */}}
{{- define "gateway.labels" -}}
{{- $own := include "gateway.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{ include "gateway.entries" (list $own .Values.commonLabels) }}
{{- end }}

{{/* The entries of maps of strings, each on a line of its own, the first map winning. An entry that is null is removed. */}}
{{- define "gateway.entries" -}}
{{- $all := dict -}}
{{- range . }}{{ $all = merge $all (. | default dict) }}{{ end -}}
{{- $lines := list -}}
{{- range $key, $value := $all -}}
{{- if not (kindIs "invalid" $value) }}{{ $lines = append $lines (printf "%s: %s" (quote $key) (quote $value)) }}{{ end -}}
{{- end -}}
{{- join "\n" $lines -}}
{{- end }}

{{/* metadata of an object: {root, name (default: the fullname), annotations}. */}}
{{- define "gateway.metadata" -}}
name: {{ .name | default (include "gateway.fullname" .root) | quote }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "gateway.labels" .root | nindent 2 }}
{{- with include "gateway.entries" (list .annotations .root.Values.commonAnnotations) }}
annotations:
  {{- nindent 2 . }}
{{- end }}
{{- end }}
