package controllers

import (
	"fmt"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// rest is the restart count at which a container that runs and waits in turn waits for good, so that a
// play ends: the kubelet's back-off has reached its five minutes, and the rest is the same again.
const rest = 6

// lasting yields the containers of a Pod that run at the same time, the native sidecars first, with
// their statuses. A request may leave some out.
func lasting(pod *corev1.Pod) iter.Seq2[*corev1.Container, *corev1.ContainerStatus] {
	return func(yield func(*corev1.Container, *corev1.ContainerStatus) bool) {
		each := func(list []corev1.Container, statuses []corev1.ContainerStatus, wanted func(*corev1.Container) bool) bool {
			for i := range min(len(list), len(statuses)) {
				if wanted(&list[i]) && !yield(&list[i], &statuses[i]) {
					return false
				}
			}
			return true
		}
		_ = each(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, isSidecar) &&
			each(pod.Spec.Containers, pod.Status.ContainerStatuses, func(*corev1.Container) bool { return true })
	}
}

// statusOf returns the status of a container, or nil.
func statusOf(pod *corev1.Pod, c *corev1.Container) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		if i := slices.IndexFunc(list, func(s corev1.ContainerStatus) bool { return s.Name == c.Name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// turn keeps a Pod running one of whose containers has a trouble. The others run, or end with 0.
func (b *Builtin) turn(pod *corev1.Pod, trouble *Trouble) {
	troubled := trouble.of(pod)
	for c, s := range lasting(pod) {
		switch {
		case c.Name == troubled.Name && trouble.IsLoop():
			b.loop(pod, trouble, c, s)
		case c.Name == troubled.Name:
			s.Ready, s.Started = false, new(true)
			b.warn(pod, "Unhealthy", trouble.unhealthy())
		case s.State.Running != nil:
			s.Ready, s.Started = canBeReady(*c), new(true)
		}
	}
	if s := statusOf(pod, troubled); pod.Spec.RestartPolicy == corev1.RestartPolicyNever && !isSidecar(troubled) && s.State.Terminated != nil {
		ended := s.State
		b.finish(pod, corev1.PodFailed, 0)
		statusOf(pod, troubled).State = ended
		return
	}
	b.setReady(pod, true)
}

// loop lets a container run, end, and wait for the kubelet's back-off: ten seconds, doubled up to five minutes.
// The first restart is at once. See pkg/kubelet/kuberuntime and MaxContainerBackOff in pkg/kubelet/kubelet.go.
func (b *Builtin) loop(pod *corev1.Pod, trouble *Trouble, c *corev1.Container, s *corev1.ContainerStatus) {
	now := b.server.Now()
	due := now.Add(time.Second)
	if s.State.Terminated != nil {
		s.LastTerminationState = s.State
	}
	last := s.LastTerminationState.Terminated
	switch {
	case s.State.Running != nil:
		if end := s.State.Running.StartedAt.Add(trouble.lasts(c)); now.Before(end) {
			due = end
		} else {
			b.endContainer(pod, trouble, c, s)
			break
		}
		s.Started = new(c.StartupProbe == nil)
		s.Ready = *s.Started && (c.ReadinessProbe == nil || trouble.probe != nil) && canBeReady(*c)
	case last == nil, s.State.Terminated != nil && s.RestartCount == 0:
		b.retry(pod, trouble, c, s)
	case s.RestartCount >= rest && isBackingOff(s):
		return
	case isBackingOff(s) && !now.Before(last.FinishedAt.Add(backOff(s))):
		b.retry(pod, trouble, c, s)
	default:
		b.backOff(pod, s)
		due = last.FinishedAt.Add(backOff(s))
	}
	b.at(podRef(pod), due)
}

func isBackingOff(s *corev1.ContainerStatus) bool {
	return s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff"
}

// endContainer ends a running container. After its first end the kubelet starts it again at once.
func (b *Builtin) endContainer(pod *corev1.Pod, trouble *Trouble, c *corev1.Container, s *corev1.ContainerStatus) {
	ended := trouble.ends
	ended.StartedAt, ended.FinishedAt = s.State.Running.StartedAt, b.now()
	ended.ContainerID = s.ContainerID
	if trouble.reason != "" { // it has not started, and containerd's zero is that of 1970
		ended.Message, ended.StartedAt = trouble.message(pod, c), metav1.Unix(0, 0)
	}
	if trouble.probe != nil {
		b.warn(pod, "Unhealthy", trouble.unhealthy())
	}
	s.Ready, s.Started = false, new(false)
	s.State = corev1.ContainerState{Terminated: &ended}
	if s.RestartCount > 0 {
		s.LastTerminationState = s.State
		b.backOff(pod, s)
	}
}

// backOff returns how long a container waits that has ended.
func backOff(s *corev1.ContainerStatus) time.Duration {
	return min(10*time.Second<<max(s.RestartCount-1, 0), 5*time.Minute)
}

func (b *Builtin) backOff(pod *corev1.Pod, s *corev1.ContainerStatus) {
	b.warn(pod, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", s.Name, named(pod)))
	s.Ready, s.Started = false, new(false)
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  "CrashLoopBackOff",
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", backOff(s), s.Name, named(pod)),
	}}
}

// retry starts a container again, as far as it can be started.
func (b *Builtin) retry(pod *corev1.Pod, trouble *Trouble, c *corev1.Container, s *corev1.ContainerStatus) {
	b.restart(c, s)
	if trouble.reason == "" {
		return
	}
	s.Ready, s.Started = false, new(false)
	if last := s.LastTerminationState.Terminated; last != nil {
		last.FinishedAt = b.now()
	}
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: trouble.reason, Message: trouble.message(pod, c)}}
}

