package controllers

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Builtin are the built-in controllers, the scheduler, the kubelets and the garbage
// collector. Each object advances by one visible stage per step.
type Builtin struct {
	server  *apiserver.Server
	struck  func(fault string, object kube.Object) bool
	run     Program
	steps   int
	queue   map[kube.Ref]int // the first step in which an object is reconciled
	timers  map[kube.Ref]time.Time
	orphans []types.UID // deleted owners, since the last step
	// cascades are the owners that wait for the garbage collector.
	cascades   map[kube.Ref]bool
	serial     int // of the Pods with generated names
	lost       map[types.UID]lostPods
	retries    map[kube.Ref]time.Time // when a Job may start its next Pod
	metrics    map[kube.Ref]int       // of autoscalers, in percent, where they are not on target
	due        map[kube.Ref]bool      // CronJobs
	pods       *podWatch              // nil unless late
	troubles   func(*corev1.Pod, kube.Object) *Trouble
	rejections map[types.UID]rejections
	down       map[string]time.Time // nodes that do not answer, since when
	// controllers are in the order of a step: Pods first, so that their owners see the
	// changes in the same step.
	controllers []controller
}

// Program is what a Pod that runs to completion does to the cluster. The error
// is the termination message of a Pod that fails.
type Program func(pod *corev1.Pod) error

// Options are what the controllers need.
type Options struct {
	// Struck reports whether an object, or what controls it, has a fault: with "fail" it never
	// becomes ready, unless it is a Pod, with "hold" neither ready nor done, with "flap" it is not ready for now.
	Struck func(fault string, object kube.Object) bool
	// Trouble returns what hinders a Pod, or nil.
	Trouble func(pod *corev1.Pod, object kube.Object) *Trouble
	// Program is what Pods do.
	Program Program
	// Late delays changes of Pods until [Builtin.HearOfPod].
	Late bool
}

// New returns the controllers of a cluster, which watch its API server from now on.
func New(server *apiserver.Server, options Options) *Builtin {
	b := &Builtin{
		server: server, struck: options.Struck, run: options.Program, troubles: options.Trouble, down: map[string]time.Time{}, rejections: map[types.UID]rejections{},
		queue: map[kube.Ref]int{}, timers: map[kube.Ref]time.Time{}, lost: map[types.UID]lostPods{},
		retries: map[kube.Ref]time.Time{}, cascades: map[kube.Ref]bool{},
		metrics: map[kube.Ref]int{}, due: map[kube.Ref]bool{},
	}
	b.controllers = []controller{
		{metacontroller.Pod, b.pod}, {metacontroller.PersistentVolumeClaim, b.claim}, {metacontroller.Service, b.service},
		{metacontroller.StatefulSet, b.statefulSet}, {metacontroller.DaemonSet, b.daemonSet},
		{metacontroller.Deployment, b.deployment}, {metacontroller.ReplicaSet, b.replicaSet}, {metacontroller.Job, b.job},
		{metacontroller.CronJob, b.cronJob}, {metacontroller.PodDisruptionBudget, b.budget}, {metacontroller.HorizontalPodAutoscaler, b.autoscaler},
		{metacontroller.Ingress, b.ingress}, {metacontroller.PersistentVolume, b.volume},
	}
	if options.Late {
		b.pods = &podWatch{Cache: apiserver.NewCache("")}
	}
	server.Watch(b.observe)
	return b
}

type controller struct {
	kind      metacontroller.Resource
	reconcile func(kube.Ref)
}

// observe queues the objects that a change affects. Writes of others in this step are handled in
// the next, so that the hook observes each once without them.
func (b *Builtin) observe(c apiserver.Write) {
	if b.pods != nil {
		b.pods.note(c)
	}
	first := b.steps
	if c.By != apiserver.ByKubernetes {
		first++
	}
	b.noteTarget(c.Ref, first)
	if c.Ref.Is(metacontroller.Pod) {
		b.noteBudgets(c.Ref, first)
	}
	if c.After != nil {
		if !isOfDeployment(c.After) {
			b.enqueue(c.Ref, first)
		}
		if c.After.GetDeletionTimestamp() != nil && hasCascade(c.After) {
			b.cascades[c.Ref] = true
		}
		b.noteMissingOwner(c.After)
	} else {
		b.orphans = append(b.orphans, c.Before.GetUID())
		delete(b.timers, c.Ref)
		delete(b.retries, c.Ref)
		delete(b.metrics, c.Ref)
		b.countLost(c.Before)
	}
	b.enqueueOwners(c.Before, c.After)
}

func (b *Builtin) enqueueOwners(objects ...kube.Object) {
	for _, object := range objects {
		if owner, found := kube.ControllerOf(object); found {
			b.enqueue(b.root(owner), b.steps)
		}
	}
}

// root returns the Deployment of a ReplicaSet, and every other owner unchanged.
func (b *Builtin) root(owner kube.Ref) kube.Ref {
	if owner.Is(metacontroller.ReplicaSet) {
		if deployment, _ := kube.ControllerOf(b.server.Get(owner)); deployment.Is(metacontroller.Deployment) {
			return deployment
		}
	}
	return owner
}

func (b *Builtin) enqueue(ref kube.Ref, first int) {
	if known, queued := b.queue[ref]; !queued || first < known {
		b.queue[ref] = first
	}
}

