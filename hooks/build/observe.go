package build

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedJob is the part of a Job of the Build that the hook reads.
type observedJob struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		Annotations struct {
			Revision string `json:"ci.zt.vapi.cc/revision"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Template struct {
			Spec struct {
				InitContainers []struct {
					Name string `json:"name"`
					Env  []struct {
						Name  string `json:"name"`
						Value string `json:"value"`
					} `json:"env"`
				} `json:"initContainers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
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

	hash    string       // of the build that it runs, as its name says
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

// revision returns what the Job builds: what its clone was told, for a Pod's
// template never changes. Only a Job that the hook has not made, of which the
// template tells nothing, is asked for its annotation, which anybody may edit.
func (j *observedJob) revision() string {
	for _, container := range j.Spec.Template.Spec.InitContainers {
		for _, variable := range container.Env {
			if container.Name == cloneStep && variable.Name == revisionVariable {
				return shown(operator.Unliteral(variable.Value), maxRevision)
			}
		}
	}
	return shown(j.Metadata.Annotations.Revision, maxRevision)
}

// hashIn returns the hash of the build that a Job of a name runs, or nothing if
// no Job of this Build has such a name. A name is for ever, while the labels and
// annotations of a Job can be edited: they decide nothing.
func hashIn(build *Build, wanted, name string) string {
	if name == jobName(build, wanted) {
		return wanted
	}
	hash, _ := strings.CutPrefix(name, build.Name+"-")
	isHex := strings.Trim(hash, "0123456789abcdef") == ""
	if len(hash) != hashLength || !isHex || jobName(build, hash) != name {
		return ""
	}
	return hash
}

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp          metav1.Time             `json:"creationTimestamp"`
		DeletionTimestamp          *metav1.Time            `json:"deletionTimestamp"`
		DeletionGracePeriodSeconds int64                   `json:"deletionGracePeriodSeconds"`
		OwnerReferences            []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
	Status operator.PodStatus `json:"status"`

	hash string    // of the build that its Job runs, as the Job's name says
	job  types.UID // of its Job
}

// findJob looks for the Job that runs the Pod, and reports whether it is one of
// the Build. The labels by which the Pod was selected can be written by anybody
// who may run Pods.
func (p *observedPod) findJob(build *Build, wanted string) bool {
	for _, owner := range p.Metadata.OwnerReferences {
		isJob := owner.Kind == metacontroller.Job.Kind && strings.HasPrefix(owner.APIVersion, "batch/")
		if isJob && owner.Controller != nil && *owner.Controller {
			p.hash, p.job = hashIn(build, wanted, owner.Name), owner.UID
		}
	}
	return p.hash != ""
}

// observed is what is there of a Build.
type observed struct {
	jobs []observedJob
	pods []observedPod // of its Jobs, the newest first
	// strangers are Jobs among the children whose names are not those of a Job of
	// this Build. Metacontroller adopts any Job that is given its label. They stay,
	// for nothing tells that they were made for this Build and may go, and count
	// for nothing: neither does the next build wait for them, nor is what they
	// ended with a result.
	strangers []metacontroller.Snapshot

	// There may be thousands, each of which is asked for.
	byHash  map[string]int      // the first of jobs with a hash
	byJob   map[types.UID][]int // of pods, by the Job that controls them
	running map[string]bool     // hashes of pods that have not ended
}

// index fills in by what objects are asked for.
func (o *observed) index() {
	o.byHash, o.byJob, o.running = make(map[string]int, len(o.jobs)), make(map[types.UID][]int, len(o.jobs)), map[string]bool{}
	for i := range o.jobs {
		if _, known := o.byHash[o.jobs[i].hash]; !known {
			o.byHash[o.jobs[i].hash] = i
		}
	}
	for i := range o.pods {
		pod := &o.pods[i]
		o.byJob[pod.job] = append(o.byJob[pod.job], i)
		if !pod.Status.IsDone() {
			o.running[pod.hash] = true
		}
	}
}

func observe(build *Build, wanted string, seen metacontroller.Observed) (observed, error) {
	var there observed
	jobs, err := metacontroller.List[observedJob](seen.Children, metacontroller.Job.APIVersion, metacontroller.Job.Kind)
	if err != nil {
		return there, err
	}
	for i := range jobs {
		job := &jobs[i]
		if job.hash = hashIn(build, wanted, job.Name); job.hash == "" {
			there.strangers = append(there.strangers, job.Snapshot)
			continue
		}
		job.read()
		there.jobs = append(there.jobs, *job)
	}
	pods, err := metacontroller.List[observedPod](seen.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	for i := range pods {
		if pods[i].findJob(build, wanted) {
			there.pods = append(there.pods, pods[i])
		}
	}
	slices.SortStableFunc(there.pods, func(a, b observedPod) int {
		return cmp.Or(
			b.Metadata.CreationTimestamp.Compare(a.Metadata.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
	there.index()
	return there, err
}

// job returns the Job of that hash, or nil.
func (o observed) job(hash string) *observedJob {
	i, found := o.byHash[hash]
	if !found {
		return nil
	}
	return &o.jobs[i]
}

// podOf returns the newest Pod of a Job, or nil.
func (o observed) podOf(job *observedJob) *observedPod {
	pods := o.byJob[job.UID]
	if len(pods) == 0 {
		return nil
	}
	return &o.pods[pods[0]]
}

// hasRunningPod reports whether a Pod of that hash has not ended.
func (o observed) hasRunningPod(hash string) bool {
	return o.running[hash]
}

// failure tells why a Job failed: where a Pod tells it, which step, and how. What
// ran when the time was over was ended by a signal, which says nothing.
func (o observed) failure(job *observedJob) string {
	if job.reason == batchv1.JobReasonDeadlineExceeded {
		return explain(job.reason)
	}
	return cmp.Or(o.failureOf(job.UID), explain(job.reason))
}
