{{- define "gatehouse.name" -}}
{{- if contains "gatehouse" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-gatehouse" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "gatehouse.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The environment of serve and of migrate. */}}
{{- define "gatehouse.environment" -}}
- name: GATEHOUSE_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
{{- with .Values.trustedProxies }}
- name: GATEHOUSE_TRUSTED_PROXIES
  value: {{ join "," . | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $key := dict "GATEHOUSE_DATABASE_URL" "database-url" "GATEHOUSE_MASTER_KEY" "master-key" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $.Values.existingSecret }}, key: {{ $key }} }
{{- end }}
{{- range $name, $key := dict "GATEHOUSE_OPERATOR_TOKEN" "operator-token" "GATEHOUSE_REDIS_URL" "redis-url" "GATEHOUSE_SMTP_URL" "smtp-url" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $.Values.existingSecret }}, key: {{ $key }}, optional: true }
{{- end }}
{{- end }}

{{- define "gatehouse.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "gatehouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
