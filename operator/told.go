package operator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// PodTimes is the part of a Pod's metadata that [Tell] reads. Embed it in what a hook reads of that.
type PodTimes struct {
	CreationTimestamp metav1.Time `json:"creationTimestamp"`
	// DeletionTimestamp is when the grace period of a Pod that is being deleted ends.
	DeletionTimestamp metav1.Time `json:"deletionTimestamp"`
}

// Pod is a Pod of which a status may tell.
type Pod struct {
	metacontroller.Snapshot
	PodTimes

	Status *PodStatus
}

// Told is what a status says of a Pod.
type Told struct {
	// Pod is the name of the Pod, and Text what it does, or what hinders it.
	Pod, Text string
	// State is [Degraded] where that may need a person, [Restarted] where the Pod is ready again after one of
	// its containers has ended, and [Progressing] else.
	State State

	again time.Duration // when it may say something else without any event, or zero
}

// Next returns when it may say something else without any event, or zero.
func (t *Told) Next() time.Duration {
	if t == nil {
		return 0
	}
	return t.again
}

// How long something takes before it is told.
const (
	// forgetEnd is when a kubelet forgets that a container has ended, and starts it again at once the next
	// time: MaxContainerBackOff twice, in pkg/kubelet of Kubernetes.
	forgetEnd = 10 * time.Minute
	// patience is how long a volume, a probe or a kubelet may take until a person should look: as long as a
	// Deployment may make no progress.
	patience = 10 * time.Minute
	// slowStart is when a Pod that has a node, and no container yet, may wait for a volume.
	slowStart = 20 * time.Second
)

// Tell returns what a status says of some Pods, or nil: of the one that is in most trouble, the newest of
// several. A Pod that has failed may have been replaced long ago: it is told of while it is the newest, or new. One
// that was disrupted, as by an eviction, needs nobody once there is a newer one.
func Tell(pods []Pod, now time.Time) *Told {
	var first *Told
	var of Pod
	var newest time.Time
	for _, pod := range pods {
		if pod.CreationTimestamp.After(newest) {
			newest = pod.CreationTimestamp.Time
		}
	}
	for _, pod := range pods {
		told, isReplaced := pod.tell(now), pod.Status.IsDone() && pod.CreationTimestamp.Time.Before(newest)
		switch {
		case told == nil, isReplaced && now.Sub(pod.CreationTimestamp.Time) > forgetEnd:
			continue
		case isReplaced && pod.Status.Disruption() != "":
			told.State = Progressing // the newer one runs elsewhere
		}
		if first == nil || cmp.Or(cmp.Compare(pod.rank(told), of.rank(first)), of.CreationTimestamp.Compare(pod.CreationTimestamp.Time)) < 0 {
			first, of = told, pod
		}
	}
	return first
}

// rank is lowest for the Pod that says most of what its owner waits for. One that terminates comes last.
func (p *Pod) rank(told *Told) int {
	if p.Terminating {
		return 3
	}
	return map[State]int{Degraded: 0, Progressing: 1, Restarted: 2}[told.State]
}

// tell returns what is to be said of one Pod, or nil.
func (p *Pod) tell(now time.Time) *Told {
	if !p.Terminating && !p.Status.IsDone() && p.Status.IsReady() {
		return p.restarted(now)
	}
	told := &Told{Pod: p.Name, State: Progressing}
	switch status := p.Status; {
	case p.Terminating:
		p.terminates(told, now)
	case status.Phase == corev1.PodFailed:
		told.State, told.Text = Degraded, "it has failed: "+cmp.Or(status.Failure(), "it does not say why")
	case status.IsDone():
		return nil
	case status.IsStuck():
		told.State, told.Text = Degraded, status.Activity()
		if since := status.withoutSandbox(); since != nil {
			told.Text += ", and it has no sandbox" + p.since(since)
		}
	default:
		p.start(told, now)
	}
	return told
}

// terminates tells of a Pod that is being deleted. Past the end of its grace period its node may be gone, and then
// it stays until somebody deletes it by force.
func (p *Pod) terminates(told *Told, now time.Time) {
	const slack = 10 * time.Second // a kubelet kills at the end, and then tells
	told.Text = "it is terminating"
	if disruption := p.Status.Disruption(); disruption != "" {
		told.Text += ": " + quoted(disruption, p.Status.condition(corev1.DisruptionTarget).Message)
	}
	if told.again = p.DeletionTimestamp.Add(slack).Sub(now); told.again > 0 {
		return
	}
	told.State, told.again = Degraded, 0
	told.Text += ", longer than its grace period: if its node is gone, kubectl delete pod -n " + p.Namespace + " " + p.Name + " --force"
}

