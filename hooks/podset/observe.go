package podset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
		Labels            struct {
			TemplateHash string `json:"podset.apps.jicki.cn/template-hash"`
		} `json:"labels"`
		Annotations struct {
			DeletionCost string `json:"controller.kubernetes.io/pod-deletion-cost"`
			Failures     string `json:"podset.apps.jicki.cn/failures"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase      corev1.PodPhase `json:"phase"`
		Conditions []struct {
			Type               corev1.PodConditionType `json:"type"`
			Status             corev1.ConditionStatus  `json:"status"`
			Reason             string                  `json:"reason"`
			LastTransitionTime metav1.Time             `json:"lastTransitionTime"`
		} `json:"conditions"`
		InitStatuses      []containerStatus `json:"initContainerStatuses"`
		ContainerStatuses []containerStatus `json:"containerStatuses"`
	} `json:"status"`

	number    int // as in its name; -1 where its name is of another form
	cost      int32
	ready     bool
	changed   time.Time // when it became ready or not, or was created
	current   bool      // it is of the newest template
	neighbors int       // how many share its node when its turn to go comes, itself included
}

// containerStatus is the part of a container's status that the hook reads.
type containerStatus struct {
	RestartCount int32          `json:"restartCount"`
	State        containerState `json:"state"`
}

type containerState struct {
	Waiting *struct {
		Reason string `json:"reason"`
	} `json:"waiting"`
	Terminated *struct {
		ExitCode int32  `json:"exitCode"`
		Reason   string `json:"reason"`
	} `json:"terminated"`
}

// mostSkew is how far ahead of ours the clock of a node may be. A node tells when
// a Pod became ready or not; a time that is further ahead than this tells nothing,
// and nothing is to wait for it.
const mostSkew = time.Minute

// read fills in what follows from what was decoded.
func (p *observedPod) read(prefix, templateHash string, now time.Time) {
	p.number = numberOf(p.Name, prefix)
	p.current = p.Metadata.Labels.TemplateHash == templateHash
	p.changed = p.Metadata.CreationTimestamp.Time
	if cost, err := strconv.ParseInt(p.Metadata.Annotations.DeletionCost, 10, 32); err == nil {
		p.cost = int32(cost)
	}
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodReady {
			p.ready = condition.Status == corev1.ConditionTrue
			if at := condition.LastTransitionTime; at.After(p.changed) && !at.After(now.Add(mostSkew)) {
				p.changed = condition.LastTransitionTime.Time
			}
		}
	}
}

// numberOf returns n of <prefix>n, or -1.
func numberOf(name, prefix string) int {
	digits, found := strings.CutPrefix(name, prefix)
	number, err := strconv.Atoi(digits)
	if !found || err != nil || number < 0 || strconv.Itoa(number) != digits {
		return -1
	}
	return number
}

// hasFailed reports whether the Pod has ended. One that shall run for ever has
// failed then, whatever its exit code.
func (p *observedPod) hasFailed() bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// waitingReason tells what the Pod waits for, in the words of kubectl get.
func (p *observedPod) waitingReason() string {
	if p.Spec.NodeName == "" {
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason != "" {
				return "not scheduled: " + condition.Reason
			}
		}
		return "not scheduled"
	}
	// The others wait for the init containers, and say no more than that.
	for _, container := range p.Status.InitStatuses {
		if reason := container.State.waitingReason(); reason != "" {
			return "Init:" + reason
		}
	}
	for _, container := range p.Status.ContainerStatuses {
		if reason := container.State.waitingReason(); reason != "" {
			return reason
		}
	}
	return "not ready"
}

// initializing is what a container waits for behind an init container.
const initializing = "PodInitializing"

// waitingReason returns why a container waits or has failed, or nothing.
func (s *containerState) waitingReason() string {
	switch {
	case s.Waiting != nil && s.Waiting.Reason != initializing:
		return s.Waiting.Reason
	case s.Terminated != nil && s.Terminated.ExitCode != 0:
		return s.Terminated.Reason
	default:
		return ""
	}
}

func (p *observedPod) restarts() int32 {
	var most int32
	for _, container := range p.Status.ContainerStatuses {
		most = max(most, container.RestartCount)
	}
	return most
}

// phaseRank orders phases as a ReplicaSet does.
func (p *observedPod) phaseRank() int {
	switch p.Status.Phase {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	default:
		return 0
	}
}

// sortByDeletionOrder sorts the Pods that go first before those that stay. It is
// the order of a ReplicaSet (ActivePodsWithRanks in Kubernetes'
// pkg/controller/controller_utils.go) with two differences: of two Pods that only
// their age would tell apart, the one of an older template goes; and a Pod that
// goes counts no more as a neighbor of the others on its node, so that those that
// stay are spread as far as they can be. Where one that goes is already gone, the
// others that go are the same.
func sortByDeletionOrder(pods []*observedPod) {
	onNode := map[string]int{}
	for _, pod := range pods {
		onNode[pod.Spec.NodeName]++
		pod.neighbors = 0
	}
	slices.SortFunc(pods, byDeletionOrder)
	for _, pod := range pods {
		pod.neighbors = onNode[pod.Spec.NodeName]
		onNode[pod.Spec.NodeName]--
	}
	slices.SortFunc(pods, byDeletionOrder)
}

func byDeletionOrder(a, b *observedPod) int {
	return cmp.Or(
		falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(a.phaseRank(), b.phaseRank()),
		falseFirst(a.ready, b.ready),
		cmp.Compare(a.cost, b.cost),
		cmp.Compare(b.neighbors, a.neighbors),
		falseFirst(a.current, b.current),
		readyForLess(a, b),
		cmp.Compare(b.restarts(), a.restarts()),
		b.Metadata.CreationTimestamp.Compare(a.Metadata.CreationTimestamp.Time),
		cmp.Compare(b.number, a.number),
		strings.Compare(b.Name, a.Name),
	)
}

func readyForLess(a, b *observedPod) int {
	if !a.ready || !b.ready {
		return 0
	}
	return b.changed.Compare(a.changed)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// byNumber orders Pods as people read them.
func byNumber(a, b *observedPod) int {
	return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.Name, b.Name))
}

// observed is what is there of a PodSet.
type observed struct {
	live        []*observedPod // neither failed nor being deleted, by number
	failed      []*observedPod
	taken       map[int]bool    // the numbers of all Pods, those that are being deleted included
	alive       map[string]bool // the names of those that are not being deleted
	terminating int             // how many are
}

// observe decodes and sorts the Pods.
func observe(set *PodSet, seen metacontroller.Observed, templateHash string) (observed, error) {
	pods, err := metacontroller.List[observedPod](seen.Children, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	if err != nil {
		return observed{}, err
	}
	there := observed{taken: make(map[int]bool, len(pods)), alive: make(map[string]bool, len(pods))}
	for i := range pods {
		pod := &pods[i]
		pod.read(prefix(set), templateHash, seen.Now)
		there.taken[pod.number] = true
		if pod.Terminating {
			there.terminating++
			continue
		}
		there.alive[pod.Name] = true
		switch {
		case pod.hasFailed():
			there.failed = append(there.failed, pod)
		default:
			there.live = append(there.live, pod)
		}
	}
	slices.SortFunc(there.live, byNumber)
	return there, nil
}

// readiness counts the Pods that are ready and those of the newest template.
func (o observed) readiness() (ready, current int) {
	for _, pod := range o.live {
		if pod.ready {
			ready++
		}
		if pod.current {
			current++
		}
	}
	return ready, current
}
