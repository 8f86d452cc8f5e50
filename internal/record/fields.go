package record

import "strings"

// This file is the allow-list of strings that are recorded unchanged. Every
// other string is replaced. A string is kept if its field is listed here and it
// has the field's form, so that "name: web" is kept, and "name: user:pass@host"
// is not.

// The forms of values.
var (
	nameForm  = newForm(`^[A-Za-z0-9_][-A-Za-z0-9_.]{0,252}$`)
	wordForm  = newForm(`^([A-Za-z]{1,48}|IPv[46]|[a-z0-9.-]+\.io/[A-Za-z-]+)$`)
	capForm   = newForm(`^[A-Z_]{1,32}$`)
	kindForm  = newForm(`^[A-Z][A-Za-z0-9]{0,62}$`)
	groupForm = newForm(`^([-a-z0-9.]{1,253}/)?[a-z0-9]{1,63}$`)
	keyForm   = newForm(`^([-a-z0-9.]{1,253}/)?[-A-Za-z0-9_.]{1,253}$`)
	ruleForm  = newForm(`^[a-z0-9*][-a-z0-9*./]{0,252}$`)
	imageForm = newForm(`^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9][a-z0-9._-]*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)
	ipForm    = newForm(`^([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-fA-F:]*:[0-9a-fA-F:]*|None)$`)
	uidForm   = newForm(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[a-z]{1,24}-uid$`)
	countForm = newForm(`^-?[0-9]{1,10}$`)
	smallForm = newForm(`^-?[0-9]{1,6}$`)
	sizeForm  = newForm(`^[+-]?([0-9]{1,15}(\.[0-9]{0,9})?|\.[0-9]{1,9})(m|u|n|k|[KMGTPE]i?|[eE][+-]?[0-9]{1,2})?$`)
	ratioForm = newForm(`^[0-9]{1,5}/[0-9]{1,5}$`)
	shareForm = newForm(`^[0-9]{1,3}%$`)
	spanForm  = newForm(`^[+-]?([0-9]{1,4}(\.[0-9]{1,9})?(h|m|s|ms|us|µs|ns|d)){1,6}$`)
	timeForm  = newForm(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$`)
	boolForm  = newForm(`^(true|True|false|False)$`)
	hashForm  = newForm(`^[0-9a-f]{8,64}$`)
	pathForm  = newForm(`^(metadata|spec|status)\.[A-Za-z.]{1,63}$`)
)

// fields are the names of fields, with the form in which their strings are
// kept. They are those of Kubernetes' own types, and of custom resources that
// follow its conventions.
var fields = map[string]*form{
	// What an object is.
	"apiVersion": groupForm, "kind": kindForm, "namespace": nameForm, "name": nameForm, "generateName": nameForm,
	"uid": uidForm, "failedPods": uidForm, "resourceVersion": countForm, "finalizers": keyForm, "apiGroup": groupForm,
	// Identifiers that do not end in Name.
	"container": nameForm, "targetContainer": nameForm, "component": nameForm, "subdomain": nameForm,
	"topologyKey": keyForm, "fieldPath": pathForm, "resource": ruleForm, "manager": nameForm, "resourceNames": nameForm,
	"verbs": ruleForm, "resources": ruleForm, "apiGroups": ruleForm, "image": imageForm, "hash": hashForm,
	"port": nameForm, "targetPort": nameForm, "appProtocol": keyForm,
	// One word of a few.
	"type": wordForm, "status": wordForm, "phase": wordForm, "state": wordForm, "result": wordForm,
	"protocol": wordForm, "operator": wordForm, "effect": wordForm, "operation": wordForm, "profile": wordForm, "fieldsType": wordForm,
	"whenDeleted": wordForm, "whenScaled": wordForm, "onDelete": wordForm, "whenUnsatisfiable": wordForm, "strategy": wordForm,
	"accessModes": wordForm, "ipFamilies": wordForm, "sessionAffinity": wordForm, "medium": wordForm, "resourceClass": wordForm,
	"procMount": wordForm, "scheme": wordForm, "qosClass": wordForm, "add": capForm, "drop": capForm, "level": wordForm,
	"mountPropagation": wordForm, "subresource": wordForm, "completionMode": wordForm,
	// Addresses that the cluster gives, amounts and times.
	"clusterIP": ipForm, "clusterIPs": ipForm, "podIP": ipForm, "hostIP": ipForm, "ip": ipForm,
	"rollingUpdate": countForm, "maxUnavailable": countForm, "maxSurge": countForm, "minAvailable": countForm,
	"divisor": sizeForm, "sizeLimit": sizeForm, "size": sizeForm, "ready": ratioForm,
	"duration": spanForm, "interval": spanForm, "timeout": spanForm,
}

// endings are suffixes of field names.
var endings = []struct {
	ending string
	form   *form
}{
	{"Name", nameForm}, {"Image", imageForm},
	{"Policy", wordForm}, {"Type", wordForm}, {"Mode", wordForm}, {"Kind", wordForm},
}

// users matches names that end like names of objects but are names of people or
// databases.
var users = newForm(`(?i)(user|login|account|display|full|first|last|database|db)name$`)

// keyed are the fields within which "key" is the key of a label, a taint or an
// entry. Elsewhere it may be any key.
var keyed = setOf("configMapKeyRef", "secretKeyRef", "items", "matchExpressions", "matchFields", "tolerations")

// Fields whose members are named by users.
var (
	free = setOf("data", "stringData", "binaryData", "env", "envs", "config", "configuration", "settings", "options", "parameters",
		"params", "properties", "attributes", "extra", "vars", "variables", "args", "command", "values", "headers",
		"httpHeaders", "volumeAttributes", "secrets", "extraEnv", "environment", "overrides", "files")
	labelMaps   = setOf("labels", "matchLabels", "nodeSelector", "podLabels", "selector", "commonLabels")
	annotations = setOf("annotations", "podAnnotations", "commonAnnotations")
	sizeMaps    = setOf("requests", "limits", "capacity", "allocatable", "allocatedResources", "hard", "used")
)

// named are the lists within free fields whose items have Kubernetes' own
// structure, which is kept; their value is not.
var named = setOf("env", "envs", "extraEnv", "httpHeaders")

// knownAnnotations are those that Kubernetes' controllers and ours read or write.
var knownAnnotations = map[string]*form{
	"controller.kubernetes.io/pod-deletion-cost": countForm,
	"deployment.kubernetes.io/revision":          smallForm,
	"deployment.kubernetes.io/desired-replicas":  smallForm,
	"deployment.kubernetes.io/max-replicas":      smallForm,
	"batch.kubernetes.io/job-completion-index":   smallForm,
	"kubectl.kubernetes.io/restartedAt":          timeForm,
	"kubectl.kubernetes.io/default-container":    nameForm,
	"kubernetes.io/config.source":                wordForm,
	"operetta.dev/pod-uid":                       uidForm,
}

// applied are the annotations that hold an object as it was applied, in JSON.
var applied = setOf("metacontroller.k8s.io/last-applied-configuration", "kubectl.kubernetes.io/last-applied-configuration")

// secretive matches names of fields and variables whose value is never
// recorded, whatever its form.
var secretive = newForm(`(?i)(pass|pwd|token|secret|credential|auth|private|key$|pin$|salt$|cert)`)

// notSecretive matches Kubernetes' fields that only look like it.
var notSecretive = newForm(`^(secretName|secretNamespace|authType|topologyKey|tokenExpirationSeconds|automountServiceAccountToken|imagePullCredentialsVerificationPolicy|.*(secret|Secret)s?(Key)?Refs?|imagePullSecrets)$`)

func isSecretive(name string) bool {
	return secretive.MatchString(name) && !notSecretive.MatchString(name)
}

// formOf returns the form in which a string is kept in a field, or nil.
func formOf(field, within string) *form {
	if field == "key" && keyed[within] {
		return keyForm
	}
	if isSecretive(field) {
		return nil
	}
	if form := fields[field]; form != nil {
		return form
	}
	if users.MatchString(field) && field != "serviceAccountName" {
		return nil
	}
	for _, e := range endings {
		if strings.HasSuffix(field, e.ending) {
			return e.form
		}
	}
	return nil
}

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