// restarted tells of a ready Pod one of whose containers has ended lately.
func (p *Pod) restarted(now time.Time) *Told {
	var last *ContainerStatus
	for _, containers := range [...][]ContainerStatus{p.Status.InitStatuses, p.Status.ContainerStatuses} {
		for i := range containers {
			ended := containers[i].LastState.Terminated
			if ended != nil && (last == nil || ended.FinishedAt.After(last.LastState.Terminated.FinishedAt.Time)) {
				last = &containers[i]
			}
		}
	}
	if last == nil {
		return nil
	}
	again := last.LastState.Terminated.FinishedAt.Add(forgetEnd).Sub(now)
	if again <= 0 {
		return nil
	}
	text := last.Name + " runs again; it ended: " + killed(last.LastState.Terminated)
	return &Told{Pod: p.Name, Text: text, State: Restarted, again: again}
}

// start tells of a Pod that does what comes first, or what takes its time. What it waits for until it has its
// volumes and its network is told by Events only.
func (p *Pod) start(told *Told, now time.Time) {
	told.Text = p.Status.Activity()
	if ready := p.Status.condition(corev1.PodReady); ready != nil && (p.Status.failsReadiness() || ready.Reason == "ReadinessGatesNotReady") {
		if told.again = ready.LastTransitionTime.Add(patience).Sub(now); told.again <= 0 {
			told.State, told.again = Degraded, 0
		}
	}
	since, text := p.Status.withoutSandbox(), told.Text
	switch scheduled := p.Status.condition(corev1.PodScheduled); {
	case p.Status.waitsForVolumes():
		since = p.Status.StartTime
	case scheduled != nil && scheduled.Status == corev1.ConditionTrue && p.Status.StartTime == nil && p.Status.Phase == corev1.PodPending:
		since, text = &scheduled.LastTransitionTime, "it has a node, whose kubelet has not taken it up"
	}
	if since == nil || since.IsZero() {
		return
	}
	switch age := now.Sub(since.Time); {
	case age < slowStart:
		told.again = slowStart - age
		return
	case age < patience:
		told.again = patience - age
	default:
		told.State = Degraded
	}
	told.Text = text + p.since(since)
}

// since says how long that has been, which Events explain.
func (p *Pod) since(t *metav1.Time) string {
	return fmt.Sprintf(", since %s; see kubectl events -n %s --for pod/%s", t.UTC().Format(time.TimeOnly), p.Namespace, p.Name)
}

// withoutSandbox returns since when a Pod that has run has no sandbox, as after its node was started again, or nil.
func (s *PodStatus) withoutSandbox() *metav1.Time {
	if c := s.condition(corev1.PodReadyToStartContainers); s.Phase == corev1.PodRunning && c != nil && c.Status == corev1.ConditionFalse {
		return &c.LastTransitionTime
	}
	return nil
}

// failsReadiness reports whether a container runs, and only its readiness probe does not succeed. Before its startup
// probe has, it may take what time it likes.
func (s *PodStatus) failsReadiness() bool {
	return slices.ContainsFunc(s.ContainerStatuses, func(c ContainerStatus) bool {
		return c.State.Running != nil && !c.Ready && c.Started != nil && *c.Started
	})
}

// waitsForVolumes reports whether the Pod is on a node, and no container of it has been made.
func (s *PodStatus) waitsForVolumes() bool {
	return s.Phase == corev1.PodPending && !slices.ContainsFunc(s.Containers(), func(c ContainerStatus) bool {
		return c.State.Waiting == nil || !isStarting(c.State.Waiting.Reason)
	}) && len(s.ContainerStatuses) > 0
}

// Again returns the summary for a sync that is repeated after a time, or sooner.
func (j Summary) Again(after time.Duration) Summary {
	j.again = Soonest(j.again, after)
	return j
}

// Telling returns the summary with what is told of a Pod, if anything is. A Pod that still terminates, or is
// not ready, does not matter to what is done.
func (j Summary) Telling(told *Told) Summary {
	if told == nil || j.State == Done && told.State != Restarted {
		return j
	}
	j = j.Again(told.again)
	j.Message = strings.TrimSuffix(j.Message, ".") + "; " + told.Pod + ": " + told.Text
	switch {
	case j.State == Progressing && told.State == Restarted: // nothing else is in the way
		j.State = Degraded
	case j.State == Done || j.State == Progressing:
		j.State = told.State
	}
	return j
}
