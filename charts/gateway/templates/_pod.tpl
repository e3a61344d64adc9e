{{/*
metadata of the pods. It holds nothing of the chart's name or version beyond the selector: what is the same before and after
an upgrade must not replace a pod. The hash is of Envoy's files, which Envoy reads at its start alone.
*/}}
{{- define "gateway.podMetadata" -}}
labels:
  {{- $selector := include "gateway.selectorLabels" . | fromYaml }}
  {{- include "gateway.entries" (list $selector .Values.podLabels .Values.commonLabels) | nindent 2 }}
annotations:
  {{- $own := dict "checksum/config" (include "gateway.files" . | sha256sum) }}
  {{- include "gateway.entries" (list $own .Values.podAnnotations .Values.commonAnnotations) | nindent 2 }}
{{- end }}

{{- define "gateway.container" -}}
name: envoy
image: {{ include "gateway.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy | default "IfNotPresent" }}
command: [/usr/local/bin/envoy]
args:
  - --config-path
  - /etc/gateway/config/envoy.yaml
  - --log-level
  - {{ .Values.logLevel | default "info" | quote }}
  # A pod never starts a second Envoy beside the first, and shared memory for that would be a writable path.
  - --disable-hot-restart
  {{- with .Values.concurrency }}
  - --concurrency
  - {{ int . | quote }}
  {{- end }}
ports:
  {{- range .Values.listeners }}
  - {name: {{ .name | quote }}, containerPort: {{ int .port }}, protocol: TCP}
  {{- end }}
  - {name: status, containerPort: {{ int .Values.status.port }}, protocol: TCP}
{{- include "gateway.probes" . }}
lifecycle:
  preStop:
    {{- include "gateway.preStop" . | nindent 4 }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - {name: config, mountPath: /etc/gateway/config, readOnly: true}
  {{- if .Values.tls.enabled }}
  - {name: tls, mountPath: /etc/gateway/tls, readOnly: true}
  {{- end }}
  {{- if .Values.trustedCA.name }}
  - {name: trusted-ca, mountPath: /etc/gateway/trusted-ca, readOnly: true}
  {{- end }}
{{- end }}

{{- define "gateway.probes" -}}
{{- $paths := dict "startupProbe" "/ready" "readinessProbe" "/ready" "livenessProbe" "/live" -}}
{{- range $probe, $path := $paths }}
{{- with get $.Values $probe }}
{{ $probe }}:
  httpGet: {path: {{ $path }}, port: status}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The kubelet cannot reach the admin interface on loopback, so with Exec bash does, from within. The sleep runs whatever came
of the call: it is what lets endpoints and load balancers forget the pod.
*/}}
{{- define "gateway.preStop" -}}
{{- $seconds := int .Values.drain.seconds -}}
{{- if eq .Values.drain.mode "Sleep" -}}
sleep: {seconds: {{ $seconds }}}
{{- else -}}
exec:
  command:
    - bash
    - -c
    - |
      (
        exec 3<>/dev/tcp/127.0.0.1/{{ int .Values.admin.port }}
        printf 'POST /healthcheck/fail HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' >&3
        cat <&3 >/dev/null
      )
      sleep {{ $seconds }}
{{- end -}}
{{- end }}

{{- define "gateway.volumes" -}}
- name: config
  configMap:
    name: {{ include "gateway.fullname" . | quote }}
{{- if .Values.tls.enabled }}
- name: tls
  secret:
    secretName: {{ .Values.tls.secret.name | quote }}
{{- end }}
{{- if .Values.trustedCA.name }}
- name: trusted-ca
  configMap:
    name: {{ .Values.trustedCA.name | quote }}
{{- end }}
{{- end }}

{{- define "gateway.topologySpreadConstraints" -}}
{{- $selector := dict "matchLabels" (include "gateway.selectorLabels" . | fromYaml) -}}
{{- $constraints := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $constraints = append $constraints (hasKey . "labelSelector" | ternary . (set (deepCopy .) "labelSelector" $selector)) -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end }}
