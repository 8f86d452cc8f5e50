package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// pod advances a Pod: scheduled, running, ready or done, and removed after deletion.
func (b *Builtin) pod(ref kube.Ref) {
	object := b.server.Get(ref)
	if object == nil {
		return
	}
	if object.GetDeletionTimestamp() != nil {
		if len(object.GetFinalizers()) == 0 && !b.isDown(object) {
			b.server.Remove(apiserver.ByKubernetes, ref)
		}
		return
	}
	pod := load[corev1.Pod](b, ref)
	trouble := b.trouble(pod, object)
	switch {
	case pod.Spec.NodeName == "":
		b.schedule(object, pod, trouble)
		return
	case b.isDown(object):
		b.miss(ref, pod)
		return
	case !b.endAtDeadline(ref, pod):
		b.advance(object, pod, trouble)
	}
	b.startEphemeral(pod)
	b.report(ref, &pod.Status)
}

// schedule binds a Pod to a node, which does not change its generation, or says why there is none.
func (b *Builtin) schedule(object kube.Object, pod *corev1.Pod, trouble *Trouble) {
	waits := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		waits.Reason, waits.Message = corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates"
	case trouble != nil && trouble.at == scheduling:
		waits.Reason, waits.Message = corev1.PodReasonUnschedulable, trouble.message(pod, nil)
	case b.hasUnboundClaim(pod):
		waits.Reason, waits.Message = corev1.PodReasonUnschedulable, TroubleNamed("unbound").message(pod, nil)
	default:
		b.bind(object, pod)
		return
	}
	b.setPodCondition(pod, waits)
	if waits.Reason == corev1.PodReasonUnschedulable { // the API server alone tells of a gate
		b.event(object, "FailedScheduling", waits.Message)
	}
	b.report(kube.RefOf(object), &pod.Status)
}

// hasUnboundClaim reports whether a claim of a Pod gets no volume. Others get theirs in time.
func (b *Builtin) hasUnboundClaim(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil {
			return false
		}
		claim := b.server.Get(kube.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName})
		return claim != nil && b.struck("fail", claim)
	})
}

func (b *Builtin) bind(object kube.Object, pod *corev1.Pod) {
	b.setPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	bound := kube.WithMetadata(object)
	spec := maps.Clone(object.Object["spec"].(map[string]any))
	spec["nodeName"] = b.freeNode()
	bound.Object["spec"] = spec
	bound.Object["status"] = kube.Encode(&pod.Status).Object
	b.server.Replace(apiserver.ByKubernetes, bound)
}

func (b *Builtin) advance(object kube.Object, pod *corev1.Pod, trouble *Trouble) {
	switch {
	case isOver(pod):
	case trouble != nil && trouble.at == admission:
		b.reject(pod, trouble)
	case pod.Status.Phase == corev1.PodPending:
		b.start(pod, trouble)
	case trouble != nil:
		b.turn(pod, trouble)
	case b.struck("hold", object):
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		b.serve(pod, b.struck("flap", object))
	default:
		b.end(pod)
	}
}

func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// endAtDeadline ends a Pod that has been on its node for as long as it may, and reports whether it has.
func (b *Builtin) endAtDeadline(ref kube.Ref, pod *corev1.Pod) bool {
	limit, started := pod.Spec.ActiveDeadlineSeconds, pod.Status.StartTime
	if limit == nil || started == nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	if deadline := started.Add(time.Duration(*limit) * time.Second); b.server.Now().Before(deadline) {
		b.at(ref, deadline)
		return false
	}
	b.finish(pod, corev1.PodFailed, 137)
	pod.Status.Reason, pod.Status.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	return true
}

// end ends a Pod that runs to completion, with the result of its program.
func (b *Builtin) end(pod *corev1.Pod) {
	problem := b.run(pod)
	switch {
	case problem == nil:
		b.finish(pod, corev1.PodSucceeded, 0)
	case pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		b.turn(pod, TroubleNamed(Exit))
	default:
		b.finish(pod, corev1.PodFailed, 1)
		pod.Status.ContainerStatuses[0].State.Terminated.Message = problem.Error()
	}
}

// start starts what can be started of a Pod.
func (b *Builtin) start(pod *corev1.Pod, trouble *Trouble) {
	b.settle(pod)
	if trouble != nil && trouble.at <= preparing {
		b.await(pod, trouble)
		return
	}
	now, status := b.now(), &pod.Status
	status.Phase = corev1.PodRunning
	ready := pod.Spec.RestartPolicy != corev1.RestartPolicyAlways
	status.InitContainerStatuses, status.ContainerStatuses = nil, nil
	for _, c := range pod.Spec.InitContainers {
		s := b.running(c, true)
		if !isSidecar(&c) {
			s.State = b.terminated(0, now)
			s.Started = new(bool)
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, s)
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, b.running(c, ready))
	}
	b.setPodCondition(pod, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue})
	b.setPodCondition(pod, corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue})
	b.setReady(pod, ready)
	if trouble != nil {
		b.turn(pod, trouble)
	}
}