// restart runs a container again.
func (b *Builtin) restart(c *corev1.Container, s *corev1.ContainerStatus) {
	restarts, last := s.RestartCount+1, s.LastTerminationState
	if s.State.Terminated != nil {
		last = s.State
	}
	if last.Terminated == nil {
		restarts = 0 // it has never run
	}
	*s = b.running(*c, false)
	s.RestartCount, s.LastTerminationState = restarts, last
}

// await says what the containers of a Pod wait for that has not started.
func (b *Builtin) await(pod *corev1.Pod, trouble *Trouble) {
	status := &pod.Status
	isNew := len(status.ContainerStatuses) == 0
	troubled := trouble.of(pod)
	if isNew {
		b.createAll(pod, trouble, troubled)
	}
	var incomplete []string
	if trouble.at != creating {
		for _, c := range pod.Spec.InitContainers {
			incomplete = append(incomplete, c.Name)
		}
	}
	ready := corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: condition(trouble.at != mounting)}
	initialized := corev1.PodCondition{Type: corev1.PodInitialized, Status: condition(len(incomplete) == 0)}
	if len(incomplete) > 0 {
		initialized.Reason, initialized.Message = "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", incomplete)
	}
	b.setPodCondition(pod, ready)
	b.setPodCondition(pod, initialized)
	s := statusOf(pod, troubled)
	switch {
	case trouble.at == preparing && !isNew:
		b.loop(pod, trouble, troubled, s)
		if pod.Spec.RestartPolicy == corev1.RestartPolicyNever && s.State.Terminated != nil {
			status.Phase = corev1.PodFailed
		}
	case trouble.at == preparing:
		b.at(podRef(pod), b.server.Now().Add(trouble.runs))
	case trouble.reason == "ErrImagePull":
		b.pull(pod, trouble, s, isNew)
	case trouble.reason != "":
		s.State.Waiting.Reason, s.State.Waiting.Message = trouble.reason, trouble.message(pod, troubled)
		b.warn(pod, "Failed", "Error: "+s.State.Waiting.Message)
	case trouble.event != "":
		b.warn(pod, trouble.event, trouble.message(pod, troubled))
	}
	b.setReady(pod, false)
}

// pull fails to pull an image, and waits in turn.
func (b *Builtin) pull(pod *corev1.Pod, trouble *Trouble, s *corev1.ContainerStatus, isNew bool) {
	c, waiting := trouble.of(pod), s.State.Waiting
	cause := trouble.message(pod, c)
	b.warn(pod, "Failed", fmt.Sprintf("Failed to pull image %q: %s", c.Image, cause))
	waiting.Reason, waiting.Message = "ErrImagePull", cause
	if !isNew {
		waiting.Reason, waiting.Message = "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", c.Image, cause)
		return
	}
	b.at(podRef(pod), b.server.Now().Add(10*time.Second))
}

// createAll sets the statuses of a Pod's containers: those beside the one in trouble run, if they have
// nothing to wait for.
func (b *Builtin) createAll(pod *corev1.Pod, trouble *Trouble, troubled *corev1.Container) {
	waits := func(c corev1.Container, reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(bool),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}
	}
	status, later := &pod.Status, "ContainerCreating"
	if trouble.at != creating && len(pod.Spec.InitContainers) > 0 {
		later = "PodInitializing"
	}
	for _, c := range pod.Spec.InitContainers {
		s := b.running(c, true)
		switch {
		case trouble.at == mounting:
			s = waits(c, later)
		case c.Name == troubled.Name:
			s = b.running(c, false)
		case trouble.at == preparing && !isSidecar(&c) && len(status.InitContainerStatuses) > 0:
			s = waits(c, later)
		case !isSidecar(&c):
			s.State, s.Started = b.terminated(0, b.now()), new(bool)
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, s)
	}
	for _, c := range pod.Spec.Containers {
		s := waits(c, later)
		if trouble.at == creating && c.Name != troubled.Name {
			s = b.running(c, true)
		}
		status.ContainerStatuses = append(status.ContainerStatuses, s)
	}
}

// reject fails a Pod as a kubelet does that does not admit it, see rejectPod in pkg/kubelet/kubelet.go.
func (b *Builtin) reject(pod *corev1.Pod, trouble *Trouble) {
	message := trouble.message(pod, nil)
	b.warn(pod, trouble.reason, message)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: trouble.reason, Message: "Pod was rejected: " + message, StartTime: new(b.now()),
		ObservedGeneration: pod.Generation, QOSClass: pod.Status.QOSClass,
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		known := b.rejections[owner.UID]
		b.rejections[owner.UID] = rejections{known.count + 1, b.server.Now().Add(10 * time.Second << min(known.count, 5))}
	}
}

// rejections are the Pods of an owner that kubelets have rejected, and when it makes the next.
type rejections struct {
	count int
	next  time.Time
}

// isHeldBack reports whether a controller waits before it makes another Pod. Only that of a Job does so in a
// cluster: others make as many as they can, and a play would not end.
func (b *Builtin) isHeldBack(owner kube.Object) bool {
	known, held := b.rejections[owner.GetUID()]
	if !held || known.count < rest && !known.next.After(b.server.Now()) {
		return false
	}
	if known.count < rest {
		b.at(b.root(kube.RefOf(owner)), known.next)
	}
	return true
}

func condition(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

func podRef(pod *corev1.Pod) kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
}

// trouble returns what happens to a Pod, or nil.
func (b *Builtin) trouble(pod *corev1.Pod, object kube.Object) *Trouble {
	if b.troubles == nil {
		return nil
	}
	return b.troubles(pod, object)
}
