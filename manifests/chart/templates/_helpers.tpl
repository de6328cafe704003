{{/* The reference of the image. */}}
{{- define "eip-admission.image" -}}
{{ .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/*
The flag of a setting, from a list of its name and its value. Helm reads numbers as floats, and prints large ones with an
exponent.
*/}}
{{- define "eip-admission.flag" -}}
{{- $value := index . 1 -}}
{{- if kindIs "slice" $value }}{{ $value = join "," $value }}{{ end -}}
{{- if kindIs "float64" $value }}{{ $value = int64 $value }}{{ end -}}
--{{ index . 0 }}={{ $value }}
{{- end }}

{{/*
The secret segment of the webhooks' paths: from the values, or from the stored Secret, or a new one. All templates of a
rendering must agree, so the first template writes it into the values.
*/}}
{{- define "eip-admission.pathSecret" -}}
{{- if not .Values.chosenPathSecret }}
{{- $stored := (lookup "v1" "Secret" .Release.Namespace "eip-admission-webhook").data | default dict }}
{{- $kept := get $stored "path" | b64dec }}
{{- $_ := set .Values "chosenPathSecret" (.Values.webhooks.pathSecret | default $kept | default (randAlphaNum 32 | lower)) }}
{{- end }}
{{- .Values.chosenPathSecret }}
{{- end }}
