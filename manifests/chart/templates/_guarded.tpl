# Made from manifests/*.ts by `make generate`.
{{- define "eip-admission.guarded" -}}
{{- if (or (index .Values `settings` `eip-tag`) (index .Values `settings` `fip-label`) (index .Values `settings` `fip-tag`)) }}true{{ end -}}
{{- end }}
