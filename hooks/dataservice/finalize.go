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
	owners   owners

	left []leftChild
	pods []*observedPod // that must be gone before the next stage
	// current is the last stage with objects left, Pods included, or -1.
	current int
	// resyncAfter is when to check again without an event, or zero.
	resyncAfter      time.Duration
	mayDeleteVolumes bool

	// retained are the StatefulSets that have yet to be updated so that their
	// volumes are deleted, unless that has been given up.
	retained   []metacontroller.Object
	hasGivenUp bool
	conditions *operator.Conditions
}

// leftChild is a child with the key of its component, or "" if it is unknown.
type leftChild struct {
	observedChild

	component string
}

func newTeardown(ds *DataService, request metacontroller.Observed) *teardown {
	p, specErr := DefaultPolicy().resolve(ds) // whose images do not matter here
	d := &teardown{product: p, observed: observeLeftovers(request), owners: p.owners(), current: -1}
	d.mayDeleteVolumes = specErr == nil && !request.SpecDamaged && !ds.DeletionTimestamp.IsZero()
	hasChild := map[string]bool{}
	for _, child := range d.observed.children {
		component := d.component(child)
		d.left = append(d.left, leftChild{child, component})
		hasChild[component] = true
		d.current = max(d.current, d.stage(component))
	}
	for i := range d.observed.pods {
		pod := &d.observed.pods[i]
		component := pod.Metadata.Labels.Component
		waits, again := d.waitsFor(pod, hasChild[component], ds.DeletionTimestamp, request.Now)
		if waits {
			d.pods = append(d.pods, pod)
			d.current = max(d.current, d.stage(component))
			d.resyncAfter = operator.Soonest(d.resyncAfter, again)
		}
	}
	d.conditions = operator.NewConditions(ds.Status.Conditions, ds.Generation, request.Now)
	d.setVolumeRetention(request.Now)
	return d
}

// component returns the key of the component to which a child belongs, or "" if
// it is unknown. If a name has moved from one component to another, it is the
// one that is deleted later. The label is used if the name is unknown.
func (d *teardown) component(child observedChild) string {
	keys := d.owners.of(child)
	if len(keys) == 0 && d.owners.knows(child.label) {
		return child.label
	}
	if len(keys) == 0 {
		return ""
	}
	return slices.MinFunc(keys, d.creationOrder)
}

// stage returns the stage of a component: 0 for those that are deleted last,
// and for unknown ones.
func (d *teardown) stage(component string) int { return d.product.stages[component] }

// unownedPodTime is how long a teardown waits for Pods that nobody deletes
// though their component has no other objects. The garbage collector takes
// seconds. A workload without Metacontroller's label is not in the request, and
// goes on creating Pods until the DataService is gone.
const unownedPodTime = 5 * time.Minute

// waitsFor reports whether the teardown waits for a Pod of a known component,
// and when to check again if no event of a child would end that. Once no child
// is left there is no next stage, and a Pod may stay for good: after a deletion
// with --cascade=orphan the Pods of Deployments belong to whoever asked for it.
func (d *teardown) waitsFor(pod *observedPod, hasChild bool, deleted *metav1.Time, now time.Time) (waits bool, again time.Duration) {
	switch {
	case !pod.isOwned() || !d.owners.knows(pod.Metadata.Labels.Component):
		return false, 0
	case hasChild:
		return true, 0
	case pod.Terminating:
		return true, metacontroller.RelatedResync
	case len(d.left) == 0:
		return false, 0
	case deleted == nil:
		return true, metacontroller.RelatedResync
	}
	rest := max(0, unownedPodTime-now.Sub(deleted.Time))
	return rest > 0, min(rest, metacontroller.RelatedResync)
}

// children returns what stays for now: the earlier stages, and StatefulSets
// that have yet to be updated so that their volumes are deleted with them.
func (d *teardown) children() []metacontroller.Object {
	stay := slices.Clone(d.retained)
	for _, child := range d.left {
		if d.stage(child.component) < d.current {
			stay = append(stay, metacontroller.Keep(child.Snapshot))
		}
	}
	return stay
}

// isLetGo reports whether Metacontroller's finalizer has been removed, and others hold the DataService.
// Metacontroller removes it, too, when everything has gone.
func (d *teardown) isLetGo() bool {
	finalizers := d.product.ds.Finalizers
	return len(finalizers) > 0 && !slices.ContainsFunc(finalizers, func(name string) bool { return strings.HasPrefix(name, metacontroller.FinalizerPrefix) })
}

// deletionOrder compares components in the order of their deletion.
func (d *teardown) deletionOrder(a, b string) int {
	return cmp.Or(cmp.Compare(d.stage(b), d.stage(a)), strings.Compare(a, b))
}

// creationOrder is the reverse of deletionOrder.
func (d *teardown) creationOrder(a, b string) int { return d.deletionOrder(b, a) }

// names returns the status of a component with its names, which the next
// request may need to recognize its children.
func (d *teardown) names(component string) ComponentStatus {
	told := ComponentStatus{Component: component}
	if i := slices.IndexFunc(d.product.ds.Status.Components, func(s ComponentStatus) bool { return s.Component == component }); i >= 0 {
		told.Name, told.FormerNames = d.product.ds.Status.Components[i].Name, d.product.ds.Status.Components[i].FormerNames
	}
	u := d.product.unit(component)
	if u == nil || u.name == told.Name {
		return told
	}
	if told.Name != "" && !slices.Contains(told.FormerNames, told.Name) {
		told.FormerNames = append(slices.Clone(told.FormerNames), told.Name)
	}
	told.Name = u.name
	return told
}

// status reports what is being deleted, and what waits for it.
func (d *teardown) status() Status {
	going := map[string][]string{}
	for _, child := range d.left {
		going[child.component] = append(going[child.component], child.Ref())
	}
	for _, pod := range d.pods {
		component := pod.Metadata.Labels.Component
		going[component] = append(going[component], pod.Ref())
	}
	status := Status{Phase: PhaseDeleting, VolumesGivenUp: d.hasGivenUp}
	var first []string
	for _, component := range slices.SortedFunc(maps.Keys(going), d.deletionOrder) {
		told := d.names(component)
		told.Message = "waiting for deletion of what depends on it"
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
	if len(first) > 0 && d.isLetGo() {
		message = "Metacontroller's finalizer has been removed, so it deletes nothing: what is left goes in no order when the other finalizers are gone, and its volumes stay"
	}
	for _, conditionType := range []string{operator.ConditionReady, conditionMiddlewareReady, conditionServicesReady} {
		d.conditions.Set(conditionType, metav1.ConditionFalse, string(PhaseDeleting), message)
	}
	status.Conditions = d.conditions.List()
	return status
}
