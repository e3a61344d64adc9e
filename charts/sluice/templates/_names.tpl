{{- define "sluice.fullname" -}}
{{- $derived := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- $derived | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
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
