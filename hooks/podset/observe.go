package podset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		operator.PodTimes

		Labels struct {
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
	Status operator.PodStatus `json:"status"`

	number    int // as in its name; -1 where its name is of another form
	cost      int32
	ready     bool
	available bool      // it has been ready for minReadySeconds
	listed    bool      // in podsToDelete
	changed   time.Time // when it became ready or not, or was created
	current   bool      // it is of the newest template
	held      bool      // it is of an older template, and partition says that it stays
	neighbors int       // how many Pods share its node when it is picked, itself included
}

// mostSkew is how far the clock of a node may be ahead, which writes when a Pod became ready. A
// time further in the future is ignored, so that nothing waits for it.
const mostSkew = time.Minute

// read computes fields from the decoded ones.
func (p *observedPod) read(set *PodSet, templateHash string, now time.Time) {
	p.number = numberOf(p.Name, prefix(set))
	p.listed = slices.Contains(set.Spec.PodsToDelete, p.Name)
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
	p.available = p.ready && p.availableIn(set, now) <= 0
}

// availableIn returns how much longer a ready Pod has to be ready to count as available.
func (p *observedPod) availableIn(set *PodSet, now time.Time) time.Duration {
	if set.Spec.MinReadySeconds == 0 {
		return 0
	}
	return p.changed.Add(time.Duration(set.Spec.MinReadySeconds) * time.Second).Sub(now)
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

// sortByDeletionOrder sorts the Pods that are deleted first to the front, in the order of a
// ReplicaSet (ActivePodsWithRanks), but that an older template comes before age, and that a Pod
// that is picked no longer counts as a neighbor, that those of podsToDelete come first, and those
// that partition holds after others that are as ready. It does not change when a picked Pod is gone.
func sortByDeletionOrder(pods []*observedPod, partition int) {
	onNode := map[string]int{}
	for _, pod := range pods {
		onNode[pod.Spec.NodeName]++
		pod.neighbors, pod.held = 0, false
	}
	slices.SortFunc(pods, byDeletionOrder)
	if partition > 0 {
		hold(pods, partition)
		slices.SortFunc(pods, byDeletionOrder)
	}
	for _, pod := range pods {
		pod.neighbors = onNode[pod.Spec.NodeName]
		onNode[pod.Spec.NodeName]--
	}
	slices.SortFunc(pods, byDeletionOrder)
}

// hold marks the Pods of an older template that partition says stay, the last ones.
func hold(pods []*observedPod, partition int) {
	for _, pod := range slices.Backward(pods) {
		if partition > 0 && !pod.current {
			pod.held = true
			partition--
		}
	}
}

func byDeletionOrder(a, b *observedPod) int {
	return cmp.Or(
		falseFirst(!a.listed, !b.listed),
		falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(a.phaseRank(), b.phaseRank()),
		falseFirst(a.ready, b.ready),
		falseFirst(a.held, b.held),
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
	live    []*observedPod // neither failed nor being deleted, by number
	failed  []*observedPod
	going   []*observedPod // those that are being deleted
	numbers map[int]bool   // of all Pods; true for those that are not being deleted
}

// observe decodes and sorts the Pods. Their containers should run for ever, so that one which is
// done has failed with any exit code.
func observe(set *PodSet, request metacontroller.Observed, templateHash string) (observed, error) {
	pods, err := metacontroller.List[observedPod](request.Children, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	if err != nil {
		return observed{}, err
	}
	o := observed{numbers: make(map[int]bool, len(pods))}
	for i := range pods {
		pod := &pods[i]
		pod.read(set, templateHash, request.Now)
		o.numbers[pod.number] = !pod.Terminating
		switch {
		case pod.Terminating:
			o.going = append(o.going, pod)
		case pod.Status.IsDone():
			o.failed = append(o.failed, pod)
		default:
			o.live = append(o.live, pod)
		}
	}
	slices.SortFunc(o.live, byNumber)
	return o, nil
}

// counts are the numbers of live Pods that are ready, available and of the newest template.
type counts struct{ ready, available, current int }

func (o observed) count() counts {
	var c counts
	for _, pod := range o.live {
		if pod.ready {
			c.ready++
		}
		if pod.available {
			c.available++
		}
		if pod.current {
			c.current++
		}
	}
	return c
}
