package player

import (
	"cmp"
	"fmt"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/lab/cluster/controllers"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/simulation"
)

// DefaultMaxSteps is how many steps [World.Play] plays before it gives up.
const DefaultMaxSteps = 200

// Options are what a World needs.
type Options struct {
	// Controllers are the operators, whose parents are played.
	Controllers metacontroller.Controllers
	// Simulation is what their authors tell of them.
	Simulation simulation.Kinds
	// Installation names their CompositeControllers. The default is that of Operetta.
	Installation manifests.Installation
	// Call calls their hooks.
	Call Call
	// Apply is the apply strategy; the default is DynamicApply.
	Apply Strategy
	// HookVersion is v1 or v2; the default is v2.
	HookVersion string
	// MaxSteps is the limit of steps; the default is DefaultMaxSteps.
	MaxSteps int
	// Actions are done while it is played. With some that strike no name, it is Late.
	Actions []Action
	// Stop ends [World.Play] with its error, unless that is nil.
	Stop func() error
	// Late delays Metacontroller's cache until [World.Do] updates it.
	// [World.Step] and [World.Play] update it at each step.
	Late bool
	// Memory is shared by worlds of the same operators; nil is a new one.
	Memory *Memory
	// SkipValidation accepts custom resources that their
	// CustomResourceDefinition refuses. Defaults are filled in anyway.
	SkipValidation bool
}

// maxRequest is how large an object in a request may be for an API server, in bytes.
const maxRequest = 3 << 20

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// World is a cluster in memory.
type World struct {
	// Steps are the steps with events.
	Steps []Step

	options    Options
	now        time.Time // the simulated time; it is constant within a step
	server     *apiserver.Server
	composite  *composite.Metacontroller
	builtin    *controllers.Builtin
	faults     []*faultState
	timed      []timed // in their order
	isFollowed bool    // more is applied later, see PlayOn
	vain       []Vain
	refusing   []Action          // quotas and other refusals that have been set
	taken      []Action          // names that were free
	missed     string            // why the last action has not struck
	played     []Action          // see Played
	steady     int               // steps since the last of them
	events     []Event           // of the present step
	quiet      map[kube.Ref]bool // parents for which Play has checked that another sync changes nothing
	recent     []apiserver.Write
	foreign    map[kube.Ref]bool
	refusals   int        // of requests by people
	waiting    []kube.Ref // children on which nothing acts, of which that is still to be said
}

// New returns an empty World.
func New(options Options) *World {
	options.Apply = cmp.Or(options.Apply, DynamicApply)
	options.Installation = cmp.Or(options.Installation, manifests.Operetta())
	options.HookVersion = cmp.Or(options.HookVersion, "v2")
	options.MaxSteps = cmp.Or(options.MaxSteps, DefaultMaxSteps)
	options.Memory = cmp.Or(options.Memory, NewMemory())
	w := &World{now: start, foreign: map[kube.Ref]bool{}, options: options}
	w.begin(options.Actions)
	options.Late = options.Late || len(w.timed) > 0
	w.options = options
	w.server = apiserver.New(apiserver.Options{
		Now: w.Now, Kinds: options.Memory.Kinds(options.Controllers), SkipValidation: options.SkipValidation,
	})
	w.composite = composite.New(w.server, composite.Options{
		Controllers: options.Controllers, Installation: options.Installation, Call: options.Call, Apply: options.Apply,
		HookVersion: options.HookVersion, Late: options.Late, Memory: options.Memory, Failed: w.hookFailed,
	})
	w.builtin = controllers.New(w.server, controllers.Options{Struck: w.isStruck, Trouble: w.troubleOf, Program: w.runProgram, Late: options.Late})
	w.server.Watch(w.record)
	return w
}

// Apply creates or edits an object as a person does with kubectl. An object that
// is no parent belongs to someone else. The error is that of the API server,
// including the refusal of an edit by a validation rule.
func (w *World) Apply(text []byte) error {
	if len(text) > maxRequest {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxRequest))
	}
	object, err := kube.ParseObject(text)
	if err != nil {
		return err
	}
	k := w.server.Kind(object.GetAPIVersion(), object.GetKind())
	if k.IsCluster {
		object.SetNamespace("")
	} else {
		object.SetNamespace(cmp.Or(object.GetNamespace(), "default"))
		if err := w.addNamespace(object.GetNamespace()); err != nil {
			return err
		}
	}
	ref := kube.RefOf(object)
	live := w.server.Get(ref)
	if live == nil {
		if !w.isParentKind(ref) {
			w.foreign[ref] = true
		}
		_, err = w.server.Create(apiserver.ByUser, object)
		return err
	}
	if object.GetFinalizers() == nil && live.GetFinalizers() != nil {
		object.SetFinalizers(live.GetFinalizers())
	}
	if object.GetOwnerReferences() == nil && live.GetOwnerReferences() != nil {
		object.SetOwnerReferences(live.GetOwnerReferences())
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
	_, err = w.server.Update(apiserver.ByUser, object)
	return err
}

