package dataservice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// finalize takes the product down, stage by stage, the last one first. It goes
// by what is there and by its names: a spec that cannot be resolved, or not even
// decoded, is no reason to stop, only its volumes are left alone then.
//
// A child of which nothing tells the component goes last, with the databases: it
// may be one, or what one needs, and to go late costs it nothing.
func finalize(ds *DataService, seen metacontroller.Observed) (result, error) {
	p, specErr := resolve(ds, table())
	down := teardown{product: p, there: observeLeftovers(seen), owners: p.owners()}
	down.mayDeleteVolumes = specErr == nil && !seen.SpecDamaged && !ds.DeletionTimestamp.IsZero()
	down.begun, down.now = ds.DeletionTimestamp, seen.Now
	answer := result{Finalized: down.isDone(), ResyncAfter: down.untilStraysCount()}
	if !answer.Finalized {
		answer.Children = down.children()
	}
	answer.Status = down.status(ds, seen)
	return answer, nil
}

// teardown is what is left of a product, and what goes next.
type teardown struct {
	product *product
	there   observed
	owners  owners

	begun            *metav1.Time // nil where nobody has deleted the product
	now              time.Time
	mayDeleteVolumes bool
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

// current returns the last stage of which anything is left, its Pods included,
// or -1.
func (d *teardown) current() int {
	last := -1
	for _, child := range d.there.children {
		last = max(last, d.stage(d.component(child)))
	}
	for i := range d.there.pods {
		pod := &d.there.pods[i]
		if d.holds(pod) {
			last = max(last, d.stage(pod.Metadata.Labels.Component))
		}
	}
	return last
}

// holds reports whether the teardown waits for a Pod, which has to be of a known
// component. Once no child is left, no stage comes after it, and a Pod that nobody
// has deleted may stay for good: a deletion with --cascade=orphan, of which only
// the end was seen, leaves the Deployments of such Pods to whoever asked for that.
func (d *teardown) holds(pod *observedPod) bool {
	isOurs := pod.isOwned() && d.owners.knows(pod.Metadata.Labels.Component)
	switch {
	case !isOurs || len(d.there.children) == 0 && !pod.Terminating:
		return false
	case d.isStray(pod):
		return d.begun == nil || d.now.Sub(d.begun.Time) < strayTime
	default:
		return true
	}
}

// strayTime is how long a teardown waits for Pods that nobody deletes though
// nothing of their component is left. The garbage collector takes seconds. A
// workload that has lost the label by which Metacontroller knows it is not shown,
// and goes on making Pods until the DataService is gone.
const strayTime = 5 * time.Minute

// isStray reports whether a Pod is not being deleted though no child of its
// component is left.
func (d *teardown) isStray(pod *observedPod) bool {
	return !pod.Terminating && !slices.ContainsFunc(d.there.children, func(child observedChild) bool {
		return d.component(child) == pod.Metadata.Labels.Component
	})
}

// untilStraysCount returns when to look again where the teardown waits for a Pod
// that nobody deletes: nothing else may happen. It is 0 where it does not.
func (d *teardown) untilStraysCount() time.Duration {
	if d.begun == nil || d.now.Sub(d.begun.Time) >= strayTime {
		return 0
	}
	for i := range d.there.pods {
		if d.isStray(&d.there.pods[i]) && d.holds(&d.there.pods[i]) {
			return d.begun.Add(strayTime).Sub(d.now)
		}
	}
	return 0
}

func (d *teardown) isDone() bool { return d.current() < 0 }

// children returns what stays for now: the stages before the current one, and a
// StatefulSet that has yet to learn that its volumes shall go with it.
func (d *teardown) children() []metacontroller.Object {
	current := d.current()
	var stay []metacontroller.Object
	for _, child := range d.there.children {
		if d.stage(d.component(child)) < current {
			stay = append(stay, metacontroller.Keep(child.Snapshot))
		} else if set := d.lastWord(child); set != nil {
			stay = append(stay, set)
		}
	}
	return stay
}

// lastWord returns a StatefulSet with the retention policy that deletes its
// claims, or nil once its controller has taken note of it. The rest of it stays as
// it is: what the spec asks for by now may be refused, and then it could never go.
func (d *teardown) lastWord(child observedChild) metacontroller.Object {
	if !d.mayDeleteVolumes || child.Terminating || child.Kind != statefulSetKind.Kind {
		return nil
	}
	u := d.product.unit(d.component(child))
	if u == nil || u.name != child.Name || u.said.storage == nil || u.said.storage.OnDelete != Delete {
		return nil
	}
	there := d.there.workload(StatefulSet, child.Name) // a search, which few get to
	if there == nil {
		return nil
	}
	goes := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if there.Spec.Retention.WhenDeleted == goes && there.isSeen() {
		return nil
	}
	return metacontroller.KeepWith(child.Snapshot, string(goes), "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
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
func (d *teardown) status(ds *DataService, seen metacontroller.Observed) Status {
	current := d.current()
	going := map[string][]string{}
	for _, child := range d.there.children {
		component := d.component(child)
		going[component] = append(going[component], child.Ref())
	}
	for i := range d.there.pods {
		pod := &d.there.pods[i]
		if component := pod.Metadata.Labels.Component; d.holds(pod) {
			going[component] = append(going[component], pod.Ref())
		}
	}
	status := Status{Phase: PhaseDeleting}
	var first []string
	for _, component := range slices.SortedFunc(maps.Keys(going), d.firstGoes) {
		told := d.names(component)
		told.Message = "waits for what depends on it to go"
		if d.stage(component) >= current {
			told.Message = going[component][0] + " has yet to go"
			first = append(first, going[component][0])
		}
		status.Components = append(status.Components, told)
	}
	message := "everything has gone"
	if len(first) > 0 {
		const most = 3
		message = "has yet to go: " + strings.Join(first[:min(most, len(first))], ", ")
		if len(first) > most {
			message += fmt.Sprintf(" and %d more", len(first)-most)
		}
	}
	conditions := metacontroller.NewConditions(ds.Status.Conditions, ds.Generation, seen.Now)
	for _, conditionType := range []string{metacontroller.ConditionReady, conditionMiddlewareReady, conditionServicesReady} {
		conditions.Set(conditionType, metav1.ConditionFalse, string(PhaseDeleting), message)
	}
	status.Conditions = conditions.List()
	return status
}
