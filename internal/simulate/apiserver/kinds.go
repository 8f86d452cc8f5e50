package apiserver

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Kind is what the API server knows of a kind.
type Kind struct {
	metacontroller.Resource

	// IsCluster is set for a kind that has no namespaces.
	IsCluster bool

	generation bool // it counts the changes of its spec
	// typed returns an empty object of the Go type. A kind without one, and without
	// a definition, is stored as it is written.
	typed func() any
	// admit fills in defaults, and returns what is wrong. It may be nil.
	admit func(a *admission) field.ErrorList
	// definition returns the schema of a custom resource. It may be nil.
	definition func() (*crd.Schema, error)
}

// GroupResource returns the name that errors of the API server have for the kind.
func (k Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group(), Resource: k.Plural}
}

// of makes the constructor of a type.
func of[T any]() func() any { return func() any { return new(T) } }

// builtin are the kinds whose defaults and rules are known.
var builtin = []Kind{
	{named("v1", "ConfigMap", "configmaps"), false, false, of[corev1.ConfigMap](), admitConfigMap, nil},
	{named("v1", "Secret", "secrets"), false, false, of[corev1.Secret](), admitSecret, nil},
	{named("v1", "Service", "services"), false, false, of[corev1.Service](), admitService, nil},
	{named("v1", "ServiceAccount", "serviceaccounts"), false, false, of[corev1.ServiceAccount](), nil, nil},
	{named("v1", "Pod", "pods"), false, true, of[corev1.Pod](), admitPod, nil},
	{named("v1", "PersistentVolumeClaim", "persistentvolumeclaims"), false, false, of[corev1.PersistentVolumeClaim](), admitClaim, nil},
	{named("v1", "Namespace", "namespaces"), true, false, of[corev1.Namespace](), admitNamespace, nil},
	{named("apps/v1", "Deployment", "deployments"), false, true, of[appsv1.Deployment](), admitDeployment, nil},
	{named("apps/v1", "ReplicaSet", "replicasets"), false, true, of[appsv1.ReplicaSet](), admitReplicaSet, nil},
	{named("apps/v1", "StatefulSet", "statefulsets"), false, true, of[appsv1.StatefulSet](), admitStatefulSet, nil},
	{named("apps/v1", "DaemonSet", "daemonsets"), false, true, of[appsv1.DaemonSet](), admitDaemonSet, nil},
	{named("batch/v1", "Job", "jobs"), false, true, of[batchv1.Job](), admitJob, nil},
	{named("rbac.authorization.k8s.io/v1", "Role", "roles"), false, false, of[rbacv1.Role](), nil, nil},
	{named("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"), false, false, of[rbacv1.RoleBinding](), admitRoleBinding, nil},
	{named("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"), true, false, of[rbacv1.ClusterRole](), nil, nil},
	{named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"), true, false, of[rbacv1.ClusterRoleBinding](), admitClusterRoleBinding, nil},
}

func named(apiVersion, kind, plural string) metacontroller.Resource {
	return metacontroller.Resource{APIVersion: apiVersion, Kind: kind, Plural: plural}
}

// catalogue finds kinds.
type catalogue struct {
	byKind     map[schema.GroupVersionKind]Kind
	byResource map[schema.GroupVersionResource]Kind
}

// newCatalogue returns the built-in kinds and those of the operators: their
// parents, and what else they declare.
func newCatalogue(controllers []metacontroller.Controller) *catalogue {
	c := &catalogue{
		byKind:     map[schema.GroupVersionKind]Kind{},
		byResource: map[schema.GroupVersionResource]Kind{},
	}
	for _, k := range builtin {
		c.add(k)
	}
	for _, controller := range controllers {
		c.add(custom(controller))
		for _, child := range controller.Children {
			c.add(Kind{Resource: child.Resource, generation: true})
		}
		for _, related := range controller.Related {
			c.add(Kind{Resource: related, generation: true})
		}
	}
	return c
}

// custom returns the kind of an operator's parent.
func custom(c metacontroller.Controller) Kind {
	k := Kind{Resource: c.Parent, generation: true}
	if len(c.CRD) > 0 {
		k.definition = func() (*crd.Schema, error) { return crd.Compiled(c.CRD, c.Parent.Version()) }
	}
	return k
}

// add adds a kind, unless it is known.
func (c *catalogue) add(k Kind) {
	gvk := schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
	if _, known := c.byKind[gvk]; known {
		return
	}
	c.byKind[gvk] = k
	c.byResource[gvk.GroupVersion().WithResource(k.Plural)] = k
}

// of returns a kind. One that is not known is taken for a namespaced custom
// resource.
func (c *catalogue) of(apiVersion, name string) Kind {
	if k, known := c.byKind[schema.FromAPIVersionAndKind(apiVersion, name)]; known {
		return k
	}
	return Kind{Resource: named(apiVersion, name, strings.ToLower(name)+"s"), generation: true}
}

// ofResource returns the kind of a plural name, and whether it is known.
func (c *catalogue) ofResource(apiVersion, plural string) (Kind, bool) {
	version, err := schema.ParseGroupVersion(apiVersion)
	k, known := c.byResource[version.WithResource(plural)]
	return k, known && err == nil
}
