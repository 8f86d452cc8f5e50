package player

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/controllers"
	"github.com/operetta-dev/operetta/metacontroller"
)

// The actions that strike whatever has the name of their target, whenever it comes, in every namespace.
// A target that controls Pods stands for its Pods.
const (
	// Fail keeps an object from becoming ready: its Pods crash, or fail if they are not restarted; a
	// load balancer gets no address, a claim no volume.
	Fail = "fail"
	// Hold keeps running Pods from becoming ready or done.
	Hold = "hold"
	// Flap makes Pods not ready and ready again, twice; in a schedule it does one half of that.
	Flap = "flap"
	// Evict fails Pods as a node does that is short of memory or disk, or deletes them for others, once.
	Evict = "evict"
	// LoseNode stops the node of Pods.
	LoseNode = "lose-node"
	// Vanish deletes an object by hand, once.
	Vanish = "vanish"
)

// Forms of what follows the word.
const (
	anObject   = "KIND/NAME"
	objectJSON = "JSON"
)

// image is the kind of a target that stands for all Pods that run an image.
const image = "Image"

// ActionKind is a kind of actions, named by the word that each [Action] of it begins with.
type ActionKind struct {
	// Name is the word, and Form what follows it, or empty.
	Name, Form string
	// Does says what happens.
	Does string
	// Group is who or what does it, and Word says it in a word or three, both for those with a button.
	Group, Word string
	// Begins is the step of an action that names none. Zero is after everything has converged, but
	// for [Fail] and [Hold], which begin with the object.
	Begins int
	// IsFlag is set for those that are a flag of simulate and a button of the page. All others say what
	// happens next where nothing happens by itself.
	IsFlag bool
	// OfParents is set for those whose target is a custom resource.
	OfParents bool
	// OfPods is set for those that happen to the Pods that their target controls, or to the Pod that it is.
	OfPods bool
	// Kinds are those of its targets; nil is any.
	Kinds []string
	// Details are what may follow the target, besides nothing; nil is anything.
	Details []Detail
}

// Detail is what may follow the target of an action.
type Detail struct {
	// Name is the word, and Does says what happens then.
	Name, Does string
	// OfPods is set for those that only Pods, and what controls some, can have.
	OfPods bool
	// Kinds are those of its targets; nil is any.
	Kinds []string
}

