package player

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// strangers are objects of somebody else, by kind, without their names.
var strangers = map[string]string{
	"ConfigMap":      `{"apiVersion":"v1","data":{"owner":"other"}}`,
	"DaemonSet":      `{"apiVersion":"apps/v1","spec":{"selector":{"matchLabels":{"app":"other"}},"template":` + otherTemplate + `}}`,
	"Deployment":     `{"apiVersion":"apps/v1","spec":{"replicas":1,"selector":{"matchLabels":{"app":"other"}},"template":` + otherTemplate + `}}`,
	"Job":            `{"apiVersion":"batch/v1","spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"other","image":"nginx:1.28"}]}}}}`,
	"Pod":            `{"apiVersion":"v1","spec":{"containers":[{"name":"other","image":"nginx:1.28"}]}}`,
	"Role":           `{"apiVersion":"rbac.authorization.k8s.io/v1","rules":[]}`,
	"RoleBinding":    `{"apiVersion":"rbac.authorization.k8s.io/v1","roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"other"}}`,
	"Service":        `{"apiVersion":"v1","spec":{"ports":[{"port":80}],"selector":{"app":"other"}}}`,
	"ServiceAccount": `{"apiVersion":"v1"}`,
	"StatefulSet":    `{"apiVersion":"apps/v1","spec":{"serviceName":"other","selector":{"matchLabels":{"app":"other"}},"template":` + otherTemplate + `}}`,
}

const otherTemplate = `{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[{"name":"other","image":"nginx:1.28"}]}}`

// IsStrangers reports whether an object is of somebody else, who controls it: of the namespace, which
// exists, so that the garbage collector leaves it.
func IsStrangers(object kube.Object) bool {
	owner, found := kube.ControllerOf(object)
	return found && owner.Kind == metacontroller.Namespace.Kind
}

// Ownerless is the detail of a take-name whose object has no controller. Server-side apply adopts it.
const Ownerless = "ownerless"

// takeName creates an object of somebody else with a name, and deletes for that what has it.
func (w *World) takeName(a Action) bool {
	kind, name, _ := strings.Cut(a.Target, "/")
	content := map[string]any{}
	if json.Unmarshal([]byte(strangers[kind]), &content) != nil {
		return false
	}
	namespace := metav1.NamespaceDefault
	if parents := w.Parents(); len(parents) > 0 {
		namespace = cmp.Or(parents[0].GetNamespace(), namespace)
	}
	if ref, found := w.server.Named(kind, name); found {
		namespace = ref.Namespace
		if !w.noteRefusal(w.server.Delete(apiserver.ByUser, ref, "")) {
			return false
		}
		if w.server.Get(ref) != nil && len(w.server.Get(ref).GetFinalizers()) == 0 {
			w.server.Remove(apiserver.ByUser, ref) // a Pod goes at once, as with kubectl delete --force
		}
	} else {
		w.taken = append(w.taken, a)
	}
	metadata := map[string]any{"name": name, "namespace": namespace}
	if a.Detail != Ownerless {
		if err := w.addNamespace(namespace); err != nil {
			return w.noteRefusal(err)
		}
		owner := w.server.Get(kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: namespace})
		metadata["ownerReferences"] = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
	}
	content["kind"], content["metadata"] = kind, metadata
	text, err := json.Marshal(content)
	return w.noteRefusal(cmp.Or(err, w.create(text)))
}

// isMissed reports whether somebody wants a name that was free when it was taken, or tells of it.
func (w *World) isMissed(target string) bool {
	kind, name, _ := strings.Cut(target, "/")
	if w.composite.IsWanted(kind, name) {
		return true
	}
	for _, outcome := range w.Outcomes() {
		if strings.Contains(outcome.Message, target) {
			return true
		}
	}
	return false
}
