package why

import (
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Types of package apiserver.
type (
	// Object is a Kubernetes object of any kind.
	Object = kube.Object
	// Ref names an object.
	Ref = kube.Ref
)

// Kinds are those that tell more, beside the custom resources, their children and what their hooks
// read: where a child makes Pods, what it makes.
func Kinds(controllers metacontroller.Controllers) []metacontroller.Resource {
	kinds := []metacontroller.Resource{
		metacontroller.ReplicaSet, metacontroller.PersistentVolumeClaim, metacontroller.Node,
		{APIVersion: "v1", Kind: "Event", Plural: "events"},
	}
	for i := range controllers {
		for _, kind := range madeBy(&controllers[i]) {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// madeBy are the kinds that tell what the Pods of an operator do, whether its hook reads them or not.
func madeBy(controller *metacontroller.Controller) (kinds []metacontroller.Resource) {
	for _, child := range controller.Children {
		switch ref := (Ref{APIVersion: child.APIVersion, Kind: child.Kind}); {
		case ref.Is(metacontroller.CronJob):
			kinds = append(kinds, metacontroller.Job, metacontroller.Pod)
		case ref.Is(metacontroller.Deployment):
			kinds = append(kinds, metacontroller.ReplicaSet, metacontroller.Pod)
		case ref.Is(metacontroller.ReplicaSet), ref.Is(metacontroller.StatefulSet), ref.Is(metacontroller.DaemonSet), ref.Is(metacontroller.Job):
			kinds = append(kinds, metacontroller.Pod)
		}
	}
	return kinds
}

// Options are what is known of a cluster.
type Options struct {
	// Dump is all that was read, events among it.
	Dump *dump.Dump
	// Controllers are the operators.
	Controllers metacontroller.Controllers
	// Now is when it was read.
	Now time.Time
	// Recorded is set for requests of the past: the status in them is the one before the answer.
	Recorded bool
}

// Cluster answers why, from a dump.
type Cluster struct {
	options Options
	known   map[Ref]Object
	owned   map[types.UID][]Object // by their controller
	events  map[subject][]event    // nil until they are needed
}

// New returns a Cluster. It reads of the dump what it needs.
func New(options Options) *Cluster {
	return &Cluster{options: options, known: map[Ref]Object{}, owned: map[types.UID][]Object{}}
}

// get returns an object, or nil.
func (c *Cluster) get(ref Ref) Object {
	object, isKnown := c.known[ref]
	if !isKnown {
		object = c.options.Dump.Get(ref)
		c.known[ref] = object
	}
	return object
}

// ownedBy returns what an object controls, in the order of kinds and names.
func (c *Cluster) ownedBy(owner types.UID) []Object {
	list, isKnown := c.owned[owner]
	if isKnown || owner == "" {
		return list
	}
	for object := range c.options.Dump.ByOwner(owner) {
		if kube.ControllerUID(object) == owner {
			list = append(list, object)
		}
	}
	c.owned[owner] = list
	return list
}

// below returns the objects below an owner: what it controls, and the Pods that it selects where
// the ReplicaSets between them were not read.
func (c *Cluster) below(owner Object) []Object {
	list := c.ownedBy(owner.GetUID())
	if !kube.RefOf(owner).Is(metacontroller.Deployment) || c.sees(metacontroller.ReplicaSet) {
		return list
	}
	wanted, _, _ := unstructured.NestedStringMap(owner.Object, "spec", "selector", "matchLabels")
	if len(wanted) == 0 {
		return list
	}
	selector := labels.SelectorFromSet(wanted)
	for _, ref := range c.options.Dump.Refs("v1", "Pod") {
		if ref.Namespace == owner.GetNamespace() && selector.Matches(labels.Set(c.get(ref).GetLabels())) {
			list = append(slices.Clip(list), c.get(ref))
		}
	}
	return list
}

func (c *Cluster) sees(kind metacontroller.Resource) bool {
	return c.options.Dump.Sees(kind.APIVersion, kind.Kind)
}

// seesEvents reports whether the dump has events, of either API.
func (c *Cluster) seesEvents() bool {
	return c.options.Dump.Sees("v1", "Event") || c.options.Dump.Sees("events.k8s.io/v1", "Event")
}
