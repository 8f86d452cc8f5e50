package dataservice

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// finalize deletes the product stage by stage, in reverse order. It uses the
// names of observed objects, so that it works with an invalid or undecodable
// spec; only the volumes are kept then.
//
// A child of an unknown component is deleted last, with the databases: it may
// be one, or be needed by one.
func finalize(ds *DataService, request metacontroller.Observed) (result, error) {
	down := newTeardown(ds, request)
	answer := result{Finalized: down.current < 0, ResyncAfter: down.resyncAfter}
	if !answer.Finalized {
		answer.Children = down.children()
	}
	answer.Status = down.status()
	return answer, nil
}

// teardown is what is left of a product, and what is deleted next.
type teardown struct {
	product  *product
	observed observed

	left []leftChild
	pods []leftPod // that must be gone before the next stage
	// current is the last stage with objects left, Pods included, or -1.
	current int
	// resyncAfter is when to check again without an event, or zero.
	resyncAfter time.Duration
	// mayDeleteVolumes is set where the spec can tell so.
	mayDeleteVolumes bool

	// retained are the StatefulSets that have yet to learn what becomes of their
	// volumes.
	retained   []metacontroller.Object
	conditions *operator.Conditions
}

// leftChild is a child with the key of its component, or "" if it is unknown.
type leftChild struct {
	metacontroller.Snapshot

	component string
}

func newTeardown(ds *DataService, request metacontroller.Observed) *teardown {
	p, specErr := DefaultPolicy().resolve(ds) // whose images do not matter here
	d := &teardown{product: p, current: -1, conditions: operator.NewConditions(ds.Status.Conditions, ds.Generation, request.Now)}
	// A damaged object must neither stop nor reorder it.
	d.observed.workloads = metacontroller.ListReadable[observedWorkload](request.Children, metacontroller.StatefulSet.APIVersion, metacontroller.StatefulSet.Kind)
	d.mayDeleteVolumes = specErr == nil && !request.SpecDamaged && !ds.DeletionTimestamp.IsZero()
	owners, hasChild := p.owners(), map[string]bool{}
	for _, child := range childrenIn(request) {
		component, isKnown := owners[child.Name]
		if label := child.Label(componentLabel); !isKnown && d.knows(label) {
			component = label
		}
		d.left = append(d.left, leftChild{child, component})
		hasChild[component] = true
		d.current = max(d.current, d.stage(component))
	}
	for _, pod := range metacontroller.ListReadable[leftPod](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind) {
		component := pod.Metadata.Labels.Component
		if pod.Metadata.owner() == "" || !d.knows(component) || !hasChild[component] && !d.waitsForPod(pod, request.Now) {
			continue
		}
		d.pods = append(d.pods, pod)
		d.current = max(d.current, d.stage(component))
		if !hasChild[component] { // and so no event of a child
			d.resyncAfter = metacontroller.RelatedResync
		}
	}
	d.updateRetention(request.Now)
	return d
}

// stage returns the stage of a component: 0 for those that are deleted last,
// and for unknown ones.
func (d *teardown) stage(component string) int { return d.product.stages[component] }

// knows reports whether there is such a component.
func (d *teardown) knows(component string) bool {
	_, isKnown := d.product.stages[component]
	return isKnown
}

// unownedPodTime is how long a teardown waits for Pods that nobody deletes
// though their component has no other objects. The garbage collector takes
// seconds. A workload without Metacontroller's label is not in the request, and
// goes on creating Pods until the DataService is gone.
const unownedPodTime = 5 * time.Minute

// waitsForPod reports whether the teardown waits for a Pod of a component without
// children. Once no child is left there is no next stage, and a Pod may stay for
// good: after --cascade=orphan the Pods of Deployments belong to whoever asked for it.
func (d *teardown) waitsForPod(pod leftPod, now time.Time) bool {
	if pod.Terminating || len(d.left) == 0 {
		return pod.Terminating
	}
	deleted := d.product.ds.DeletionTimestamp
	return deleted == nil || now.Sub(deleted.Time) < unownedPodTime
}

// children returns what stays for now: the earlier stages, and StatefulSets
// that have yet to learn what becomes of their volumes.
func (d *teardown) children() []metacontroller.Object {
	stay := slices.Clone(d.retained)
	for _, child := range d.left {
		if d.stage(child.component) < d.current {
			stay = append(stay, metacontroller.Keep(child.Snapshot))
		}
	}
	return stay
}

// deletionOrder compares components in the order of their deletion.
func (d *teardown) deletionOrder(a, b string) int {
	return cmp.Or(cmp.Compare(d.stage(b), d.stage(a)), strings.Compare(a, b))
}

// status reports what is being deleted, and what waits for it. The names are for the
// next request, which may need them to recognize children.
func (d *teardown) status() Status {
	going := map[string][]string{}
	for _, child := range d.left {
		going[child.component] = append(going[child.component], child.Ref())
	}
	for _, pod := range d.pods {
		component := pod.Metadata.Labels.Component
		going[component] = append(going[component], pod.Ref())
	}
	status := Status{Phase: PhaseDeleting}
	var first []string
	for _, component := range slices.SortedFunc(maps.Keys(going), d.deletionOrder) {
		told := ComponentStatus{Component: component, Name: d.product.remembered(component), Message: "waiting for deletion of what depends on it"}
		if u := d.product.unit(component); u != nil {
			told.Name = u.name
		}
		if d.stage(component) >= d.current {
			told.Message = "waiting for deletion of " + going[component][0]
			first = append(first, going[component][0])
		}
		status.Components = append(status.Components, told)
	}
	message := "all components are deleted"
	if len(first) > 0 {
		message = "waiting for deletion of " + operator.Listed(first, ", ")
	}
	for _, conditionType := range []string{operator.ConditionReady, conditionMiddlewareReady, conditionServicesReady} {
		d.conditions.Set(conditionType, metav1.ConditionFalse, string(PhaseDeleting), message)
	}
	status.Conditions = d.conditions.List()
	return status
}