// CheckPods makes the kubelet check all Pods again, because faults have changed.
func (b *Builtin) CheckPods() {
	for _, pod := range b.server.List("v1", "Pod") {
		b.enqueue(kube.RefOf(pod), b.steps)
	}
}

// BeginStep begins a step: writes of others from now on are handled in the next one.
func (b *Builtin) BeginStep() { b.steps++ }

// Step lets every controller reconcile its queue.
func (b *Builtin) Step() {
	orphans := b.orphans
	b.orphans = nil
	b.Wake()
	for _, controller := range b.controllers {
		b.HearOfPods()
		var batch []kube.Ref
		for ref, first := range b.queue {
			if ref.Is(controller.kind) && first <= b.steps {
				batch = append(batch, ref)
			}
		}
		slices.SortFunc(batch, kube.Ref.Compare)
		for _, ref := range batch {
			delete(b.queue, ref)
		}
		for _, ref := range batch {
			if b.server.Full() == nil {
				controller.reconcile(ref)
			}
		}
	}
	b.collect(orphans)
	b.finishCascades()
	maps.DeleteFunc(b.queue, func(ref kube.Ref, _ int) bool { return !b.isControlled(ref) })
}

func (b *Builtin) isControlled(ref kube.Ref) bool {
	return slices.ContainsFunc(b.controllers, func(c controller) bool { return ref.Is(c.kind) })
}

// Waits reports whether an object waits for a controller that is not simulated: nothing ever
// writes its status. A kind without generation has no status to wait for, and so have two others.
func (b *Builtin) Waits(object kube.Object) bool {
	ref := kube.RefOf(object)
	hasNone := ref.Is(metacontroller.EndpointSlice) || ref.Is(metacontroller.NetworkPolicy)
	return object.GetGeneration() > 0 && !hasNone && !b.isControlled(ref)
}

// IsBusy reports whether the queue for the next step has objects.
func (b *Builtin) IsBusy() bool {
	return len(b.queue) > 0 || b.HasGarbage() || b.HasNews()
}

// NextTimer returns when something is due, or zero.
func (b *Builtin) NextTimer() time.Time {
	return apiserver.Earliest(slices.Collect(maps.Values(b.timers))...)
}

func (b *Builtin) at(ref kube.Ref, due time.Time) {
	b.timers[ref] = apiserver.Earliest(b.timers[ref], due)
}

func (b *Builtin) now() metav1.Time { return metav1.NewTime(b.server.Now()) }

func load[T any](b *Builtin, ref kube.Ref) *T {
	object := b.server.Get(ref)
	if object == nil || object.GetDeletionTimestamp() != nil {
		return nil
	}
	return apiserver.Typed[T](b.server, ref)
}

func (b *Builtin) report(ref kube.Ref, status any) {
	b.server.Report(apiserver.ByKubernetes, ref, status)
}

// create creates an object of a controller. The error is that of the API server.
func (b *Builtin) create(typed any) error {
	if b.server.Full() != nil {
		return b.server.Full()
	}
	_, err := b.server.Create(apiserver.ByKubernetes, kube.Encode(typed))
	return err
}

// createPods creates Pods of an owner until one is refused, of which its Event tells as
// pkg/controller/controller_utils.go in k8s.io/kubernetes does. It returns the refusal.
func (b *Builtin) createPods(owner kube.Object, number int32, next func() *corev1.Pod) error {
	for range number {
		if b.isHeldBack(owner) {
			return nil
		}
		if err := b.create(next()); err != nil {
			b.event(owner, failedCreate, fmt.Sprintf("Error creating: %v", err))
			return err
		}
	}
	return nil
}

func (b *Builtin) generated(prefix string) string {
	b.serial++
	return fmt.Sprintf("%s-%s", prefix, rand.SafeEncodeString(fmt.Sprintf("%05d", b.serial)))
}

func newPod(template *corev1.PodTemplateSpec, name string, owner kube.Object) *corev1.Pod {
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

// Queued returns the queued objects, in the order of kinds and names.
func (b *Builtin) Queued() []kube.Ref {
	refs := slices.SortedFunc(maps.Keys(b.queue), kube.Ref.Compare)
	return slices.DeleteFunc(refs, func(ref kube.Ref) bool { return !b.isControlled(ref) })
}

// Reconcile reconciles one object, and reports whether it was queued.
func (b *Builtin) Reconcile(ref kube.Ref) bool {
	if _, queued := b.queue[ref]; !queued || b.server.Full() != nil {
		return false
	}
	delete(b.queue, ref)
	delete(b.timers, ref) // what is still to be waited for is set anew
	for _, controller := range b.controllers {
		if ref.Is(controller.kind) {
			controller.reconcile(ref)
		}
	}
	return true
}

// Wake queues what is due now.
func (b *Builtin) Wake() {
	now := b.server.Now()
	for ref, due := range b.timers {
		if !due.After(now) {
			delete(b.timers, ref)
			b.enqueue(ref, b.steps)
		}
	}
}

// CheckAll queues all objects: what was refused before may be accepted now.
func (b *Builtin) CheckAll() {
	for _, object := range b.server.Objects() {
		if ref := kube.RefOf(object); b.isControlled(ref) {
			b.enqueue(ref, b.steps)
		}
	}
}
