package controllers

import (
	"cmp"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

type jobRun struct {
	*batchv1.Job

	ref                       kube.Ref
	active                    []replica
	succeeded, failed, ending int32
	ignored                   int32 // failed Pods that the podFailurePolicy does not count
	restarts                  int64
}

func (b *Builtin) job(ref kube.Ref) {
	j := load[batchv1.Job](b, ref)
	if j == nil {
		return
	}
	if finished := jobCondition(j, batchv1.JobComplete, batchv1.JobFailed); finished != nil {
		b.expire(j, ref, finished.LastTransitionTime.Time)
		return
	}
	run := b.runOf(j, ref)
	if !*j.Spec.Suspend {
		j.Status.Conditions = slices.DeleteFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobSuspended })
		j.Status.StartTime = cmp.Or(j.Status.StartTime, new(b.now()))
	}
	switch reason, message := b.failureOf(run); {
	case reason != "":
		b.failJob(run, reason, message)
	case *j.Spec.Suspend:
		b.suspend(run)
	case run.isComplete():
		b.setJobCondition(j, batchv1.JobSuccessCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods")
		if len(run.active) == 0 && run.ending == 0 {
			j.Status.CompletionTime = new(b.now())
			b.setJobCondition(j, batchv1.JobComplete, "CompletionsReached", "Reached expected number of succeeded pods")
		}
	default:
		b.startPods(run)
	}
	b.reportJob(run)
}

func (b *Builtin) runOf(j *batchv1.Job, ref kube.Ref) *jobRun {
	lost := b.lost[j.UID]
	run := &jobRun{Job: j, ref: ref, failed: lost.failed, ignored: lost.ignored}
	for _, r := range b.replicas(j.UID, 0) {
		switch {
		case r.phase == string(corev1.PodSucceeded):
			run.succeeded++
		case r.phase == string(corev1.PodFailed) && ignores(j.Spec.PodFailurePolicy, r.object):
			run.ignored++
		case r.phase == string(corev1.PodFailed):
			run.failed++
		case r.terminating:
			run.ending++
		default:
			run.active = append(run.active, r)
		}
		containers, _, _ := unstructured.NestedSlice(r.object.Object, "status", "containerStatuses")
		for _, c := range containers {
			restarts, _ := c.(map[string]any)["restartCount"].(int64)
			run.restarts += restarts
		}
	}
	return run
}

func (run *jobRun) wanted() int32 {
	if run.Spec.Completions == nil {
		return 1
	}
	return *run.Spec.Completions
}

func (run *jobRun) isComplete() bool { return run.succeeded >= run.wanted() }

func (b *Builtin) failureOf(run *jobRun) (reason, message string) {
	if failing := jobCondition(run.Job, batchv1.JobFailureTarget); failing != nil {
		return failing.Reason, failing.Message
	}
	limit := *run.Spec.BackoffLimit
	crashing := run.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure &&
		run.restarts > 0 && run.restarts >= int64(limit)
	if run.failed > limit || crashing {
		return batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit"
	}
	if run.Spec.ActiveDeadlineSeconds == nil || run.Status.StartTime == nil {
		return "", ""
	}
	deadline := run.Status.StartTime.Add(time.Duration(*run.Spec.ActiveDeadlineSeconds) * time.Second)
	if b.server.Now().Before(deadline) {
		b.at(run.ref, deadline)
		return "", ""
	}
	return batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline"
}

func (b *Builtin) failJob(run *jobRun, reason, message string) {
	b.setJobCondition(run.Job, batchv1.JobFailureTarget, reason, message)
	b.deletePods(run.active)
	if len(run.active) == 0 && run.ending == 0 {
		b.setJobCondition(run.Job, batchv1.JobFailed, reason, message)
	}
}

func (b *Builtin) suspend(run *jobRun) {
	b.deletePods(run.active)
	run.Status.StartTime = nil
	b.setJobCondition(run.Job, batchv1.JobSuspended, "JobSuspended", "Job suspended")
}

func (b *Builtin) startPods(run *jobRun) {
	now := b.server.Now()
	missing := min(*run.Spec.Parallelism, run.wanted()-run.succeeded) - int32(len(run.active))
	if *run.Spec.PodReplacementPolicy == batchv1.Failed {
		missing -= run.ending
	}
	if missing <= 0 || !b.server.HasRoomFor(run.ref, missing) {
		return
	}
	if lost := b.lost[run.UID]; run.failed > run.Status.Failed || run.ignored > lost.paused {
		b.retries[run.ref] = now.Add(10 * time.Second << min(run.failed+run.ignored-1, 5))
		lost.paused = run.ignored
		b.lost[run.UID] = lost
	}
	if retry := b.retries[run.ref]; retry.After(now) {
		b.at(run.ref, retry)
		return
	}
	owner := b.server.Get(run.ref)
	_ = b.createPods(owner, missing, func() *corev1.Pod { return newPod(&run.Spec.Template, b.generated(run.Name), owner) }) // an Event tells
}

func (b *Builtin) reportJob(run *jobRun) {
	status := &run.Status
	status.Active, status.Succeeded, status.Failed = int32(len(run.active)), run.succeeded, run.failed
	status.Ready, status.Terminating = new(count(run.active, isReady)), &run.ending
	status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	b.report(run.ref, status)
}

// jobCondition returns the first condition of one of these types, or nil.
func jobCondition(j *batchv1.Job, kinds ...batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if slices.Contains(kinds, j.Status.Conditions[i].Type) {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

func (b *Builtin) expire(j *batchv1.Job, ref kube.Ref, finished time.Time) {
	if j.Spec.TTLSecondsAfterFinished == nil {
		return
	}
	end := finished.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second)
	if b.server.Now().Before(end) {
		b.at(ref, end)
		return
	}
	_ = b.server.Delete(apiserver.ByKubernetes, ref, j.UID) // it existed a moment ago
}

func (b *Builtin) countLost(object kube.Object) {
	owner, found := kube.ControllerOf(object)
	if !found || !owner.Is(metacontroller.Job) || !kube.RefOf(object).Is(metacontroller.Pod) || replicaOf(object).isFinished() {
		return
	}
	if job := b.server.Get(owner); job != nil && job.GetDeletionTimestamp() == nil {
		suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
		j, lost := load[batchv1.Job](b, owner), b.lost[job.GetUID()]
		switch {
		case suspended:
		case ignores(j.Spec.PodFailurePolicy, object):
			lost.ignored++
		default:
			lost.failed++
		}
		b.lost[job.GetUID()] = lost
	}
}

// lostPods are what a Job's status does not tell: the Pods that vanished before they had ended, and of how
// many that are not counted a pause has begun.
type lostPods struct{ failed, ignored, paused int32 }

// ignores reports whether a failed Pod is not counted. Of a podFailurePolicy, rules that ignore Pods by their
// conditions are modeled.
func ignores(policy *batchv1.PodFailurePolicy, pod kube.Object) bool {
	if policy == nil {
		return false
	}
	return slices.ContainsFunc(policy.Rules, func(rule batchv1.PodFailurePolicyRule) bool {
		return rule.Action == batchv1.PodFailurePolicyActionIgnore &&
			slices.ContainsFunc(rule.OnPodConditions, func(on batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
				return kube.ConditionOf(pod, string(on.Type)).Status == string(on.Status)
			})
	})
}

func (b *Builtin) setJobCondition(j *batchv1.Job, kind batchv1.JobConditionType, reason, message string) {
	if jobCondition(j, kind) != nil {
		return
	}
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: b.now(), LastTransitionTime: b.now(),
	})
}
