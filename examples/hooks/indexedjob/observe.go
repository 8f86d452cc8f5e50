package indexedjob

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
	} `json:"metadata"`
	Status operator.PodStatus `json:"status"`
}

// told returns what is said of one of the Pods, or nil.
func (o observed) told(now time.Time) *operator.Told {
	var pods []operator.Pod
	for _, index := range slices.Sorted(maps.Keys(o)) {
		p := o[index]
		pods = append(pods, operator.Pod{Snapshot: p.Snapshot, PodTimes: p.Metadata.PodTimes, Status: &p.Status})
	}
	return operator.Tell(pods, now)
}

// observed are the Pods of the job by their indexes.
type observed map[int]*observedPod

// observe decodes the Pods.
func observe(job *IndexedJob, request metacontroller.Observed) (observed, error) {
	kind := metacontroller.Pod
	pods, err := metacontroller.List[observedPod](request.Children, kind.APIVersion, kind.Kind)
	if err != nil {
		return nil, err
	}
	o := observed{}
	for i := range pods {
		digits, found := strings.CutPrefix(pods[i].Name, job.Name+"-")
		if index, err := strconv.Atoi(digits); found && err == nil && podName(job, index) == pods[i].Name {
			o[index] = &pods[i]
		}
	}
	return o, nil
}

// count returns how many Pods are in each state.
func (o observed) count() (active, succeeded, failed int32) {
	for _, pod := range o {
		switch pod.Status.Phase {
		case corev1.PodSucceeded:
			succeeded++
		case corev1.PodFailed:
			failed++
		default:
			active++
		}
	}
	return active, succeeded, failed
}

// completed returns how many of the indexes have a Pod that has succeeded.
func (o observed) completed(indexes int32) (completed int32) {
	for index := range indexes {
		if pod := o[int(index)]; pod != nil && pod.Status.Phase == corev1.PodSucceeded {
			completed++
		}
	}
	return completed
}
