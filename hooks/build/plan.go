package build

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// state is the input of the plan and the status.
type state struct {
	build    *Build
	observed observed
	known    history
	hash     string // of the build that is wanted
	now      time.Time
	// seeWhy ends a message about a Job whose Pods are not read.
	seeWhy string
}

// plan is the next step.
type plan struct {
	// make is set when the wanted Job should be created.
	make bool
	kept []metacontroller.Object
	// waits says what the wanted Job waits for.
	waits string
	// blocked says what has to be deleted by hand, before the wanted Job can be created.
	blocked string
	// active goes into the status.
	active []ActiveJob
	// isTold is set where the status that the hook was sent names the wanted Job.
	isTold bool
	// missing are Jobs that may have been created and are not observed.
	missing []string
	// resyncAfter is when to check again, or zero.
	resyncAfter time.Duration
}

// decide makes the plan.
func decide(s state) plan {
	p := plan{}
	p.keepJobs(s)
	p.remember(s)
	job := s.observed.job(s.hash)
	switch {
	case job != nil && job.Terminating && (job.isRunning() || job.isFormer):
		p.waits = "the Job that was deleted, " + job.Name + ", has to go first"
	case job != nil && job.isFormer:
		p.blocked = "Job/" + job.Name + " is older than the Build, and so not its own: delete that Job, or write another runId"
	case job != nil || s.known.of(s.hash) != nil || isSuspended(s.build):
		p.waits, p.missing = "", nil
	default:
		obstacle, again := s.obstacle()
		p.waits = cmp.Or(obstacle, p.waits)
		p.resyncWithin(again)
		if p.waits == "" && len(p.missing) == 0 {
			p.begin(s)
		}
	}
	return p
}

// resyncWithin makes the hook be called again after this time at the latest, if
// it is not zero.
func (p *plan) resyncWithin(after time.Duration) {
	p.resyncAfter = operator.Soonest(p.resyncAfter, after)
}

// keepJobs keeps the running Jobs, unless they are replaced or the status tells that they are
// canceled, and the finished
// ones within the limit. Whether one is deleted depends only on newer Jobs.
func (p *plan) keepJobs(s state) {
	for _, stranger := range s.observed.strangers {
		p.kept = append(p.kept, metacontroller.Keep(stranger))
	}
	told := history(s.build.Status.History)
	var finished []*observedJob
	for i := range s.observed.jobs {
		job := &s.observed.jobs[i]
		switch {
		case job.isFormer && (job.hash == s.hash || !job.isRunning()):
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
		case !job.isRunning():
			finished = append(finished, job)
		case told.isCanceled(job.hash): // goes
		case job.isCanceled && s.known.of(job.hash) != nil:
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
			p.resyncWithin(commitDelay)
		case !job.isCanceled && (job.hash == s.hash || policy(s.build) != Replace):
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
		}
	}
	slices.SortStableFunc(finished, func(a, b *observedJob) int {
		return cmp.Or(b.endedAt.Compare(a.endedAt.Time), strings.Compare(a.Name, b.Name))
	})
	for i, job := range finished {
		// A Job beyond the size of the history is not waited for.
		isUntold := s.known.of(job.hash) != nil && (told.of(job.hash) == nil || s.mayTellMore(job))
		isBeyond := i >= historyLimit(s.build)
		if isBeyond && isUntold {
			p.resyncWithin(commitDelay)
		}
		if !isBeyond || isUntold {
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
		}
	}
}

// mayTellMore reports whether the Pod of a Job that has just ended may yet be observed, with
// the step that failed, the commit and results.
func (s state) mayTellMore(job *observedJob) bool {
	pod := s.observed.podOf(job)
	return (pod == nil || !pod.Status.IsDone()) && s.now.Sub(job.endedAt.Time) < settleTime
}

func isSuspended(build *Build) bool { return build.Spec.Suspend != nil && *build.Spec.Suspend }

func policy(build *Build) ConcurrencyPolicy { return cmp.Or(build.Spec.ConcurrencyPolicy, Replace) }

// obstacle says what must be deleted or end before the Job can be created, and
// when to check again. Under Allow only a build of the same hash is an
// obstacle, because it has the same name.
func (s state) obstacle() (waits string, again time.Duration) {
	for i := range s.observed.jobs {
		job := &s.observed.jobs[i]
		if job.isRunning() && policy(s.build) != Allow {
			verb := "end"
			if policy(s.build) == Replace {
				verb = "go"
			}
			return "Job/" + job.Name + ofRevision(job.revision()) + " has to " + verb + " first", 0
		}
	}
	for i := range s.observed.pods {
		pod := &s.observed.pods[i]
		isSame := pod.hash == s.hash
		if !pod.Status.IsDone() && (isSame || policy(s.build) != Allow) {
			return "Pod/" + pod.Name + " still runs, and has to end first", metacontroller.RelatedResync
		}
	}
	return "", 0
}
