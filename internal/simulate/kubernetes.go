package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
)

// kubernetes plays the built-in controllers, the scheduler, the kubelets and
// the garbage collector. Each object advances by one visible stage per step.
type kubernetes struct {
	store   *store
	faults  *faults
	steps   int
	queue   map[Ref]int // the first step in which an object is looked at
	timers  map[Ref]time.Time
	orphans []types.UID // owners that are gone, since the last step
	// cascades are the owners that wait for the garbage collector.
	cascades map[Ref]bool
	serial   int // of the Pods with generated names
	lost     map[types.UID]int32
	retries  map[Ref]time.Time // when a Job may start its next Pod
	pods     *podCache         // nil where nothing is late
}

func newKubernetes(s *store, f *faults) *kubernetes {
	return &kubernetes{
		store: s, faults: f, queue: map[Ref]int{}, timers: map[Ref]time.Time{},
		lost: map[types.UID]int32{}, retries: map[Ref]time.Time{}, cascades: map[Ref]bool{},
	}
}

// controllers returns the built-in controllers in the order of a step: Pods
// first, so that their owners see in the same step what has become of them.
func (k *kubernetes) controllers() []struct {
	kind      string
	reconcile func(Ref)
} {
	return []struct {
		kind      string
		reconcile func(Ref)
	}{
		{"Pod", k.pod},
		{"PersistentVolumeClaim", k.claim},
		{"Service", k.service},
		{"StatefulSet", k.statefulSet},
		{"DaemonSet", k.daemonSet},
		{"Deployment", k.deployment},
		{"Job", k.job},
	}
}

// observe queues what a change concerns. What somebody else has written in this
// step is looked at in the next, so that the hook sees it bare once.
func (k *kubernetes) observe(c change) {
	if k.pods != nil {
		k.pods.note(c)
	}
	if c.after != nil {
		first := k.steps
		if c.by != byKubernetes {
			first++
		}
		k.enqueue(c.ref, first)
		if c.after.GetDeletionTimestamp() != nil && hasCascade(c.after) {
			k.cascades[c.ref] = true
		}
		k.findLostOwner(c.after)
	} else {
		k.orphans = append(k.orphans, c.before.GetUID())
		delete(k.timers, c.ref)
		delete(k.retries, c.ref)
		k.countLost(c.before)
	}
	k.enqueueOwners(c.before, c.after)
}

func (k *kubernetes) enqueueOwners(objects ...Object) {
	for _, object := range objects {
		if owner, found := controllerOf(object); found {
			k.enqueue(k.root(owner), k.steps)
		}
	}
}

// root returns the Deployment behind a ReplicaSet, and every other owner as it
// is.
func (k *kubernetes) root(owner Ref) Ref {
	if owner.Kind == "ReplicaSet" {
		if deployment, found := controllerOf(k.store.get(owner)); found {
			return deployment
		}
	}
	return owner
}

func (k *kubernetes) enqueue(ref Ref, first int) {
	if known, queued := k.queue[ref]; !queued || first < known {
		k.queue[ref] = first
	}
}

// enqueuePods makes all Pods look at the faults again.
func (k *kubernetes) enqueuePods() {
	for _, pod := range k.store.list("v1", "Pod") {
		k.enqueue(RefOf(pod), k.steps)
	}
}

// step lets every controller look at what concerns it.
func (k *kubernetes) step() {
	orphans := k.orphans
	k.orphans = nil
	k.wake()
	for _, controller := range k.controllers() {
		k.hearOfPods()
		var batch []Ref
		for ref, first := range k.queue {
			if ref.Kind == controller.kind && first <= k.steps {
				batch = append(batch, ref)
			}
		}
		slices.SortFunc(batch, Ref.compare)
		for _, ref := range batch {
			delete(k.queue, ref)
		}
		for _, ref := range batch {
			if k.store.full == nil {
				controller.reconcile(ref)
			}
		}
	}
	k.collect(orphans)
	k.letAllGo()
	maps.DeleteFunc(k.queue, func(ref Ref, _ int) bool { return !k.isControlled(ref.Kind) })
}

func (k *kubernetes) isControlled(kind string) bool {
	for _, controller := range k.controllers() {
		if controller.kind == kind {
			return true
		}
	}
	return false
}

// isBusy reports whether there is something to look at in the next step.
func (k *kubernetes) isBusy() bool {
	return len(k.queue) > 0 || len(k.orphans) > 0 || len(k.cascades) > 0 || k.pods != nil && len(k.pods.pending) > 0
}

// nextTimer returns when something is due, or zero.
func (k *kubernetes) nextTimer() time.Time {
	var next time.Time
	for _, due := range k.timers {
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next
}

// at asks for a look at a later time.
func (k *kubernetes) at(ref Ref, due time.Time) {
	if known, set := k.timers[ref]; !set || due.Before(known) {
		k.timers[ref] = due
	}
}

func (k *kubernetes) now() metav1.Time { return metav1.NewTime(k.store.clock.Now()) }

// load decodes an object that is not being deleted, or returns nil.
func load[T any](k *kubernetes, ref Ref) *T {
	object := k.store.get(ref)
	if object == nil || object.GetDeletionTimestamp() != nil {
		return nil
	}
	typed := new(T)
	if err := decodeInto(object, typed); err != nil {
		panic(fmt.Sprintf("%s was stored in a form that cannot be read: %s", ref, err))
	}
	return typed
}

// report writes a status.
func (k *kubernetes) report(ref Ref, status any) {
	if k.store.get(ref) == nil {
		return
	}
	if _, err := k.store.updateStatus(byKubernetes, ref, mustEncode(status).Object); err != nil {
		panic(err) // it has just been there
	}
}

// create stores an object that a controller makes. One that is refused is not
// made, and its absence shows in the owner's numbers.
func (k *kubernetes) create(typed any) {
	if k.store.full == nil {
		_, _ = k.store.create(byKubernetes, mustEncode(typed))
	}
}

// generated returns a name with an end that no other has.
func (k *kubernetes) generated(prefix string) string {
	k.serial++
	return fmt.Sprintf("%s-%s", prefix, rand.SafeEncodeString(fmt.Sprintf("%05d", k.serial)))
}

// newPod returns a Pod of a template.
func newPod(template *corev1.PodTemplateSpec, name string, owner Object) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: owner.GetNamespace(),
			Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
			OwnerReferences: []metav1.OwnerReference{ownedBy(owner)},
		},
	}
	template.Spec.DeepCopyInto(&pod.Spec)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	return pod
}

// ownedBy returns the reference to a controlling owner.
func ownedBy(owner Object) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

// controllerOf returns the reference to an object's controller.
func controllerOf(object Object) (Ref, bool) {
	if object == nil {
		return Ref{}, false
	}
	for _, owner := range object.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return Ref{owner.APIVersion, owner.Kind, object.GetNamespace(), owner.Name}, true
		}
	}
	return Ref{}, false
}
