package podbuggertool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		Labels      map[string]string          `json:"labels"`
		Annotations map[string]json.RawMessage `json:"annotations"`
		operator.PodTimes

		OwnerReferences []owner `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Containers          []container `json:"containers"`
		InitContainers      []container `json:"initContainers"`
		EphemeralContainers []container `json:"ephemeralContainers"`
	} `json:"spec"`
	Status struct {
		operator.PodStatus

		Ephemeral []operator.ContainerStatus `json:"ephemeralContainerStatuses"`
	} `json:"status"`
}

// owner is the part of an owner reference that is read.
type owner struct {
	UID        types.UID `json:"uid"`
	Controller bool      `json:"controller"`
}

type container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// observedJob is the part of a Job that the hook reads.
type observedJob struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Status struct {
		Conditions []struct {
			Type               batchv1.JobConditionType `json:"type"`
			Status             corev1.ConditionStatus   `json:"status"`
			Reason             string                   `json:"reason"`
			Message            string                   `json:"message"`
			LastTransitionTime metav1.Time              `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`
}

// observed is what the hook knows besides the tool.
type observed struct {
	matched []*observedPod
	helpers map[types.UID][]*observedPod // Pods of the tool's own Jobs, by the Job's UID, the newest first
	jobs    map[string]*observedJob

	// hasRights is whether the Jobs' ServiceAccount is a child, and nobody else is bound to
	// their Role.
	hasRights bool
	allowed   []string // names of Pods that Jobs may change
}

func observe(tool *PodBuggerTool, request metacontroller.Observed) (observed, error) {
	w := observed{jobs: map[string]*observedJob{}, helpers: map[types.UID][]*observedPod{}}
	selector, err := selector(tool)
	if err != nil {
		return w, err
	}
	all, err := metacontroller.List[observedPod](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	if err != nil {
		return w, err
	}
	for i := range all {
		pod := &all[i]
		switch {
		case tool.Namespace != "" && pod.Namespace != "" && pod.Namespace != tool.Namespace:
		case pod.Metadata.Labels[toolLabel] == tool.Name:
			w.addHelper(pod)
		case selector.Matches(labels.Set(pod.Metadata.Labels)) && pod.isAlive():
			w.matched = append(w.matched, pod)
		}
	}
	for _, pods := range w.helpers {
		slices.SortFunc(pods, func(a, b *observedPod) int {
			return cmp.Or(b.Metadata.CreationTimestamp.Compare(a.Metadata.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
		})
	}
	jobs, err := metacontroller.List[observedJob](request.Children, metacontroller.Job.APIVersion, metacontroller.Job.Kind)
	for i := range jobs {
		w.jobs[jobs[i].Name] = &jobs[i]
	}
	if err != nil {
		return w, err
	}
	return w, w.observeAccess(tool, request.Children)
}

// addHelper adds a Pod to those of the Job that controls it. Anyone may copy labels, but only the
// Job controller sets the owner reference.
func (w *observed) addHelper(pod *observedPod) {
	for _, owner := range pod.Metadata.OwnerReferences {
		if owner.Controller {
			w.helpers[owner.UID] = append(w.helpers[owner.UID], pod)
		}
	}
}

// isAlive reports whether the Pod runs or will run, and can be given a
// container: the API server refuses it for mirror Pods.
func (p *observedPod) isAlive() bool {
	_, isMirror := p.Metadata.Annotations[corev1.MirrorPodAnnotationKey]
	return !p.Terminating && !p.Status.IsDone() && !isMirror
}

// isOnNode reports whether a kubelet runs the Pod, which starts ephemeral containers also while
// init containers run or hang.
func (p *observedPod) isOnNode() bool {
	return p.Status.Phase == corev1.PodRunning || slices.ContainsFunc(p.Status.Conditions, func(c operator.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue
	})
}

// has reports whether the Pod has a container of a name of its own.
func (p *observedPod) has(name string) bool {
	return slices.ContainsFunc(slices.Concat(p.Spec.Containers, p.Spec.InitContainers), func(c container) bool { return c.Name == name })
}

// debugState is what a debug container does.
type debugState struct {
	what string
	// hasStarted is set if it runs or has ended, isBroken if it cannot start or has failed,
	// and hasFailed in the latter case: Kubernetes does not restart it. Exit code 0 is fine.
	hasStarted, isBroken, hasFailed bool
}

func (p *observedPod) debugState(name string) debugState {
	i := slices.IndexFunc(p.Status.Ephemeral, func(c operator.ContainerStatus) bool { return c.Name == name })
	if i < 0 {
		return debugState{what: "not started yet"}
	}
	debug := &p.Status.Ephemeral[i]
	switch state := debug.State; {
	case state.Running != nil:
		return debugState{what: "running", hasStarted: true}
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return debugState{"it has failed: " + debug.Why(), true, true, true}
	case state.Terminated != nil:
		return debugState{what: "terminated: " + cmp.Or(state.Terminated.Reason, "without a reason"), hasStarted: true}
	case state.Waiting != nil && state.Waiting.Reason != "":
		isStarting := state.Waiting.Reason == "ContainerCreating" || state.Waiting.Reason == "PodInitializing"
		return debugState{what: "waiting: " + debug.Why(), isBroken: !isStarting}
	}
	return debugState{what: "not started yet"}
}

// outcome is how far a Job is.
type outcome int

const (
	underWay outcome = iota
	complete
	failed
)

// end returns the outcome of the Job at a time, when it ended, and why it failed, which it has long
// after its deadline, too: it is suspended, or its deadline was removed.
func (j *observedJob) end(now time.Time) (how outcome, at metav1.Time, reason string) {
	for _, c := range j.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return complete, c.LastTransitionTime, ""
		case c.Type == batchv1.JobFailed:
			return failed, c.LastTransitionTime, cmp.Or(c.Reason, "without a reason")
		}
	}
	if created := j.Metadata.CreationTimestamp; !created.IsZero() && j.left(now) <= 0 {
		return failed, created, fmt.Sprintf("it had not ended %s after its creation; see whether it is suspended, and delete it to try again", jobPatience)
	}
	return underWay, metav1.Time{}, ""
}

// left returns how long the Job may still be under way.
func (j *observedJob) left(now time.Time) time.Duration {
	return jobPatience - now.Sub(j.Metadata.CreationTimestamp.Time)
}

// told returns what is said of the Pods of a running Job, or nil where it has none at the moment.
func (w *observed) told(job *observedJob, now time.Time) *operator.Told {
	var pods []operator.Pod
	for _, pod := range w.helpers[job.UID] {
		pods = append(pods, operator.Pod{Snapshot: pod.Snapshot, PodTimes: pod.Metadata.PodTimes, Status: &pod.Status.PodStatus})
	}
	return operator.Tell(pods, now)
}

// kubectlError returns the last error of kubectl, in one line, or "".
func (w *observed) kubectlError(job *observedJob) string {
	for _, pod := range w.helpers[job.UID] {
		if ended := pod.Status.Failed(); ended != nil {
			return cmp.Or(firstLine(ended.State.Terminated.Message), ended.Why())
		}
		if pod.Status.Phase == corev1.PodFailed {
			return firstLine(pod.Status.Failure())
		}
	}
	return ""
}

// firstLine returns the first line that is no warning, with the next one if that is where its
// sentence begins, shortened. Later ones are hidden: some errors of the API server print whole
// containers with their variables.
func firstLine(text string) string {
	const most = 300
	heading := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "Warning:") {
			continue
		}
		if heading == "" && strings.HasSuffix(line, ":") {
			heading = line + " "
			continue
		}
		line = heading + strings.TrimPrefix(line, "* ")
		if len(line) > most {
			line = strings.ToValidUTF8(line[:most], "") + "…"
		}
		return line
	}
	return strings.TrimSpace(heading)
}
