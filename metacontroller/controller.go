package metacontroller

import (
	"reflect"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Controller declares one operator: it is the single source of its routes, of
// its CompositeController and of the permissions that Metacontroller needs for
// it.
type Controller struct {
	// Parent is the custom resource that users write.
	Parent Resource
	// CRD is the parent's CustomResourceDefinition. The sync hook is not called
	// for a parent that it refuses: a hook would compute fewer children from an
	// invalid spec, and those that it leaves out would be deleted. Without a CRD
	// nothing is validated.
	CRD *CRD
	// Children are all kinds that a hook may ask for, each with the exact
	// apiVersion of its objects: a child of another version would be deleted
	// and created again on every sync.
	Children []Child
	// Related are the kinds that the customize hook may select.
	Related []Related
	// RelatedInAllNamespaces lets the rules of the customize hook select objects outside of
	// the parent's namespace. Leave it false where none does: only then does Metacontroller
	// look at the namespace of a changed object before it copies its labels, once for each
	// parent in the cluster.
	RelatedInAllNamespaces bool
	// EscalationRules are permissions that Metacontroller needs only because a child (a
	// Role, say) grants them: the API server lets nobody grant what they do not
	// have.
	EscalationRules []rbacv1.PolicyRule
	// OrderedTeardown makes the CompositeController declare the finalize hook.
	// Leave it false where garbage collection is enough: the finalizer that
	// comes with it outlives a deleted CompositeController and then blocks the
	// deletion of every parent.
	OrderedTeardown bool

	// Reasons are those that the condition Ready of the parent may have beside those of
	// operator.Reasons. Metrics count by them, and all others as one: what a user or
	// a container has written is to be none of them.
	Reasons []string

	// Policy is what can be decided about it where it is installed, see [Configured].
	Policy Policy

	// Sync computes the children and the status. It is required.
	Sync Hook
	// Finalize computes which children stay during deletion. By default none
	// stays, and the teardown is complete once none is observed.
	Finalize Hook
	// Customize selects related objects. By default there are none.
	Customize Hook
}

// Resource names a kind of Kubernetes object.
type Resource struct {
	// APIVersion is the group and version, "apps/v1" or just "v1".
	APIVersion string
	// Kind is the name in the singular, "Deployment".
	Kind string
	// Plural is the name in URLs and in RBAC rules, "deployments".
	Plural string
}

// Group returns the API group, which is empty for the core kinds.
func (r Resource) Group() string { return r.APIVersion[:max(0, strings.Index(r.APIVersion, "/"))] }

// Version returns the version within the API group.
func (r Resource) Version() string { return r.APIVersion[strings.Index(r.APIVersion, "/")+1:] }

// Key returns the key under which Metacontroller lists objects of this kind in
// a request: "Pod.v1", "Deployment.apps/v1".
func (r Resource) Key() string { return r.Kind + "." + r.APIVersion }

// Child is a kind of object that a [Controller] may own.
type Child struct {
	Resource
	// Update says what happens to an existing child whose desired form has
	// changed.
	Update UpdateMethod
	// DecodeAs is the type into which the hooks decode children of an OnDelete
	// kind. If it is set, the server keeps only its fields, and those that this
	// package reads, in memory. Nil keeps all.
	DecodeAs reflect.Type
	// SharedName is set for a kind where two custom resources may ask for an
	// object of the same name, and the kind has no immutable field that differs
	// between the two. Under server-side apply they would overwrite each other
	// for ever, because Metacontroller applies both with one field manager. So
	// a child is left out of the answer if the request shows that another
	// controller owns the object of its name, or nobody does and a workload that it
	// is compared with is no child yet: what belongs together is taken over together
	// or not at all. The customize hook must select those objects, with [ByName].
	SharedName bool
}

// Related is a kind of object that the hooks of a [Controller] read and do not own.
type Related struct {
	Resource
	// Informs is set where these objects only inform: they say why the parent is not
	// Ready, and no child depends on them. The customize hook may leave them out, and a
	// request without them is answered. Each change of a selected kind, anywhere in the
	// cluster, costs Metacontroller some microseconds for each parent that has a rule.
	Informs bool
}

// UpdateMethod is the subset of Metacontroller's update strategies that works
// with both apply strategies. Recreate loops under server-side apply, and the
// rolling methods stop after the first child of a namespaced parent.
type UpdateMethod string

const (
	// OnDelete never changes an existing child. It is for Pods and Jobs, whose
	// names contain a hash of their content or which run once.
	OnDelete UpdateMethod = "OnDelete"
	// InPlace updates an existing child to the desired form.
	InPlace UpdateMethod = "InPlace"
)

// HookName is one of the three hooks of a CompositeController, and the last
// part of its URL.
type HookName string

// The hooks that a [Controller] can answer.
const (
	SyncHook      HookName = "sync"
	FinalizeHook  HookName = "finalize"
	CustomizeHook HookName = "customize"
)

// Name returns the parent's kind in lower case: it is the operator's name in
// routes, folders and files.
func (c Controller) Name() string { return strings.ToLower(c.Parent.Kind) }

// Hooks returns the names of the hooks that this Controller answers. Finalize
// is always among them, see [Controller.Finalize].
func (c Controller) Hooks() []HookName {
	hooks := []HookName{SyncHook, FinalizeHook}
	if c.Customize.customize != nil {
		hooks = append(hooks, CustomizeHook)
	}
	return hooks
}

// ParentType returns the Go type of the parent, as the sync hook takes it.
func (c Controller) ParentType() reflect.Type { return c.Sync.parent }

// Child returns the declaration of a kind of child, and whether there is one.
func (c Controller) Child(apiVersion, kind string) (Child, bool) {
	for _, child := range c.Children {
		if child.APIVersion == apiVersion && child.Kind == kind {
			return child, true
		}
	}
	return Child{}, false
}

// childOf is [Controller.Child] by its [Resource.Key].
func (c Controller) childOf(key string) (Child, bool) {
	kind, apiVersion, _ := strings.Cut(key, ".")
	return c.Child(apiVersion, kind)
}

// Controllers are those of a program.
type Controllers []Controller

// Of returns the operator whose parents are of a kind, or nil.
func (all Controllers) Of(apiVersion, kind string) *Controller {
	for i := range all {
		if all[i].Parent.APIVersion == apiVersion && all[i].Parent.Kind == kind {
			return &all[i]
		}
	}
	return nil
}

// eventsOf returns the flags with which kubectl events shows the events of the
// parent.
func (c Controller) eventsOf(parent Identity) string {
	if parent.Name == "" {
		return ""
	}
	object := strings.TrimSuffix(c.Parent.Plural+"."+c.Parent.Group(), ".") + "/" + parent.Name
	if parent.Namespace == "" {
		return "--for " + object
	}
	return "-n " + parent.Namespace + " --for " + object
}