// settle says where a Pod is.
func (b *Builtin) settle(pod *corev1.Pod) {
	status := &pod.Status
	status.ObservedGeneration = pod.Generation
	if status.StartTime != nil {
		return
	}
	status.StartTime = new(b.now())
	status.HostIP, status.HostIPs = "192.0.2.1", []corev1.HostIP{{IP: "192.0.2.1"}}
	address := fmt.Sprintf("10.244.%d.%d", (b.server.Version()/250)%250, 1+b.server.Version()%250)
	status.PodIP, status.PodIPs = address, []corev1.PodIP{{IP: address}}
}

func (b *Builtin) running(c corev1.Container, ready bool) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: "sha256:" + strings.Repeat("0", 64),
		ContainerID: fmt.Sprintf("containerd://%064x", b.server.Version()),
		Ready:       ready && canBeReady(c), Started: new(!isUnreachable(c, c.StartupProbe)),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: b.now()}},
	}
	if !ready && c.ReadinessProbe == nil && c.StartupProbe == nil {
		s.Started = nil // what says that, says that it is ready
	}
	return s
}

func (b *Builtin) terminated(exitCode int32, startedAt metav1.Time) corev1.ContainerState {
	reason := "Completed"
	if exitCode != 0 {
		reason = "Error"
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: exitCode, Reason: reason, StartedAt: startedAt, FinishedAt: b.now(),
	}}
}

// serve keeps the containers of a Pod running that is to run on.
func (b *Builtin) serve(pod *corev1.Pod, flapping bool) {
	for c, s := range lasting(pod) {
		if s.State.Running == nil {
			b.restart(c, s)
		}
		s.Ready = !flapping && canBeReady(*c)
		if s.Ready {
			s.Started = new(true)
		}
	}
	b.setReady(pod, !flapping)
}

func (b *Builtin) finish(pod *corev1.Pod, phase corev1.PodPhase, exitCode int32) {
	pod.Status.Phase = phase
	for _, s := range lasting(pod) {
		if s.State.Terminated == nil || s.State.Terminated.ExitCode == 0 {
			s.State = b.terminated(exitCode, *pod.Status.StartTime)
		}
		s.State.Terminated.ContainerID = s.ContainerID
		s.Ready, s.Started = false, new(false)
	}
	b.setPodCondition(pod, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse})
	reason := "PodCompleted"
	if phase == corev1.PodFailed {
		reason = "PodFailed"
	}
	b.setBoth(pod, corev1.PodCondition{Status: corev1.ConditionFalse, Reason: reason})
}

// setBoth sets the conditions of readiness.
func (b *Builtin) setBoth(pod *corev1.Pod, condition corev1.PodCondition) {
	for _, condition.Type = range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		b.setPodCondition(pod, condition)
	}
}

// setReady sets the conditions of readiness. Each container has to be ready by itself, too.
func (b *Builtin) setReady(pod *corev1.Pod, ready bool) {
	unready := map[string]bool{}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		unready[s.Name] = !s.Ready
	}
	var names []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if isUnready, known := unready[c.Name]; isUnready || !known && !ready {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		b.setBoth(pod, corev1.PodCondition{Status: corev1.ConditionTrue})
		return
	}
	b.setBoth(pod, corev1.PodCondition{
		Status: corev1.ConditionFalse, Reason: "ContainersNotReady",
		Message: "containers with unready status: [" + strings.Join(names, " ") + "]",
	})
}

// orderOfConditions is theirs in a status. Those that are not the kubelet's come first: see generateAPIPodStatus in
// pkg/kubelet/kubelet_pods.go.
var orderOfConditions = []corev1.PodConditionType{
	corev1.DisruptionTarget, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
}

// setPodCondition sets a condition. If its status does not change, it keeps its time.
func (b *Builtin) setPodCondition(pod *corev1.Pod, condition corev1.PodCondition) {
	condition.LastTransitionTime, condition.ObservedGeneration = b.now(), pod.Generation
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == condition.Type })
	if i < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		slices.SortStableFunc(pod.Status.Conditions, func(a, b corev1.PodCondition) int {
			return slices.Index(orderOfConditions, a.Type) - slices.Index(orderOfConditions, b.Type)
		})
		return
	}
	if old := pod.Status.Conditions[i]; old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	pod.Status.Conditions[i] = condition
}

func (b *Builtin) startEphemeral(pod *corev1.Pod) {
	for _, c := range pod.Spec.EphemeralContainers {
		known := slices.ContainsFunc(pod.Status.EphemeralContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
		if known || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		status := b.running(corev1.Container{Name: c.Name, Image: c.Image}, false)
		status.Started = nil
		pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, status)
	}
}
