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

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// kubernetes plays the built-in controllers, the scheduler, the kubelets and
// the garbage collector. Each object advances by one visible stage per step.
type kubernetes struct {
	server  *apiserver.Server
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
	pods     *podWatch         // nil where nothing is late
}

func newKubernetes(s *apiserver.Server, f *faults) *kubernetes {
	return &kubernetes{
		server: s, faults: f, queue: map[Ref]int{}, timers: map[Ref]time.Time{},
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
func (k *kubernetes) observe(c apiserver.Write) {
	if k.pods != nil {
		k.pods.note(c)
	}
	if c.After != nil {
		first := k.steps
		if c.By != apiserver.ByKubernetes {
			first++
		}
		k.enqueue(c.Ref, first)
		if c.After.GetDeletionTimestamp() != nil && hasCascade(c.After) {
			k.cascades[c.Ref] = true
		}
		k.findLostOwner(c.After)
	} else {
		k.orphans = append(k.orphans, c.Before.GetUID())
		delete(k.timers, c.Ref)
		delete(k.retries, c.Ref)
		k.countLost(c.Before)
	}
	k.enqueueOwners(c.Before, c.After)
}

func (k *kubernetes) enqueueOwners(objects ...Object) {
	for _, object := range objects {
		if owner, found := apiserver.ControllerOf(object); found {
			k.enqueue(k.root(owner), k.steps)
		}
	}
}

// root returns the Deployment behind a ReplicaSet, and every other owner as it
// is.
func (k *kubernetes) root(owner Ref) Ref {
	if owner.Kind == "ReplicaSet" {
		if deployment, found := apiserver.ControllerOf(k.server.Get(owner)); found {
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
	for _, pod := range k.server.List("v1", "Pod") {
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
		slices.SortFunc(batch, Ref.Compare)
		for _, ref := range batch {
			delete(k.queue, ref)
		}
		for _, ref := range batch {
			if k.server.Full() == nil {
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

func (k *kubernetes) now() metav1.Time { return metav1.NewTime(k.server.Now()) }

// load decodes an object that is not being deleted, or returns nil.
func load[T any](k *kubernetes, ref Ref) *T {
	object := k.server.Get(ref)
	if object == nil || object.GetDeletionTimestamp() != nil {
		return nil
	}
	typed := new(T)
	if err := apiserver.Decode(object, typed); err != nil {
		panic(fmt.Sprintf("%s was stored in a form that cannot be read: %s", ref, err))
	}
	return typed
}

// report writes a status.
func (k *kubernetes) report(ref Ref, status any) {
	if k.server.Get(ref) == nil {
		return
	}
	if _, err := k.server.UpdateStatus(apiserver.ByKubernetes, ref, apiserver.Encode(status).Object); err != nil {
		panic(err) // it has just been there
	}
}

// create stores an object that a controller makes. One that is refused is not
// made, and its absence shows in the owner's numbers.
func (k *kubernetes) create(typed any) {
	if k.server.Full() == nil {
		_, _ = k.server.Create(apiserver.ByKubernetes, apiserver.Encode(typed))
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
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())},
		},
	}
	template.Spec.DeepCopyInto(&pod.Spec)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	return pod
}
