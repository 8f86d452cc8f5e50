package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Types of package apiserver.
type (
	// Object is a Kubernetes object of any kind.
	Object = apiserver.Object
	// Ref names an object.
	Ref = apiserver.Ref
)

// Options are what is known of a cluster.
type Options struct {
	// Controllers are the operators.
	Controllers []metacontroller.Controller
	// Objects are all that were read, events among them.
	Objects []Object
	// Ask asks the hook of a custom resource.
	Ask func(parent Object) Plan
	// Now is when the objects were read.
	Now time.Time
	// Recorded is set for requests of the past: the status in them is the one before the answer.
	Recorded bool
}

// Cluster is what is known of a cluster, and answers why.
type Cluster struct {
	options Options
	objects map[Ref]Object
	byUID   map[types.UID]Object
	owned   map[types.UID][]Object // by their controller, in the order of their refs
	strays  map[string][]Object    // Pods of owners that were not read, by namespace
	events  map[subject][]event
	kinds   map[string]bool // of which at least one object was read, as in Pod
}

// New returns a Cluster. The order of the objects does not matter.
func New(options Options) *Cluster {
	c := &Cluster{
		options: options, objects: map[Ref]Object{}, byUID: map[types.UID]Object{}, owned: map[types.UID][]Object{},
		strays: map[string][]Object{}, events: map[subject][]event{}, kinds: map[string]bool{},
	}
	for _, object := range options.Objects {
		ref := apiserver.RefOf(object)
		c.kinds[ref.Kind] = true
		if ref.Kind == "Event" {
			e := newEvent(object)
			c.events[e.about] = append(c.events[e.about], e)
			continue
		}
		c.objects[ref], c.byUID[object.GetUID()] = object, object
	}
	for _, ref := range slices.SortedFunc(maps.Keys(c.objects), Ref.Compare) {
		object := c.objects[ref]
		owner := apiserver.ControllerUID(object)
		c.owned[owner] = append(c.owned[owner], object)
		if ref.Is(metacontroller.Pod) && owner != "" && c.byUID[owner] == nil {
			c.strays[ref.Namespace] = append(c.strays[ref.Namespace], object)
		}
	}
	for _, list := range c.events {
		slices.SortFunc(list, newestFirst)
	}
	return c
}

// controllerOf returns the operator of a custom resource, or nil.
func (c *Cluster) controllerOf(ref Ref) *metacontroller.Controller {
	for i := range c.options.Controllers {
		if ref.Is(c.options.Controllers[i].Parent) {
			return &c.options.Controllers[i]
		}
	}
	return nil
}

// Parents returns the custom resources of the operators, in the order of kinds, namespaces and names.
func (c *Cluster) Parents() []Object {
	var list []Object
	for ref, object := range c.objects {
		if c.controllerOf(ref) != nil {
			list = append(list, object)
		}
	}
	slices.SortFunc(list, func(a, b Object) int {
		return cmp.Or(strings.Compare(a.GetKind(), b.GetKind()), apiserver.RefOf(a).Compare(apiserver.RefOf(b)))
	})
	return list
}

// Find returns the custom resources of a kind and name: the kind is one that kubectl would take,
// as in ModelBox, modelboxes or modelboxes.model.github.com. An empty namespace stands for all.
func (c *Cluster) Find(kind, namespace, name string) []Object {
	return slices.DeleteFunc(c.Parents(), func(object Object) bool {
		return !c.IsKind(kind, apiserver.RefOf(object)) || object.GetName() != name || namespace != "" && object.GetNamespace() != namespace
	})
}

// IsKind reports whether an object is of the kind that a person names.
func (c *Cluster) IsKind(kind string, ref Ref) bool {
	controller := c.controllerOf(ref)
	if controller == nil {
		return false
	}
	resource := controller.Parent
	name, group, hasGroup := strings.Cut(strings.ToLower(kind), ".")
	return (name == controller.Name() || name == resource.Plural) && (!hasGroup || group == resource.Group())
}

// below returns the objects below an owner: what it controls, and the Pods that it selects
// where what stands between them was not read.
func (c *Cluster) below(owner Object) []Object {
	list := c.owned[owner.GetUID()]
	wanted, _, _ := unstructured.NestedStringMap(owner.Object, "spec", "selector", "matchLabels")
	if len(wanted) == 0 {
		return list
	}
	for _, pod := range c.strays[owner.GetNamespace()] {
		if isSelected(pod, wanted) && !slices.Contains(list, pod) {
			list = append(slices.Clip(list), pod)
		}
	}
	return list
}

func isSelected(object Object, wanted map[string]string) bool {
	for key, value := range wanted {
		if apiserver.Label(object, key) != value {
			return false
		}
	}
	return true
}
