{{- define "penstock.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "penstock.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "penstock.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "penstock.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels by which a component is selected: (dict "root" . "component" "agent") */}}
{{- define "penstock.selector" -}}
app.kubernetes.io/name: {{ include "penstock.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "penstock.labels" -}}
{{ include "penstock.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "penstock.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "penstock.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The agent's own account, where it asks the API server for pods: the aggregator asks for nothing. */}}
{{- define "penstock.agentAccountName" -}}
{{- if and .Values.serviceAccount.create .Values.agent.podMetadata -}}
{{- include "penstock.serviceAccountName" . }}-agent
{{- else -}}
{{- include "penstock.serviceAccountName" . -}}
{{- end -}}
{{- end -}}

{{- define "penstock.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "penstock.secretName" -}}
{{- default (printf "%s-console" (include "penstock.fullname" .)) .Values.console.existingSecret -}}
{{- end -}}

{{/* Names by which the console is asked within the cluster: those of its services, and yours. */}}
{{- define "penstock.hosts" -}}
{{- $hosts := list -}}
{{- range $service := list "agent-pods" "aggregator-pods" -}}
{{- $name := printf "%s-%s" (include "penstock.fullname" $) $service -}}
{{- $hosts = concat $hosts (list $name (printf "%s.%s" $name $.Release.Namespace) (printf "%s.%s.svc" $name $.Release.Namespace)) -}}
{{- $hosts = append $hosts (printf "%s.%s.svc.cluster.local" $name $.Release.Namespace) -}}
{{- end -}}
{{- concat $hosts .Values.console.hosts | toJson -}}
{{- end -}}

{{/* What every generated configuration begins with: (dict "root" . "sandbox" "no" "read" (list)) */}}
{{- define "penstock.options" -}}
@version: 4.26
@include "scl.conf"
options {
    keep-hostname(yes); use-dns(no);
    sandbox({{ .sandbox }});
    {{- range .read }}
    sandbox-read({{ . | quote }});
    {{- end }}
    console(ip("0.0.0.0") port({{ .root.Values.console.port }}) token("`file:/run/penstock/console/token`")
            hosts({{ range include "penstock.hosts" .root | fromJsonArray }}{{ . | quote }} {{ end }})
            degraded-is-ready({{ ternary "yes" "no" .root.Values.console.degradedIsReady }})
            tls(key-file("/run/penstock/console/tls.key") cert-file("/run/penstock/console/tls.crt") peer-verify(no)));
};
{{- end -}}

{{/* The container's part that agent and aggregator share: (dict "root" . "values" .Values.agent) */}}
{{- define "penstock.container" -}}
image: {{ include "penstock.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [run, --config, /etc/penstock/penstock.conf, --state-dir, /var/lib/penstock]
env:
  - name: NODE_NAME
    valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
  - name: POD_NAME
    valueFrom: {fieldRef: {fieldPath: metadata.name}}
  - name: POD_NAMESPACE
    valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
  {{- with .values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
startupProbe:
  httpGet: {path: /healthz, port: console, scheme: HTTPS}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: console, scheme: HTTPS}
  periodSeconds: 10
  failureThreshold: 6
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: console, scheme: HTTPS}
  periodSeconds: 5
  timeoutSeconds: 5
{{- with .values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
