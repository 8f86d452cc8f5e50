// Package simulate plays reconciliation in memory: what Metacontroller 4.17
// does with the answers of the hooks, the part of the API server that matters to
// them, and the built-in controllers that bring their children to life. It is
// for previews and for tests that a thousand cases run through in seconds.
//
// Modelled are: the claiming of children, dynamic apply with its merge by
// guessed list keys, OnDelete and InPlace, silence about objects that are in
// the way, deletion in the background, the replacing of the status, finalizers,
// customize and related objects, timed resyncs; defaults, generations,
// immutable fields and node ports; Deployments, StatefulSets, DaemonSets, Jobs
// and Pods that become ready step by step, and garbage collection.
//
// Not modelled are: validation against a CRD (a real API server refuses more),
// admission, quotas, several nodes, time that passes within a step, caches that
// lag, and the ownership of single list entries under server-side apply.
package simulate

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Call posts a request to a hook, whose server's clock says now. The path is
// "/<kind>/<hook>". It returns the HTTP status and the body.
type Call func(now time.Time, path string, body []byte) (status int, response []byte, err error)

// Strategy is Metacontroller's way to apply children.
type Strategy string

// The apply strategies.
const (
	DynamicApply    Strategy = "dynamic-apply"
	ServerSideApply Strategy = "server-side-apply"
)

// Options are what a World needs.
type Options struct {
	// Controllers are the operators that play along.
	Controllers []metacontroller.Controller
	// Call reaches their hooks.
	Call Call
	// Apply is the strategy; dynamic apply where it is empty.
	Apply Strategy
	// HookVersion is v2 where it is empty, or v1.
	HookVersion string
	// Start is the time at which the clock starts.
	Start time.Time
	// MaxSteps is the number of steps after which there is no fixed point.
	MaxSteps int
	// Faults are what goes wrong.
	Faults []Fault
}

// DefaultMaxSteps is enough for every sample many times over.
const DefaultMaxSteps = 500

// stepTime is the time that a step takes.
const stepTime = time.Second

// World is a cluster in memory.
type World struct {
	options Options
	store   *store
	play    map[string]*player // by uid of the parent
	faults  []*Fault
	now     time.Time
	step    int
	inStep  bool      // events belong to the last of Steps
	wakeAt  time.Time // when a built-in controller wants to look again
	// Steps are what has happened so far.
	Steps []Step
}

// New returns a World without objects.
func New(options Options) *World {
	if options.MaxSteps == 0 {
		options.MaxSteps = DefaultMaxSteps
	}
	if options.Start.IsZero() {
		options.Start = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	}
	w := &World{options: options, play: map[string]*player{}, now: options.Start}
	w.store = &store{
		world: w, objects: map[key]*unstructured.Unstructured{}, byOwner: map[types.UID]map[key]bool{},
	}
	for i := range options.Faults {
		w.faults = append(w.faults, &options.Faults[i])
	}
	return w
}

// Apply puts an object into the world as a person would with kubectl apply: it
// is created, or its spec, labels and annotations are replaced.
func (w *World) Apply(source []byte) error {
	object := &unstructured.Unstructured{}
	if err := decode(source, &object.Object); err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	if object.GetName() == "" || object.GetKind() == "" || object.GetAPIVersion() == "" {
		return fmt.Errorf("an object has no apiVersion, kind or metadata.name")
	}
	if object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	live := w.store.get(keyOf(object))
	if live == nil {
		return w.store.create(object, "applied")
	}
	next := live.DeepCopy()
	for member, value := range object.Object {
		if member != "metadata" && member != "status" {
			next.Object[member] = value
		}
	}
	next.SetLabels(object.GetLabels())
	next.SetAnnotations(object.GetAnnotations())
	return w.store.update(next, "applied")
}

// Restore puts the parent and the children of a sync request into the world,
// as they are in it, so that play goes on from there.
func (w *World) Restore(request []byte) error {
	var content struct {
		Parent   map[string]any                       `json:"parent"`
		Children map[string]map[string]map[string]any `json:"children"`
	}
	if err := decode(request, &content); err != nil {
		return fmt.Errorf("reading a request: %w", err)
	}
	parent := &unstructured.Unstructured{Object: content.Parent}
	if parent.GetNamespace() == "" {
		parent.SetNamespace("default")
	}
	parent.SetDeletionTimestamp(nil)
	if err := w.store.create(parent, "restored"); err != nil {
		return err
	}
	parent = w.store.get(keyOf(parent))
	for _, group := range content.Children {
		for _, object := range group {
			child := &unstructured.Unstructured{Object: object}
			labels := child.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[uidLabel] = string(parent.GetUID())
			child.SetLabels(labels)
			child.SetNamespace(parent.GetNamespace())
			child.SetOwnerReferences([]metav1.OwnerReference{ownerReference(parent)})
			if err := w.store.create(child, "restored"); err != nil {
				return err
			}
		}
	}
	return nil
}

// DeleteParents asks for the deletion of every parent, as kubectl delete does.
func (w *World) DeleteParents() {
	for _, parent := range w.parents() {
		w.store.delete(keyOf(parent), "deleted by hand")
	}
}

// Objects returns all objects, sorted by kind, namespace and name.
func (w *World) Objects() []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, k := range w.store.keys() {
		list = append(list, w.store.objects[k])
	}
	return list
}

// parents returns the objects for which there is an operator.
func (w *World) parents() []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, k := range w.store.keys() {
		if _, ok := w.controllerOf(k.apiVersion, k.kind); ok {
			list = append(list, w.store.objects[k])
		}
	}
	return list
}

func (w *World) controllerOf(apiVersion, kind string) (metacontroller.Controller, bool) {
	for _, c := range w.options.Controllers {
		if c.Parent.APIVersion == apiVersion && c.Parent.Kind == kind {
			return c, true
		}
	}
	return metacontroller.Controller{}, false
}

// encode returns an object as JSON. Everything in the store came from JSON.
func encode(object any) []byte {
	raw, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("an object that came from JSON does not go back: %s", err))
	}
	return raw
}
