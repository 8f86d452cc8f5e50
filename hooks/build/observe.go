package build

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedJob is the part of a Job of the Build that the hook reads.
type observedJob struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time         `json:"creationTimestamp"`
		Annotations       observedAnnotations `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Suspend          bool      `json:"suspend"`
		BackoffLimit     int32     `json:"backoffLimit"`
		PodFailurePolicy *struct{} `json:"podFailurePolicy"`
		Template         struct {
			Metadata struct {
				Annotations observedAnnotations `json:"annotations"`
			} `json:"metadata"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Active         int32        `json:"active"`
		Failed         int32        `json:"failed"`
		Ready          int32        `json:"ready"`
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
	// isCanceled is set for a Job that runs while the Build is suspended, but not where another
	// build replaces it.
	isCanceled bool
	// isFormer is set for the Job of an earlier Build of the name, which server-side
	// apply takes over where the garbage collector has not deleted it yet. It is kept,
	// and its end is no result of this Build.
	isFormer bool
}

type observedAnnotations struct {
	Revision string `json:"ci.zt.vapi.cc/revision"`
}

// read computes fields from the decoded ones.
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

// knownJobs returns what the status knows of Jobs: the hashes of those that have ended and
// the UIDs of those that run.
func knownJobs(build *Build) map[string]bool {
	known := map[string]bool{}
	for _, ended := range build.Status.History {
		known[ended.Hash] = true
	}
	for _, active := range build.Status.Active {
		known[string(active.UID)] = true
	}
	return known
}

// began returns when the Job was started, or else created.
func (j *observedJob) began() *metav1.Time {
	return cmp.Or(j.Status.StartTime, &j.Metadata.CreationTimestamp)
}

// retriesDisruptions reports whether another Pod follows one that is disrupted.
func (j *observedJob) retriesDisruptions() bool { return j.Spec.PodFailurePolicy != nil }

// isRunning reports whether the Job has not ended.
func (j *observedJob) isRunning() bool { return j.result == "" }

// revision returns what the Job builds, from its Pod template, which never changes.
// Only for a Job that the hook has not made it is the annotation, which anyone may edit.
func (j *observedJob) revision() string {
	return printable.Line(cmp.Or(j.Spec.Template.Metadata.Annotations.Revision, j.Metadata.Annotations.Revision), maxText)
}

// hashIn returns the hash of the build that a Job of this name runs, or "" if
// no Job of this Build has such a name. A name never changes, while labels and
// annotations can be edited and are not trusted.
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
		operator.PodTimes

		OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
	Spec   operator.PodSpec   `json:"spec"`
	Status operator.PodStatus `json:"status"`

	hash string    // of the build that its Job runs, as the Job's name says
	job  types.UID // of its Job
}

// tell returns what a status says of the Pod, or nil.
func (p *observedPod) tell(now time.Time) *operator.Told {
	return operator.Tell([]operator.Pod{{Snapshot: p.Snapshot, PodTimes: p.Metadata.PodTimes, Status: &p.Status}}, now)
}

// findJob finds the Job of the Pod, and reports whether it belongs to the
// Build. The labels by which the Pod was selected can be written by anyone who
// may run Pods.
func (p *observedPod) findJob(build *Build, wanted string) bool {
	for _, owner := range p.Metadata.OwnerReferences {
		isJob := owner.Kind == metacontroller.Job.Kind && strings.HasPrefix(owner.APIVersion, "batch/")
		if isJob && owner.Controller != nil && *owner.Controller {
			p.hash, p.job = hashIn(build, wanted, owner.Name), owner.UID
		}
	}
	return p.hash != ""
}

// observed is what exists of a Build.
type observed struct {
	jobs []observedJob
	pods []observedPod // of its Jobs, the newest first
	// seesPods is set where the customize hook has selected them.
	seesPods bool
	// strangers are children with names that no Job of this Build has:
	// Metacontroller adopts any Job with its label. They are kept, because they
	// may not have been made for this Build, and ignored: the next build does
	// not wait for them, and their end is no result.
	strangers []metacontroller.Snapshot
}

