package apiserver

import (
	"strings"
	"sync"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Kind is a kind of the API server.
type Kind struct {
	metacontroller.Resource

	// IsCluster is set for cluster-scoped kinds.
	IsCluster bool

	generation bool // its spec changes are counted in metadata.generation
	// admit returns the object as it is stored. A kind with neither admit nor a
	// definition is stored as it is written.
	admit func(a *admission, object, old kube.Object) (kube.Object, error)
	// definition returns the schema of a custom resource. It may be nil.
	definition func() (*crd.Schema, error)
}

// GroupResource returns the name that errors of the API server have for the kind.
func (k Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group(), Resource: k.Plural}
}

// builtin are the kinds with known defaults and rules.
var builtin = []Kind{
	{Resource: metacontroller.ConfigMap, admit: ofType(admitConfigMap)},
	{Resource: metacontroller.Secret, admit: ofType(admitSecret)},
	{Resource: metacontroller.Service, admit: ofType(admitService)},
	{Resource: metacontroller.ServiceAccount, admit: ofType[corev1.ServiceAccount](nil)},
	{Resource: metacontroller.Pod, generation: true, admit: ofType(admitPod)},
	{Resource: metacontroller.PersistentVolumeClaim, admit: ofType(admitClaim)},
	{Resource: metacontroller.Namespace, IsCluster: true, admit: ofType(admitNamespace)},
	{Resource: metacontroller.Deployment, generation: true, admit: ofType(admitDeployment)},
	{Resource: metacontroller.ReplicaSet, generation: true, admit: ofType(admitReplicaSet)},
	{Resource: metacontroller.StatefulSet, generation: true, admit: ofType(admitStatefulSet)},
	{Resource: metacontroller.DaemonSet, generation: true, admit: ofType(admitDaemonSet)},
	{Resource: metacontroller.Job, generation: true, admit: ofType(admitJob)},
	{Resource: metacontroller.CronJob, generation: true, admit: ofType(admitCronJob)},
	{Resource: metacontroller.HorizontalPodAutoscaler, admit: ofType(admitAutoscaler)},
	{Resource: metacontroller.PodDisruptionBudget, generation: true, admit: ofType(admitBudget)},
	{Resource: metacontroller.PersistentVolume, IsCluster: true},
	{Resource: metacontroller.Node, IsCluster: true},
	{Resource: metacontroller.Lease},
	{Resource: metacontroller.Role, admit: ofType[rbacv1.Role](nil)},
	{Resource: metacontroller.RoleBinding, admit: ofType(admitRoleBinding)},
	{Resource: metacontroller.ClusterRole, IsCluster: true, admit: ofType[rbacv1.ClusterRole](nil)},
	{Resource: metacontroller.ClusterRoleBinding, IsCluster: true, admit: ofType(admitRoleBinding)},
}

// Catalogue finds kinds. It does not change.
type Catalogue struct {
	byKind     map[schema.GroupVersionKind]Kind
	byResource map[schema.GroupVersionResource]Kind
}

// NewCatalogue returns the built-in kinds and those of the operators: their
// parents, and what else they declare.
func NewCatalogue(controllers []metacontroller.Controller) *Catalogue {
	c := &Catalogue{
		byKind:     map[schema.GroupVersionKind]Kind{},
		byResource: map[schema.GroupVersionResource]Kind{},
	}
	for _, k := range builtin {
		c.learn(k)
	}
	for _, controller := range controllers {
		c.learn(custom(controller))
		for _, child := range controller.Children {
			c.learn(declared(child.Resource))
		}
		for _, related := range controller.Related {
			c.learn(declared(related.Resource))
		}
	}
	return c
}

// declared returns a kind that an operator takes, without defaults and rules.
func declared(r metacontroller.Resource) Kind {
	return Kind{Resource: r, IsCluster: crd.IsClusterKind(r.Group(), r.Kind), generation: true}
}

func custom(c metacontroller.Controller) Kind {
	k := Kind{Resource: c.Parent, IsCluster: crd.ScopeIn(c.CRD.Text()) == apiextensionsv1.ClusterScoped, generation: true}
	if c.CRD != nil {
		k.definition = sync.OnceValues(func() (*crd.Schema, error) {
			definition, err := c.Schema()
			if err != nil {
				return nil, err
			}
			return definition.Remembering(), nil
		})
	}
	return k
}

func (c *Catalogue) learn(k Kind) {
	gvk := schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
	if _, known := c.byKind[gvk]; known {
		return
	}
	c.byKind[gvk] = k
	c.byResource[gvk.GroupVersion().WithResource(k.Plural)] = k
}

// Kind returns a kind. An unknown one is treated as a namespaced custom resource.
func (c *Catalogue) Kind(apiVersion, name string) Kind {
	if k, known := c.byKind[schema.FromAPIVersionAndKind(apiVersion, name)]; known {
		return k
	}
	return Kind{Resource: metacontroller.Resource{APIVersion: apiVersion, Kind: name, Plural: strings.ToLower(name) + "s"}, generation: true}
}

// Resource returns the kind of a plural name, and whether it is known.
func (c *Catalogue) Resource(apiVersion, plural string) (Kind, bool) {
	version, err := schema.ParseGroupVersion(apiVersion)
	k, known := c.byResource[version.WithResource(plural)]
	return k, known && err == nil
}