func (w *World) addNamespace(name string) error {
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	w.foreign[kube.RefOf(namespace)] = true
	_, err := w.server.Create(apiserver.ByKubernetes, namespace)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Delete deletes an object by hand. An error means that it does not exist.
func (w *World) Delete(ref kube.Ref) error { return w.server.Delete(apiserver.ByUser, ref, "") }

// DeleteParents deletes all custom resources. Play then plays the teardown.
func (w *World) DeleteParents() {
	for _, p := range w.composite.Parents() {
		if w.server.Get(p.Ref) != nil {
			_ = w.server.Delete(apiserver.ByUser, p.Ref, "") // it is there
		}
	}
}

// Get returns an object, which is not to be modified, or nil.
func (w *World) Get(ref kube.Ref) kube.Object { return w.server.Get(ref) }

// Now returns the time inside the World.
func (w *World) Now() time.Time { return w.now }

// Objects returns all objects in the order of kinds and names. They are not to be modified.
func (w *World) Objects() []kube.Object { return w.server.Objects() }

// Events returns the Events of the last hour, the oldest first: warnings of what comes with Kubernetes.
func (w *World) Events() []kube.Object { return w.server.Events() }

// Endpoints returns where a Service leads to, as in "80 -> Pod/web-0:8080".
func (w *World) Endpoints(service kube.Ref) []string { return w.builtin.Endpoints(service) }

// IsOfParent reports whether an object is a custom resource that is played.
func (w *World) IsOfParent(object kube.Object) bool { return w.isParentKind(kube.RefOf(object)) }

// IsChild reports whether an object is, or was, owned by a custom resource that is played.
func (w *World) IsChild(object kube.Object) bool {
	owner, found := kube.ControllerOf(object)
	return found && w.isParentKind(owner)
}

// IsForeign reports whether an object existed before a hook asked for it.
func (w *World) IsForeign(object kube.Object) bool { return w.foreign[kube.RefOf(object)] }

func (w *World) isParentKind(ref kube.Ref) bool {
	return w.options.Controllers.Of(ref.APIVersion, ref.Kind) != nil
}

// Outcome is how a custom resource ended.
type Outcome struct {
	Parent kube.Object
	// Ready, Reason and Message are those of its condition Ready.
	Ready, Reason, Message string
	// Failure is why its last sync failed, or empty.
	Failure string
	// Quiet is set if [World.Play] has checked that another sync changes nothing.
	Quiet bool
	// Calls counts the calls of its hooks, Children the objects it owns.
	Calls, Children int
	// After is the time from the first step to the last.
	After time.Duration
}

// Outcomes returns how the custom resources that still exist ended, in the order of their names.
func (w *World) Outcomes() []Outcome {
	var list []Outcome
	var after time.Duration
	if len(w.Steps) > 0 {
		after = w.Steps[len(w.Steps)-1].Time.Sub(w.Steps[0].Time)
	}
	for _, p := range w.composite.Parents() {
		object := w.server.Get(p.Ref)
		if object == nil {
			continue
		}
		ready := kube.ConditionOf(object, operator.ConditionReady)
		list = append(list, Outcome{
			Parent: object, Ready: ready.Status, Reason: ready.Reason, Message: ready.Message,
			Failure: p.Failure, Quiet: w.quiet[p.Ref], Calls: p.Calls, Children: len(w.server.OwnedBy(object.GetUID())),
			After: after,
		})
	}
	return list
}

func (w *World) hookFailed(parent kube.Ref, reason string) {
	w.events = append(w.events, Event{Verb: Failed, Object: w.server.Get(parent), By: "Metacontroller", Detail: reason})
}

func (w *World) describe(ref kube.Ref) string { return fmt.Sprintf("%s %s", ref.Kind, ref.Key()) }

func (w *World) runProgram(pod *corev1.Pod) error {
	for _, controller := range w.options.Controllers {
		workload := w.options.Simulation[controller.Name()].Workload
		if workload == nil {
			continue
		}
		if err := workload(cluster{w.server}, pod); err != nil {
			return err
		}
	}
	return nil
}

type cluster struct{ server *apiserver.Server }

func (c cluster) AddEphemeralContainer(namespace, pod string, container corev1.EphemeralContainer) error {
	return c.server.AddEphemeralContainer(apiserver.ByKubernetes, kube.Ref{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: pod}, container)
}
