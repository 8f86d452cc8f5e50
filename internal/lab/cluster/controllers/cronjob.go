package controllers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// SetDue says that the schedule of a CronJob is due now. Schedules are not read: with them,
// nothing would ever come to rest.
func (b *Builtin) SetDue(ref kube.Ref) {
	b.due[ref] = true
	b.enqueue(ref, b.steps)
}

// cronJob starts a Job when its schedule is due, and deletes old ones.
func (b *Builtin) cronJob(ref kube.Ref) {
	c := load[batchv1.CronJob](b, ref)
	if c == nil {
		return
	}
	var active, succeeded, failed []*batchv1.Job
	for _, object := range b.server.OwnedBy(c.UID) {
		job := load[batchv1.Job](b, kube.RefOf(object))
		switch {
		case job == nil || kube.ControllerUID(object) != c.UID:
		case jobCondition(job, batchv1.JobComplete) != nil:
			succeeded = append(succeeded, job)
			if last := c.Status.LastSuccessfulTime; last == nil || last.Before(job.Status.CompletionTime) {
				c.Status.LastSuccessfulTime = job.Status.CompletionTime
			}
		case jobCondition(job, batchv1.JobFailed) != nil:
			failed = append(failed, job)
		default:
			active = append(active, job)
		}
	}
	if b.due[ref] {
		delete(b.due, ref)
		active = b.runSchedule(ref, c, active)
	}
	b.dropOldest(succeeded, *c.Spec.SuccessfulJobsHistoryLimit)
	b.dropOldest(failed, *c.Spec.FailedJobsHistoryLimit)
	c.Status.Active = nil
	for _, job := range active {
		c.Status.Active = append(c.Status.Active, corev1.ObjectReference{
			APIVersion: metacontroller.Job.APIVersion, Kind: metacontroller.Job.Kind, Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
		})
	}
	b.report(ref, &c.Status)
}

// runSchedule starts a Job, unless its CronJob has those that run go on alone. It returns the
// Jobs that run then.
func (b *Builtin) runSchedule(ref kube.Ref, c *batchv1.CronJob, active []*batchv1.Job) []*batchv1.Job {
	if *c.Spec.Suspend || c.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(active) > 0 {
		return active
	}
	if c.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent {
		for _, job := range active {
			_ = b.server.Delete(apiserver.ByKubernetes, jobRef(job), job.UID) // it existed a moment ago
		}
		active = nil
	}
	annotations := maps.Clone(c.Spec.JobTemplate.Annotations)
	job := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: metacontroller.Job.APIVersion, Kind: metacontroller.Job.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", c.Name, b.server.Now().Unix()/60), Namespace: c.Namespace,
			Labels: maps.Clone(c.Spec.JobTemplate.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *c.Spec.JobTemplate.Spec.DeepCopy(),
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, batchv1.CronJobScheduledTimestampAnnotation, b.server.Now().Format("2006-01-02T15:04:05Z07:00"))
	if err := b.create(job); err != nil && !apierrors.IsAlreadyExists(err) {
		b.event(b.server.Get(ref), failedCreate, fmt.Sprintf("Error creating job: %v", err))
		return active
	}
	c.Status.LastScheduleTime = new(b.now())
	if created := load[batchv1.Job](b, jobRef(job)); created != nil {
		active = append(active, created)
	}
	return active
}

// dropOldest deletes the Jobs that have ended but for the newest.
func (b *Builtin) dropOldest(ended []*batchv1.Job, limit int32) {
	slices.SortStableFunc(ended, func(one, other *batchv1.Job) int { return one.CreationTimestamp.Compare(other.CreationTimestamp.Time) })
	for _, job := range ended[:max(0, len(ended)-int(limit))] {
		_ = b.server.Delete(apiserver.ByKubernetes, jobRef(job), job.UID) // it existed a moment ago
	}
}

func jobRef(job *batchv1.Job) kube.Ref {
	return kube.Ref{APIVersion: metacontroller.Job.APIVersion, Kind: metacontroller.Job.Kind, Namespace: job.Namespace, Name: job.Name}
}
