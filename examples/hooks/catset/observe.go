package catset

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedPod is the part of a Pod that is read.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		operator.PodTimes

		Labels struct {
			TemplateHash string `json:"catsets.ctl.enisoc.com/template-hash"`
		} `json:"labels"`
	} `json:"metadata"`
	Status operator.PodStatus `json:"status"`

	isNewest bool // it is of the newest template
}

// isReady reports whether the Pod runs, is ready and stays.
func (p *observedPod) isReady() bool {
	return p != nil && !p.Terminating && p.Status.Phase == corev1.PodRunning && p.Status.IsReady()
}

// observed are the Pods by their ordinals.
type observed map[int]*observedPod

// observe decodes the Pods. One whose name is not of ours is left out.
func observe(set *CatSet, request metacontroller.Observed, hash string) (observed, error) {
	kind := metacontroller.Pod
	pods, err := metacontroller.List[observedPod](request.Children, kind.APIVersion, kind.Kind)
	o := observed{}
	for i := range pods {
		pods[i].isNewest = pods[i].Metadata.Labels.TemplateHash == hash
		if ordinal := ordinalOf(pods[i].Name); podName(set, ordinal) == pods[i].Name {
			o[ordinal] = &pods[i]
		}
	}
	return o, err
}

// ordinalOf returns the number at the end of a name, or none.
func ordinalOf(name string) int {
	ordinal, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	if err != nil {
		return none
	}
	return ordinal
}

// told returns what is said of one of the Pods, or nil.
func (o observed) told(now time.Time) *operator.Told {
	var pods []operator.Pod
	for _, ordinal := range slices.Sorted(maps.Keys(o)) {
		p := o[ordinal]
		pods = append(pods, operator.Pod{Snapshot: p.Snapshot, PodTimes: p.Metadata.PodTimes, Status: &p.Status})
	}
	return operator.Tell(pods, now)
}

// ready returns how many Pods are ready, from the first to the first that is not.
func (o observed) ready(replicas int) int {
	for ordinal := range replicas {
		if !o[ordinal].isReady() {
			return ordinal
		}
	}
	return replicas
}

// last returns the highest ordinal of the Pods, or none.
func (o observed) last() int {
	last := none
	for ordinal := range o {
		last = max(last, ordinal)
	}
	return last
}

// anyGoing reports whether a Pod is being deleted.
func (o observed) anyGoing() bool {
	for _, pod := range o {
		if pod.Terminating {
			return true
		}
	}
	return false
}

// lastOf returns the highest ordinal of the Pods that satisfy a condition, or none.
func (o observed) lastOf(is func(*observedPod) bool) int {
	last := none
	for ordinal, pod := range o {
		if is(pod) {
			last = max(last, ordinal)
		}
	}
	return last
}
