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
	neighbors int       // how many Pods share its node when it is picked, itself included
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

// mostSkew is how far a node's clock may be ahead. The node writes when a Pod
// became ready; a time further in the future is ignored, so that nothing waits
// for it.
const mostSkew = time.Minute

// read computes fields from the decoded ones.
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

// hasFailed reports whether the Pod has ended. Its containers should run for
// ever, so any exit code is a failure.
func (p *observedPod) hasFailed() bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// waitingReason says what the Pod waits for, as kubectl get does.
func (p *observedPod) waitingReason() string {
	if p.Spec.NodeName == "" {
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason != "" {
				return "not scheduled: " + condition.Reason
			}
		}
		return "not scheduled"
	}
	// The other containers only say that they wait for the init containers.
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

// initializing is the reason of a container that waits for the init containers.
const initializing = "PodInitializing"

// waitingReason returns why a container waits or has failed, or "".
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

// sortByDeletionOrder sorts the Pods that are deleted first to the front. It is
// the order of a ReplicaSet (ActivePodsWithRanks in Kubernetes'
// pkg/controller/controller_utils.go) with two differences: an older template
// comes before age; and a Pod that is picked no longer counts as a neighbor on
// its node, so that the remaining ones are spread as well as possible. The
// result does not change if a picked Pod is already gone.
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

// observed is what exists of a PodSet.
type observed struct {
	live   []*observedPod // neither failed nor being deleted, by number
	failed []*observedPod
	taken  map[int]bool    // the numbers of all Pods, those that are being deleted included
	alive  map[string]bool // the names of those that are not being deleted
}

// observe decodes and sorts the Pods.
func observe(set *PodSet, request metacontroller.Observed, templateHash string) (observed, error) {
	pods, err := metacontroller.List[observedPod](request.Children, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	if err != nil {
		return observed{}, err
	}
	observed := observed{taken: make(map[int]bool, len(pods)), alive: make(map[string]bool, len(pods))}
	for i := range pods {
		pod := &pods[i]
		pod.read(prefix(set), templateHash, request.Now)
		observed.taken[pod.number] = true
		if pod.Terminating {
			continue
		}
		observed.alive[pod.Name] = true
		switch {
		case pod.hasFailed():
			observed.failed = append(observed.failed, pod)
		default:
			observed.live = append(observed.live, pod)
		}
	}
	slices.SortFunc(observed.live, byNumber)
	return observed, nil
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
