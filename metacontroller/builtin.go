package metacontroller

import (
	"path"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds that are built into Kubernetes, in the versions that every supported
// release serves, for [Child] and [Controller.Related]. Those that are
// cluster-scoped can be children of a cluster-scoped parent only.
var (
	ConfigMap             = Resource{"v1", "ConfigMap", "configmaps"}
	Namespace             = Resource{"v1", "Namespace", "namespaces"}
	Node                  = Resource{"v1", "Node", "nodes"}
	PersistentVolume      = Resource{"v1", "PersistentVolume", "persistentvolumes"}
	PersistentVolumeClaim = Resource{"v1", "PersistentVolumeClaim", "persistentvolumeclaims"}
	Pod                   = Resource{"v1", "Pod", "pods"}
	Secret                = Resource{"v1", "Secret", "secrets"}
	Service               = Resource{"v1", "Service", "services"}
	ServiceAccount        = Resource{"v1", "ServiceAccount", "serviceaccounts"}

	DaemonSet   = Resource{"apps/v1", "DaemonSet", "daemonsets"}
	Deployment  = Resource{"apps/v1", "Deployment", "deployments"}
	ReplicaSet  = Resource{"apps/v1", "ReplicaSet", "replicasets"}
	StatefulSet = Resource{"apps/v1", "StatefulSet", "statefulsets"}

	CronJob = Resource{"batch/v1", "CronJob", "cronjobs"}
	Job     = Resource{"batch/v1", "Job", "jobs"}

	HorizontalPodAutoscaler = Resource{"autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"}
	PodDisruptionBudget     = Resource{"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"}

	EndpointSlice = Resource{"discovery.k8s.io/v1", "EndpointSlice", "endpointslices"}
	Ingress       = Resource{"networking.k8s.io/v1", "Ingress", "ingresses"}
	Lease         = Resource{"coordination.k8s.io/v1", "Lease", "leases"}
	NetworkPolicy = Resource{"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"}

	ClusterRole        = Resource{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"}
	ClusterRoleBinding = Resource{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"}
	Role               = Resource{"rbac.authorization.k8s.io/v1", "Role", "roles"}
	RoleBinding        = Resource{"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"}
)

// complete fills in the apiVersion and kind of a desired object where both are
// missing and its Go type is one of k8s.io/api, and the claim templates of a
// StatefulSet. It returns the apiVersion and kind.
func complete(object Object) (apiVersion, kind string) {
	if set, isStatefulSet := object.(*appsv1.StatefulSet); isStatefulSet {
		completeClaims(set.Spec.VolumeClaimTemplates)
	}
	apiVersion, kind = object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if apiVersion != "" || kind != "" {
		return apiVersion, kind
	}
	t := reflect.TypeOf(object)
	if t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), typesOfKubernetes) {
		return "", ""
	}
	apiVersion, kind = groupVersionOf(t.Elem().PkgPath()), t.Elem().Name()
	object.GetObjectKind().SetGroupVersionKind(apischema.FromAPIVersionAndKind(apiVersion, kind))
	return apiVersion, kind
}

// completeClaims fills in what the API server adds to the claim templates of a
// StatefulSet. Metacontroller replaces the list as a whole, so every sync would
// remove the defaults that are left out.
func completeClaims(claims []corev1.PersistentVolumeClaim) {
	for i := range claims {
		claim := &claims[i]
		if claim.APIVersion == "" && claim.Kind == "" {
			claim.APIVersion, claim.Kind = PersistentVolumeClaim.APIVersion, PersistentVolumeClaim.Kind
		}
		if claim.Spec.VolumeMode == nil {
			claim.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
		}
		if claim.Status.Phase == "" {
			claim.Status.Phase = corev1.ClaimPending
		}
	}
}

const typesOfKubernetes = "k8s.io/api/"

// groupVersionOf returns the apiVersion of the types in a package of
// k8s.io/api, such as k8s.io/api/apps/v1, whose folder is the first part of the
// group.
func groupVersionOf(pkg string) string {
	folder, version := path.Split(strings.TrimPrefix(pkg, typesOfKubernetes))
	switch group := strings.TrimSuffix(folder, "/"); group {
	case "core":
		return version
	case "apps", "autoscaling", "batch", "extensions", "policy":
		return group + "/" + version
	case "rbac":
		return "rbac.authorization.k8s.io/" + version
	case "flowcontrol":
		return "flowcontrol.apiserver.k8s.io/" + version
	default:
		return group + ".k8s.io/" + version
	}
}