// ActionKinds returns all of them.
func ActionKinds() []ActionKind {
	return []ActionKind{
		{Name: Fail, Form: anObject + " [CAUSE]", IsFlag: true, Group: "Pod", Word: "never ready", Details: troubles(), Does: "it never becomes ready, or its Pods fail"},
		{Name: Hold, Form: anObject, IsFlag: true, Group: "Pod", Word: "runs, not ready", OfPods: true, Does: "its Pods run, and become neither ready nor done"},
		{Name: Flap, Form: anObject, IsFlag: true, Group: "Pod", Word: "ready on and off", OfPods: true, Does: "its Pods become not ready and ready again, twice"},
		{Name: Evict, Form: anObject + oneOf(evictions[1:]), IsFlag: true, Group: "Pod", Word: "the node is full", OfPods: true, Details: evictions, Does: "its Pods are evicted, as by a node that is short of memory"},
		{Name: LoseNode, Form: anObject, IsFlag: true, Group: "Pod", Word: "the node is silent", OfPods: true, Does: "the node of its Pods stops answering"},
		{Name: Vanish, Form: anObject, IsFlag: true, Group: "people", Word: "deletes it once", Does: "it is deleted by hand, once"},
		{Name: "drain", Form: anObject, IsFlag: true, Group: "Pod", Word: "the node is emptied", OfPods: true, Does: "its Pods are evicted, if their PodDisruptionBudgets allow it"},
		{Name: "quota", Form: "KIND|off", IsFlag: true, Group: "cluster", Word: "no more of the kind", Begins: 1, Does: "no more of the kind can be created"},
		{Name: refuse, Form: "KIND" + oneOf(refusals), IsFlag: true, Group: "cluster", Word: "creation is denied", Begins: 1, Details: refusals, Does: "it cannot be created, because an admission webhook denies it, or for that reason"},
		{Name: "take-name", Form: anObject + oneOf(takers), IsFlag: true, Group: "people", Word: "its name is used", Begins: 1, Kinds: slices.Sorted(maps.Keys(strangers)), Details: takers, Does: "somebody else's object has its name"},
		{Name: "edit", Form: anObject + " PATCH", IsFlag: true, Group: "people", Word: "change a field", Does: "a person changes it, by a merge patch in JSON"},
		{Name: "late-cache", Form: anObject, IsFlag: true, Group: "Metacontroller", Word: "sees the step before", OfParents: true, Begins: 2, Does: "it is synced by a Metacontroller that has not heard of the step before"},
		{Name: "crash", Form: anObject + " [N]", IsFlag: true, Group: "Metacontroller", Word: "dies after a write", OfParents: true, Begins: 1, Does: "Metacontroller dies after its first, or Nth, write for it"},
		{Name: "lose-status", Form: anObject, IsFlag: true, Group: "Metacontroller", Word: "its write is lost", OfParents: true, Begins: 1, Does: "the write of its status is lost"},
		{Name: "create", Form: objectJSON, Does: "a person applies an object"},
		{Name: "delete", Form: anObject + " [orphan|foreground]", Does: "a person deletes it"},
		{Name: "mend", Does: "whatever fails, holds, flaps, is lost or is refused no longer does"},
		{Name: "metric", Form: "NAME PERCENT", Does: "a HorizontalPodAutoscaler measures that much of its target"},
		{Name: "due", Form: anObject, Kinds: []string{metacontroller.CronJob.Kind}, Does: "the schedule of a CronJob is due"},
		{Name: "wait", Form: "5s|timer", Does: "time passes, or comes to the next timer"},
		{Name: "calm", Form: "N", Does: "for N steps, everybody hears of everything and does all there is to do"},
		{Name: "deliver", Form: "[KIND [all]]", Does: "Metacontroller hears of the next change of a kind, or of all"},
		{Name: "relist", Form: "KIND", Does: "its watch of a kind ends, and it lists them"},
		{Name: "restart", Does: "Metacontroller begins anew"},
		{Name: "sync", Form: anObject + " [crash@N|refuse@N|doubt@N|lose-status|503]", OfParents: true, Does: "it syncs a custom resource"},
		{Name: "step", Form: anObject, Does: "the controller of an object, or the kubelet, does its next step"},
		{Name: "hear", Form: "Pod [all]", Does: "the built-in controllers hear of the next change of a Pod, or of all"},
		{Name: "collect", Does: "the garbage collector works"},
	}
}

// troubles are what [Fail] does to a Pod.
var troubles = sync.OnceValue(func() (list []Detail) {
	for _, trouble := range controllers.Troubles() {
		list = append(list, Detail{Name: trouble.Name, Does: trouble.Does, OfPods: true})
	}
	return list
})

// oneOf is the form of details.
func oneOf(details []Detail) string {
	names := make([]string, len(details))
	for i, detail := range details {
		names[i] = detail.Name
	}
	return " [" + strings.Join(names, "|") + "]"
}

var (
	evictions = []Detail{
		{Name: "memory", Does: "the node is short of memory"},
		{Name: "disk", Does: "the node is short of disk"},
		{Name: controllers.Preempted, Does: "Pods of more priority take the node"},
	}
	refusals = []Detail{
		{Name: string(apiserver.BySecurity), Kinds: []string{"Pod"}, Does: "Pod Security refuses Pods"},
		{Name: string(apiserver.NoAccount), Kinds: []string{"Pod"}, Does: "the ServiceAccount of Pods is missing"},
		{Name: string(apiserver.ByWebhook), Does: "an admission webhook denies it"},
		{Name: string(apiserver.PortTaken), Kinds: []string{"Service"}, Does: "somebody has the node port"},
		{Name: off, Does: "objects of the kind are no longer refused, except by a quota"},
	}
	takers = []Detail{{Name: Ownerless, Does: "an object that nobody owns has its name"}}
)

// IsFlag reports whether the actions of a name are a flag of simulate and a button of the page.
func IsFlag(name string) bool {
	kind := kindOfAction(name)
	return kind != nil && kind.IsFlag
}

func kindOfAction(name string) *ActionKind {
	list := ActionKinds()
	at := slices.IndexFunc(list, func(v ActionKind) bool { return v.Name == name })
	if at < 0 {
		return nil
	}
	return &list[at]
}

func actionWords() (names []string) {
	for _, kind := range ActionKinds() {
		names = append(names, kind.Name)
	}
	return names
}
