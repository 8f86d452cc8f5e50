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

// finalize takes the product down, stage by stage, the last one first. It goes
// by what is there and by its names: a spec that cannot be resolved, or not even
// decoded, is no reason to stop, only its volumes are left alone then.
//
// A child of which nothing tells the component goes last, with the databases: it
// may be one, or what one needs, and to go late costs it nothing.
func finalize(ds *DataService, seen metacontroller.Observed) (result, error) {
	down := newTeardown(ds, seen)
	answer := result{Finalized: down.current < 0, ResyncAfter: down.again}
	if !answer.Finalized {
		answer.Children = down.children()
	}
	answer.Status = down.status()
	return answer, nil
}

// teardown is what is left of a product, and what goes next.
type teardown struct {
	product *product
	there   observed
	owners  owners

	left []leftChild
	pods []*observedPod // that have to go before the next stage
	// current is the last stage of which anything is left, its Pods included, or -1.
	current int
	// again is when to look again though nothing may happen until then, or zero.
	again            time.Duration
	mayDeleteVolumes bool

	// told are the StatefulSets that have yet to take over that their volumes go, unless
	// that has been given up.
	told       []metacontroller.Object
	hasGivenUp bool
	conditions *operator.Conditions
}

// leftChild is a child with the key of its component, or nothing where that
// cannot be told.
type leftChild struct {
	observedChild

	component string
}

func newTeardown(ds *DataService, seen metacontroller.Observed) *teardown {
	p, specErr := resolve(ds, table())
	d := &teardown{product: p, there: observeLeftovers(seen), owners: p.owners(), current: -1}
	d.mayDeleteVolumes = specErr == nil && !seen.SpecDamaged && !ds.DeletionTimestamp.IsZero()
	hasChild := map[string]bool{}
	for _, child := range d.there.children {
		component := d.component(child)
		d.left = append(d.left, leftChild{child, component})
		hasChild[component] = true
		d.current = max(d.current, d.stage(component))
	}
	for i := range d.there.pods {
		pod := &d.there.pods[i]
		component := pod.Metadata.Labels.Component
		waits, again := d.waitsFor(pod, hasChild[component], ds.DeletionTimestamp, seen.Now)
		if waits {
			d.pods = append(d.pods, pod)
			d.current = max(d.current, d.stage(component))
			d.again = operator.Soonest(d.again, again)
		}
	}
	d.conditions = operator.NewConditions(ds.Status.Conditions, ds.Generation, seen.Now)
	d.tellSets(seen.Now)
	return d
}

// component returns the key of the component to which a child belongs, or
// nothing where it cannot be told. Where a name has gone from one to another it
// is the one that goes later. A label is believed where nothing knows the name.
func (d *teardown) component(child observedChild) string {
	keys := d.owners.of(child)
	if len(keys) == 0 && d.owners.knows(child.label) {
		return child.label
	}
	if len(keys) == 0 {
		return ""
	}
	return slices.MinFunc(keys, d.lastStays)
}

// stage returns the stage of a component: 0 for the one that goes last, and for
// one that the table does not know.
func (d *teardown) stage(component string) int { return d.product.stages[component] }

// unownedPodTime is how long a teardown waits for Pods that nobody deletes though
// nothing of their component is left. The garbage collector takes seconds. A
// workload that has lost the label by which Metacontroller knows it is not shown,
// and goes on making Pods until the DataService is gone.
const unownedPodTime = 5 * time.Minute

// waitsFor reports whether the teardown waits for a Pod, which has to be of a known
// component, and when to look again where no event of a child ends that. Once no child is left,
// no stage comes after it, and a Pod that nobody has deleted may stay for good: a
// deletion with --cascade=orphan, of which only the end was seen, leaves the
// Deployments of such Pods to whoever asked for that.
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

// children returns what stays for now: the stages before the current one, and a
// StatefulSet that has yet to learn that its volumes shall go with it.
func (d *teardown) children() []metacontroller.Object {
	stay := slices.Clone(d.told)
	for _, child := range d.left {
		if d.stage(child.component) < d.current {
			stay = append(stay, metacontroller.Keep(child.Snapshot))
		}
	}
	return stay
}

// firstGoes orders components as they go.
func (d *teardown) firstGoes(a, b string) int {
	return cmp.Or(cmp.Compare(d.stage(b), d.stage(a)), strings.Compare(a, b))
}

// lastStays orders components the other way round.
func (d *teardown) lastStays(a, b string) int { return d.firstGoes(b, a) }

// names begins the status of a component with its names, which the next request
// may need to tell to which component a child belongs.
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

// status tells what goes, and what waits for it.
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
	for _, component := range slices.SortedFunc(maps.Keys(going), d.firstGoes) {
		told := d.names(component)
		told.Message = "waits for what depends on it to go"
		if d.stage(component) >= d.current {
			told.Message = going[component][0] + " has yet to go"
			first = append(first, going[component][0])
		}
		status.Components = append(status.Components, told)
	}
	message := "everything has gone"
	if len(first) > 0 {
		message = "has yet to go: " + operator.Listed(first, ", ")
	}
	for _, conditionType := range []string{operator.ConditionReady, conditionMiddlewareReady, conditionServicesReady} {
		d.conditions.Set(conditionType, metav1.ConditionFalse, string(PhaseDeleting), message)
	}
	status.Conditions = d.conditions.List()
	return status
}
