package why

import (
	"cmp"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// pod is the part of a Pod that is read.
type pod struct {
	podContent

	object Object
}

type podContent struct {
	Spec struct {
		operator.PodSpec `json:",inline"`

		NodeName      string               `json:"nodeName"`
		RestartPolicy corev1.RestartPolicy `json:"restartPolicy"`
		Volumes       []struct {
			Claim struct {
				Name string `json:"claimName"`
			} `json:"persistentVolumeClaim"`
		} `json:"volumes"`
	} `json:"spec"`
	Status struct {
		operator.PodStatus `json:",inline"`

		EphemeralStatuses []operator.ContainerStatus `json:"ephemeralContainerStatuses"`
	} `json:"status"`
}

func podOf(object Object) *pod {
	p := &pod{object: object}
	_ = kube.Decode(object, &p.podContent) // what cannot be decoded tells nothing
	return p
}

// ended returns when a container ended last.
func (p *pod) ended(container string) time.Time {
	for _, c := range p.Status.Containers() {
		if ended := c.LastState.Terminated; c.Name == container && ended != nil && !ended.FinishedAt.IsZero() {
			return ended.FinishedAt.Time
		}
	}
	return never
}

// condition returns a condition of the Pod, or an empty one.
func (p *pod) condition(conditionType corev1.PodConditionType) operator.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return operator.PodCondition{}
}

// told returns what a status says of the Pod, or nil.
func (p *pod) told(now time.Time) *operator.Told {
	one := operator.Pod{Status: &p.Status.PodStatus}
	one.Name, one.Namespace, one.CreationTimestamp = p.object.GetName(), p.object.GetNamespace(), p.object.GetCreationTimestamp()
	if deleted := p.object.GetDeletionTimestamp(); deleted != nil {
		one.Terminating, one.DeletionTimestamp = true, *deleted
	}
	return operator.Tell([]operator.Pod{one}, now)
}

// since returns since when the Pod is as it is.
func (p *pod) since(conditionType corev1.PodConditionType) *time.Time {
	times := []time.Time{p.condition(conditionType).LastTransitionTime.Time}
	if p.Status.StartTime != nil {
		times = append(times, p.Status.StartTime.Time)
	}
	return at(append(times, p.object.GetCreationTimestamp().Time)...)
}

// addPod adds what is wrong with a Pod that is not being deleted.
func (w *walk) addPod(object Object, links []Link) {
	p := podOf(object)
	isService := p.Spec.RestartPolicy == "" || p.Spec.RestartPolicy == corev1.RestartPolicyAlways
	if p.Status.Phase == corev1.PodSucceeded || isService && p.Status.IsReady() && p.Status.Phase == corev1.PodRunning {
		return
	}
	if p.Status.Phase == corev1.PodFailed {
		w.addFailed(p, links)
		return
	}
	isHeld := w.addClaims(p, links)
	if node, found := w.lostNode(object); found {
		w.addNode(node, links)
		isHeld = true
	}
	scheduled := p.condition(corev1.PodScheduled)
	c := Cause{Message: p.Status.Activity(), Since: p.since(corev1.PodReady), rank: progressing}
	switch name, reason := p.stuck(); {
	case scheduled.Status == corev1.ConditionFalse:
		c.Source, c.Reason, c.rank, c.Since = "condition PodScheduled", scheduled.Reason, failing, p.since(corev1.PodScheduled)
		w.needs(metacontroller.Node)
	case name != "":
		c.Source, c.Reason, c.rank, c.container = "container status", reason, failing, name
		c.Look = w.lookAt(p, name, reason)
	default:
		w.describeStart(p, &c)
	}
	w.addProbe(p, &c)
	if isHeld {
		c.rank = progressing // it follows from that
	}
	c.Next = w.nextOfPod(c, p)
	w.add(object, links, c)
}

// describeStart completes the cause of a Pod whose containers have no trouble of their own: an event
// says more than the phase.
func (w *walk) describeStart(p *pod, c *Cause) {
	c.Source, c.Reason = "status.phase", string(cmp.Or(p.Status.Phase, corev1.PodPending))
	ready := p.condition(corev1.PodReady)
	if p.Status.Phase == corev1.PodRunning && ready.Status == corev1.ConditionFalse {
		c.Source, c.Reason = "condition Ready", ready.Reason
		if ready.Reason == "" && p.Spec.NodeName != "" { // as the node controller writes it, not a kubelet
			c.Reason, c.Message, c.rank = "NotReady", "no kubelet says why it is not ready: Node/"+p.Spec.NodeName+" may not answer", failing
			c.Look = "kubectl describe node/" + p.Spec.NodeName
			w.needs(metacontroller.Node)
		}
	}
	if p.Status.Phase == corev1.PodRunning && p.Status.IsReady() {
		c.Message = "it is running, and has not ended"
		c.Since = p.since(corev1.PodReady)
	}
	e := w.warning(p.object, func(e event) bool { return e.reason != "FailedScheduling" && !strings.HasPrefix(e.reason, "BackOff") })
	if e != nil && (p.Status.Phase != corev1.PodRunning || !p.Status.IsReady()) {
		c.Source, c.Reason, c.Message, c.Since, c.rank = "event", e.reason, e.message, at(e.first), failing
	}
}

