{{- define "sluice.subjects" -}}
- kind: ServiceAccount
  name: {{ include "sluice.fullname" . }}
  namespace: {{ .Release.Namespace | quote }}
{{- end }}

{{- /* What the operator may do where it serves gateways. */ -}}
{{- define "sluice.namespaceRules" -}}
# Of a gateway it writes the finalizer (patch) and the status.
- apiGroups: [gateway.sluice.dev]
  resources: [apigateways]
  verbs: [get, list, watch, patch]
- apiGroups: [gateway.sluice.dev]
  resources: [apigateways/status]
  verbs: [update]
# To name a gateway as an owner whose deletion waits (blockOwnerDeletion).
- apiGroups: [gateway.sluice.dev]
  resources: [apigateways/finalizers]
  verbs: [update]
- apiGroups: [helm.toolkit.fluxcd.io]
  resources: [helmreleases]
  verbs: [get, list, watch, create, update, delete]
- apiGroups: [source.toolkit.fluxcd.io]
  resources: [ocirepositories]
  verbs: [get, list, watch, create, update, delete]
# Watched by name and version; read where a gateway's configRef names one.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch]
# To tell why a deletion waits, or that it must not.
- apiGroups: [""]
  resources: [namespaces, serviceaccounts]
  verbs: [get]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- range .Values.watchChildren }}
# Watched for what somebody does to the objects of releases (--watch-children).
- apiGroups: [{{ include "sluice.group" . | quote }}]
  resources: [{{ include "sluice.resource" . }}]
  verbs: [list, watch]
{{- end }}
{{- end }}
