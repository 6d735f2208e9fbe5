{{/* What all parts share. Each is called with (dict "root" $ "part" "scheduler"). */}}

{{- define "topospread.name" -}}
{{ printf "%s-%s" .root.Release.Name .part | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "topospread.selector" -}}
app.kubernetes.io/name: topospread
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "topospread.labels" -}}
{{ include "topospread.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "topospread.metadata" -}}
name: {{ include "topospread.name" . }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "topospread.labels" . | nindent 2 }}
{{- end }}

{{- define "topospread.image" -}}
{{- with .root.Values.image }}
image: {{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.root.Chart.AppVersion }}{{ end }}
imagePullPolicy: {{ .pullPolicy }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Replicas keep apart: over zones and over nodes, revision by revision. */}}
{{- define "topospread.pod" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "topospread.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: {{ .root.Values.topologyKey }}
    whenUnsatisfiable: {{ .root.Values.whenUnsatisfiable }}
    nodeTaintsPolicy: Honor
    labelSelector:
      matchLabels:
        {{- include "topospread.selector" . | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "topospread.selector" . | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}

{{/* Where a part's certificate is: the Secret that is named, or the one that cert-manager makes. */}}
{{- define "topospread.secret" -}}
{{ (index .root.Values .part).secretName | default (printf "%s-tls" (include "topospread.name" .)) }}
{{- end }}

{{- define "topospread.certificate" -}}
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  {{- include "topospread.metadata" . | nindent 2 }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  {{- include "topospread.metadata" . | nindent 2 }}
spec:
  secretName: {{ include "topospread.secret" . }}
  dnsNames: [{{ include "topospread.name" . }}.{{ .root.Release.Namespace }}.svc]
  issuerRef: {name: {{ include "topospread.name" . }}}
{{- end }}

{{- define "topospread.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "topospread.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "topospread.selector" . | nindent 6 }}
{{- end }}
