package kube

import (
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// builtIn are the kinds of Kubernetes that may stand in a simulated cluster or a dump.
var builtIn = [...]metacontroller.Resource{
	metacontroller.Pod, metacontroller.Deployment, metacontroller.ReplicaSet, metacontroller.StatefulSet, metacontroller.DaemonSet,
	metacontroller.Job, metacontroller.CronJob, metacontroller.Service, metacontroller.ConfigMap, metacontroller.Secret,
	metacontroller.PersistentVolumeClaim, metacontroller.PersistentVolume, metacontroller.HorizontalPodAutoscaler,
	metacontroller.PodDisruptionBudget, metacontroller.Ingress, metacontroller.NetworkPolicy, metacontroller.EndpointSlice,
	metacontroller.ServiceAccount, metacontroller.Namespace, metacontroller.Node, metacontroller.Lease,
	metacontroller.Role, metacontroller.RoleBinding, metacontroller.ClusterRole, metacontroller.ClusterRoleBinding,
	{APIVersion: "v1", Kind: "Event", Plural: "events"},
}

// IsNamed reports whether kubectl takes a word for a kind, as in Deployment, deployments,
// deployments.apps or deploy. The CRD is that of the kind, or nil.
func IsNamed(kind metacontroller.Resource, definition *metacontroller.CRD, word string) bool {
	name, group, hasGroup := strings.Cut(strings.ToLower(word), ".")
	if hasGroup && group != kind.Group() {
		return false
	}
	if name == strings.ToLower(kind.Kind) || name == kind.Plural {
		return true
	}
	plural, isTaken := crd.OwnerOfShortName(name)
	return isTaken && plural == kind.Plural && slices.Contains(builtIn[:], kind) ||
		!isTaken && definition != nil && slices.Contains(crd.NamesIn(definition.Text()).ShortNames, name)
}

// KindNamed returns the kind that kubectl takes a word for: one of Kubernetes or of some operators. Any
// other word is returned as it is.
func KindNamed(word string, controllers ...metacontroller.Controller) string {
	for _, kind := range builtIn {
		if IsNamed(kind, nil, word) {
			return kind.Kind
		}
	}
	for i := range controllers {
		if IsNamed(controllers[i].Parent, controllers[i].CRD, word) {
			return controllers[i].Parent.Kind
		}
	}
	return word
}
