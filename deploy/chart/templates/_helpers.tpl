{{- define "poolkeeper.name" -}}
{{- if contains "poolkeeper" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-poolkeeper" (.Release.Name | trunc 39 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "poolkeeper.selector" -}}
app.kubernetes.io/name: poolkeeper
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "poolkeeper.labels" -}}
{{ include "poolkeeper.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "poolkeeper.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "poolkeeper.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "poolkeeper.image" -}}
{{- $image := required "Say where the image was pushed: --set image.repository=registry.example.org/poolkeeper" .Values.image.repository }}
{{- if .Values.image.digest }}{{ $image }}@{{ .Values.image.digest }}{{ else }}{{ $image }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* "true" where Poolkeeper works with the cluster it runs in. */}}
{{- define "poolkeeper.inCluster" -}}
{{- if and .Values.cgpu.enabled (not .Values.cgpu.kubeconfig.secret) }}true{{ end }}
{{- end }}

{{/* The port of an address: what it says, or its scheme's. */}}
{{- define "poolkeeper.port" -}}
{{- $url := urlParse . }}
{{- if regexMatch ":[0-9]+$" $url.host }}{{ regexFind "[0-9]+$" $url.host }}{{ else if eq $url.scheme "http" }}80{{ else }}443{{ end }}
{{- end }}

{{/* Where the secrets are mounted: a directory for each, and its files named as the settings are. */}}
{{- define "poolkeeper.secrets" -}}
- path: CLEARML_API_ACCESS_KEY
  secret: {{ .Values.clearml.secret.name }}
  key: {{ .Values.clearml.secret.accessKey }}
- path: CLEARML_API_SECRET_KEY
  secret: {{ .Values.clearml.secret.name }}
  key: {{ .Values.clearml.secret.secretKey }}
{{- if eq .Values.database.kind "postgresql" }}
- path: POOLKEEPER_DATABASE
  secret: {{ .Values.database.secret.name }}
  key: {{ .Values.database.secret.url }}
{{- end }}
{{- if ne .Values.slack.mode "none" }}
- path: SLACK_BOT_TOKEN
  secret: {{ .Values.slack.secret.name }}
  key: {{ .Values.slack.secret.botToken }}
{{- end }}
{{- if eq .Values.slack.mode "socket" }}
- path: SLACK_APP_TOKEN
  secret: {{ .Values.slack.secret.name }}
  key: {{ .Values.slack.secret.appToken }}
{{- end }}
{{- if eq .Values.slack.mode "http" }}
- path: SLACK_SIGNING_SECRET
  secret: {{ .Values.slack.secret.name }}
  key: {{ .Values.slack.secret.signingSecret }}
{{- end }}
{{- end }}

{{/* Further files, each in /etc/poolkeeper/<name>. */}}
{{- define "poolkeeper.files" -}}
{{- with .Values.clearml.ca }}
{{- if .secret }}
- {name: clearml, secret: {{ .secret }}, key: {{ .key }}, path: ca.crt}
{{- end }}
{{- end }}
{{- with .Values.database.ca }}
{{- if and .secret (eq $.Values.database.kind "postgresql") }}
- {name: database, secret: {{ .secret }}, key: {{ .key }}, path: ca.crt}
{{- end }}
{{- end }}
{{- with .Values.cgpu.kubeconfig }}
{{- if and .secret $.Values.cgpu.enabled }}
- {name: kubernetes, secret: {{ .secret }}, key: {{ .key }}, path: kubeconfig}
{{- end }}
{{- end }}
{{- end }}
