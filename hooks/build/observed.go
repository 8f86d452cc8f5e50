package build

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/pods"
	"github.com/operetta-dev/operetta/metacontroller"
)

// observedJob is the part of a Job that the hook reads.
type observedJob struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
		Labels            struct {
			Hash string `json:"ci.zt.vapi.cc/hash"`
		} `json:"labels"`
		Annotations struct {
			Revision string `json:"ci.zt.vapi.cc/revision"`
		} `json:"annotations"`
	} `json:"metadata"`
	Status struct {
		StartTime      *metav1.Time `json:"startTime"`
		CompletionTime *metav1.Time `json:"completionTime"`
		Conditions     []struct {
			Type               batchv1.JobConditionType `json:"type"`
			Status             corev1.ConditionStatus   `json:"status"`
			Reason             string                   `json:"reason"`
			LastTransitionTime metav1.Time              `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`

	result  Phase        // Succeeded, Failed or, while it has not ended, empty
	reason  string       // why it failed
	endedAt *metav1.Time // once it has ended
}

// read fills in what follows from what was decoded.
func (j *observedJob) read() {
	for _, condition := range j.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		at := condition.LastTransitionTime
		switch condition.Type {
		case batchv1.JobComplete:
			j.result, j.endedAt = PhaseSucceeded, cmp.Or(j.Status.CompletionTime, &at)
		case batchv1.JobFailed:
			j.result, j.reason, j.endedAt = PhaseFailed, condition.Reason, &at
		default: // the Job may yet end in another way
		}
	}
}

// isRunning reports whether the Job has not ended.
func (j *observedJob) isRunning() bool { return j.result == "" }

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
		Labels            struct {
			Hash string `json:"ci.zt.vapi.cc/hash"`
		} `json:"labels"`
	} `json:"metadata"`
	Status pods.Status `json:"status"`
}

// observed is what is there of a Build.
type observed struct {
	jobs []observedJob
	pods []observedPod // the newest first
}

func observe(seen metacontroller.Observed) (observed, error) {
	var there observed
	var err error
	if there.jobs, err = metacontroller.List[observedJob](seen.Children, jobKind.APIVersion, jobKind.Kind); err != nil {
		return there, err
	}
	for i := range there.jobs {
		there.jobs[i].read()
	}
	there.pods, err = metacontroller.List[observedPod](seen.Related, podKind.APIVersion, podKind.Kind)
	slices.SortStableFunc(there.pods, func(a, b observedPod) int {
		return cmp.Or(
			b.Metadata.CreationTimestamp.Compare(a.Metadata.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
	return there, err
}

// job returns the Job of that hash, or nil.
func (o observed) job(hash string) *observedJob {
	i := slices.IndexFunc(o.jobs, func(j observedJob) bool { return j.Metadata.Labels.Hash == hash })
	if i < 0 {
		return nil
	}
	return &o.jobs[i]
}

// pod returns the newest Pod of that hash, or nil.
func (o observed) pod(hash string) *observedPod {
	i := slices.IndexFunc(o.pods, func(p observedPod) bool { return p.Metadata.Labels.Hash == hash })
	if i < 0 {
		return nil
	}
	return &o.pods[i]
}

// failure tells which step of a build failed, and how. It is empty where no Pod
// tells.
func (o observed) failure(hash string) string {
	for i := range o.pods {
		pod := &o.pods[i]
		if pod.Metadata.Labels.Hash != hash {
			continue
		}
		if failed := pod.Status.Failed(); failed != nil {
			return describeFailure(failed)
		}
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
			return "its Pod failed: " + pod.Status.Reason
		}
	}
	return ""
}
