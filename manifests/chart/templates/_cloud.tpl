# Made from manifests/*.ts by `make generate`.
{{- define "eip-admission.cloudProviders" -}}
equinixmetal, equinix-metal, packet, cherryservers, cherry-servers, hetzner, hcloud, scaleway, phoenixnap
{{- end }}
{{- define "eip-admission.cloudConfig" -}}
{{- if (eq .Values.cloudProvider `equinixmetal`) }}{"apiKey": "...", "projectID": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `equinix-metal`) }}{"apiKey": "...", "projectID": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `packet`) }}{"apiKey": "...", "projectID": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `cherryservers`) }}{"apiKey": "...", "projectID": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `cherry-servers`) }}{"apiKey": "...", "projectID": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `hetzner`) }}{"token": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `hcloud`) }}{"token": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `scaleway`) }}{"secretKey": "...", "projectID": "...", "zone": "..."}{{ end -}}
{{- if (eq .Values.cloudProvider `phoenixnap`) }}{"clientID": "...", "clientSecret": "...", "location": "..."}{{ end -}}
{{- end }}
