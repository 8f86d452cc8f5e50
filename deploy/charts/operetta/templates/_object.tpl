{{- /* An object of deploy/ with what the kustomization adds, and the values. */}}
{{- define "operetta.object" -}}
{{- $root := .root }}
{{- $object := .object }}
{{- $metadata := $object.metadata }}
{{- $_ := set $metadata "labels" (set (get $metadata "labels" | default dict) "app.kubernetes.io/part-of" "operetta") }}
{{- if eq .folder "server" }}
{{- $_ := set $metadata "namespace" $root.Release.Namespace }}
{{- end }}
{{- if eq $object.kind "CustomResourceDefinition" }}
{{- /* A CRD that goes takes every custom resource with it. */}}
{{- $_ := set $metadata "annotations" (set (get $metadata "annotations" | default dict) "helm.sh/resource-policy" "keep") }}
{{- else if eq $object.kind "ClusterRoleBinding" }}
{{- range $object.subjects }}
{{- $_ := set . "name" $root.Values.metacontroller.serviceAccount }}
{{- $_ := set . "namespace" $root.Values.metacontroller.namespace }}
{{- end }}
{{- else if eq $object.kind "CompositeController" }}
{{- range $object.spec.hooks }}
{{- $_ := set .webhook.service "namespace" $root.Release.Namespace }}
{{- end }}
{{- else if and (eq $object.kind "NetworkPolicy") (get $object.spec "ingress") }}
{{- range $rule := $object.spec.ingress }}
{{- range $rule.from }}
{{- if get . "podSelector" }}
{{- $_ := set .namespaceSelector.matchLabels "kubernetes.io/metadata.name" $root.Values.metacontroller.namespace }}
{{- $_ := set .podSelector "matchLabels" $root.Values.metacontroller.podLabels }}
{{- end }}
{{- end }}
{{- end }}
{{- else if eq $object.kind "Deployment" }}
{{- include "operetta.deployment" . }}
{{- end }}
{{- toYaml $object }}
{{- end }}

{{- /* Sets the values in the Deployment. */}}
{{- define "operetta.deployment" }}
{{- $values := .root.Values }}
{{- $spec := .object.spec }}
{{- $pod := $spec.template.spec }}
{{- $container := first $pod.containers }}
{{- $_ := set $spec "replicas" $values.replicas }}
{{- if $values.image.digest }}
{{- $_ := set $container "image" (printf "%s@%s" $values.image.repository $values.image.digest) }}
{{- else }}
{{- $_ := set $container "image" (printf "%s:%s" $values.image.repository ($values.image.tag | default .root.Chart.AppVersion)) }}
{{- end }}
{{- if $values.image.pullSecrets }}
{{- $_ := set $pod "imagePullSecrets" $values.image.pullSecrets }}
{{- end }}
{{- $args := $container.args }}
{{- if $values.kinds }}
{{- $args = append $args (printf "--kinds=%s" (join "," (sortAlpha $values.kinds))) }}
{{- end }}
{{- if $values.config }}
{{- $args = append $args "--config=/etc/operetta/config/config.yaml" }}
{{- $mount := dict "name" "config" "mountPath" "/etc/operetta/config" "readOnly" true }}
{{- $_ := set $container "volumeMounts" (append (get $container "volumeMounts" | default list) $mount) }}
{{- $items := list (dict "key" "config.yaml" "path" "config.yaml") }}
{{- $volume := dict "name" "config" "configMap" (dict "name" "operetta-config" "items" $items) }}
{{- $_ := set $pod "volumes" (append (get $pod "volumes" | default list) $volume) }}
{{- /* The server reads the file once: another content replaces its Pods. */}}
{{- $metadata := $spec.template.metadata }}
{{- $_ := set $metadata "annotations" (set (get $metadata "annotations" | default dict) "operetta.dev/config" (toYaml $values.config | sha256sum | trunc 16)) }}
{{- end }}
{{- $_ := set $container "args" (concat $args $values.extraArgs) }}
{{- $_ := set $container "resources" $values.resources }}
{{- end }}