// addProbe adds the probe for which the kubelet kills a container: its status tells only how that ended.
func (w *walk) addProbe(p *pod, c *Cause) {
	if c.container == "" {
		return
	}
	e := w.warning(p.object, func(e event) bool {
		return e.reason == "Unhealthy" && (strings.HasPrefix(e.message, "Liveness probe") || strings.HasPrefix(e.message, "Startup probe"))
	})
	if e != nil && w.options.Now.Sub(e.last) < backOffReset {
		c.Message += "; " + e.message
	}
}

// backOffReset is how long a container runs until the kubelet forgets that it failed.
const backOffReset = 10 * time.Minute

// stuck returns the first container that cannot start, or has ended while others go on, or runs again.
func (p *pod) stuck() (container, reason string) {
	if !p.Status.IsStuck() {
		return "", ""
	}
	for _, c := range p.Status.Containers() {
		switch waiting, ended := c.State.Waiting, c.State.Terminated; {
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
			return c.Name, waiting.Reason
		case ended != nil && ended.ExitCode != 0:
			return c.Name, cmp.Or(ended.Reason, "Error")
		case c.State.Running != nil && c.LastState.Terminated != nil && !c.Ready:
			return c.Name, cmp.Or(c.LastState.Terminated.Reason, "Error")
		}
	}
	return "", ""
}

// addFailed adds how a Pod has failed.
func (w *walk) addFailed(p *pod, links []Link) {
	c := Cause{
		Source: "status.phase", Reason: cmp.Or(p.Status.Disruption(), p.Status.Reason, "Failed"), rank: failing,
		Message: cmp.Or(p.Status.Failure(p.Spec.Sidecars()...), p.Status.Activity()),
		Since: at(p.Status.Finished().Time, p.condition(corev1.DisruptionTarget).LastTransitionTime.Time, p.condition(corev1.PodReady).LastTransitionTime.Time,
			p.object.GetCreationTimestamp().Time),
	}
	c.isReplaced = p.Status.Disruption() != ""
	if failed := p.Status.Failed(p.Spec.Sidecars()...); failed != nil && !c.isReplaced {
		c.Source, c.container = "container status", failed.Name
		c.Reason = cmp.Or(p.Status.Reason, failed.State.Terminated.Reason, "Error")
		c.Look = w.logs(p.object, failed.Name, false)
	}
	w.add(p.object, links, c)
}

// addClaims adds the claims that a Pod waits for, and reports whether one is in trouble.
func (w *walk) addClaims(p *pod, links []Link) (isHeld bool) {
	for _, volume := range p.Spec.Volumes {
		ref := Ref{APIVersion: "v1", Kind: metacontroller.PersistentVolumeClaim.Kind, Namespace: p.object.GetNamespace(), Name: volume.Claim.Name}
		if ref.Name == "" || p.Status.Phase == corev1.PodRunning {
			continue
		}
		claim := w.get(ref)
		if claim == nil {
			if !w.sees(metacontroller.PersistentVolumeClaim) {
				w.unseen[ref.String()] = true
			}
			continue
		}
		if w.causeOf(claim) == nil { // several Pods may use it
			w.addClaim(claim, prepend(w.link(claim), links), strings.Contains(p.condition(corev1.PodScheduled).Message, unboundClaims))
		}
		c := w.causeOf(claim)
		isHeld = isHeld || c != nil && c.rank == failing
	}
	return isHeld
}

// unboundClaims is what the scheduler says of a Pod whose claims should have a volume already.
const unboundClaims = "unbound immediate PersistentVolumeClaims"

// lostNode returns the node of a Pod if it is not Ready.
func (w *walk) lostNode(object Object) (Object, bool) {
	name := podOf(object).Spec.NodeName
	if object.GetKind() != "Pod" || name == "" {
		return nil, false
	}
	node := w.get(Ref{APIVersion: "v1", Kind: "Node", Name: name})
	if node == nil {
		return nil, false
	}
	return node, kube.ConditionIn(node.Object["status"], "Ready").Status != "True"
}

// longestToleration is how long a Pod stays on a node that does not answer, as the API server says by default.
const longestToleration = 5 * time.Minute

// addNode adds a node that is not Ready, once.
func (w *walk) addNode(node Object, links []Link) {
	if w.seen[node.GetUID()] {
		return
	}
	w.seen[node.GetUID()] = true
	c := kube.ConditionIn(node.Object["status"], "Ready")
	next := "after five minutes the Pods of a node that does not answer are deleted"
	if due := c.Since.Add(longestToleration); !c.Since.IsZero() && w.isDue(due) {
		next = "the deletion of its Pods is due since " + clock(due) + ": they stay until it answers, or somebody deletes the Node"
	}
	w.add(node, prepend(w.link(node), links), Cause{
		Source: "condition Ready=" + cmp.Or(c.Status, "Unknown"), Reason: c.Reason, Message: c.Message, Since: at(c.Since), rank: failing,
		Next: []string{next},
	})
}

// needs notes a kind that matters here, if none of it was read.
func (w *walk) needs(kind metacontroller.Resource) {
	if !w.sees(kind) {
		w.unseen[kind.Kind] = true
	}
}