func observe(build *Build, wanted string, request metacontroller.Observed) (observed, error) {
	var observed observed
	jobs, err := metacontroller.List[observedJob](request.Children, metacontroller.Job.APIVersion, metacontroller.Job.Kind)
	if err != nil {
		return observed, err
	}
	known := knownJobs(build)
	for i := range jobs {
		job := &jobs[i]
		if job.hash = hashIn(build, wanted, job.Name); job.hash == "" {
			observed.strangers = append(observed.strangers, job.Snapshot)
			continue
		}
		job.read()
		isOlder := operator.IsOlder(job.Metadata.CreationTimestamp, build.CreationTimestamp, job.isRunning())
		job.isFormer = isOlder && !known[job.hash] && !known[string(job.UID)]
		if isSuspended(build) && job.isRunning() && !job.isFormer && (job.hash == wanted || policy(build) != Replace) {
			job.isCanceled, job.endedAt = true, &metav1.Time{Time: request.Now}
		}
		observed.jobs = append(observed.jobs, *job)
	}
	observed.seesPods = request.Related.Includes(metacontroller.Pod)
	pods, err := metacontroller.List[observedPod](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	for i := range pods {
		if pods[i].findJob(build, wanted) {
			observed.pods = append(observed.pods, pods[i])
		}
	}
	slices.SortStableFunc(observed.pods, func(a, b observedPod) int {
		return cmp.Or(
			b.Metadata.CreationTimestamp.Compare(a.Metadata.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
	return observed, err
}

// job returns the Job of that hash, or nil.
func (o observed) job(hash string) *observedJob {
	i := slices.IndexFunc(o.jobs, func(job observedJob) bool { return job.hash == hash })
	if i < 0 {
		return nil
	}
	return &o.jobs[i]
}

// podOf returns the newest Pod of a Job, or nil.
func (o observed) podOf(job *observedJob) *observedPod {
	i := slices.IndexFunc(o.pods, func(pod observedPod) bool { return pod.job == job.UID })
	if i < 0 {
		return nil
	}
	return &o.pods[i]
}

// injected returns the containers that are no steps: sidecars, and such as a mesh adds. The spec is nil
// where it is not known.
func (p *observedPod) injected(spec *Spec) []string {
	injected := p.Spec.Sidecars()
	if spec == nil {
		return injected
	}
	own := []string{cloneStep, prepareContainer, resultsContainer}
	for _, step := range steps(spec) {
		own = append(own, containerName(spec, step.Name))
	}
	for _, c := range p.Status.Containers() {
		if !slices.Contains(own, c.Name) {
			injected = append(injected, c.Name)
		}
	}
	return injected
}

// failure says why a Pod failed that is not to blame: its node's condition, say, or a disruption.
func (p *observedPod) failure(job *observedJob, spec *Spec) string {
	text := p.Status.Failure(p.injected(spec)...)
	switch {
	case p.Status.Disruption() == "":
		return "its Pod failed: " + text
	case job.retriesDisruptions():
		return "its Pod was disrupted: " + text
	}
	return "its Pod was disrupted: " + text + "; with spec.retryDisruptions it would have been tried again"
}

// failure says why a Job failed: the step and its exit code, if a Pod shows
// them. A container that ran when the deadline passed was killed by a signal,
// which explains nothing. The spec is nil where the Job is of another one.
func (o observed) failure(job *observedJob, spec *Spec) string {
	for i := range o.pods {
		pod := &o.pods[i]
		switch failed := pod.Status.Failed(pod.injected(spec)...); {
		case pod.job != job.UID || job.reason == batchv1.JobReasonDeadlineExceeded:
		case pod.Status.Phase == corev1.PodFailed && cmp.Or(pod.Status.Reason, pod.Status.Disruption()) != "":
			return pod.failure(job, spec)
		case failed != nil:
			return describeFailure(failed, spec)
		}
	}
	return failureText(job.reason)
}
