package build

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// situation is all that the next step follows from.
type situation struct {
	build *Build
	there observed
	known history
	hash  string // of the build that is wanted
	now   time.Time
}

// plan is the next step.
type plan struct {
	// make says that the Job that is wanted is to be made.
	make bool
	kept []metacontroller.Object
	// waits tells what is in the way of the Job that is wanted.
	waits string
	// awaited are Jobs that were asked for in an earlier sync, are not wanted any
	// more, and may yet appear.
	awaited []string
	// settles is how long to wait before the Job is made, once nothing is in its
	// way any more.
	settles time.Duration
	// uncommitted says that a Job is kept only because the status does not tell
	// its result yet.
	uncommitted bool
}

// decide makes the plan.
func decide(s situation) plan {
	p := plan{}
	p.keepJobs(s)
	if s.there.job(s.hash) != nil || s.known.of(s.hash) != nil {
		if job := s.there.job(s.hash); job != nil && job.Terminating && job.isRunning() {
			p.waits = "the Job that was deleted, " + job.Name + ", has to go first"
		}
		return p
	}
	p.waits = s.obstacle()
	if late := s.lateJob(); p.waits == "" && late != "" {
		p.waits, p.awaited = "Job/"+late+" was asked for and is not observed yet", []string{"Job/" + late}
	}
	if left := s.settling(); p.waits == "" && left > 0 {
		p.waits, p.settles = "what ran before is gone; the build begins when nothing of it has been seen for a moment", left
	}
	p.make = p.waits == ""
	return p
}

// settleTime is how long nothing else must have been seen before a Job is made.
// Jobs and Pods come by ways of their own, and either may lag: that a Job is gone
// may be known before a Pod of it is.
const settleTime = 5 * time.Second

// settling returns how long to wait yet, once a build that was under way is gone.
// The condition ChildrenObserved remembers since when.
func (s situation) settling() time.Duration {
	old := &s.build.Status
	observed := meta.FindStatusCondition(old.Conditions, metacontroller.ConditionChildrenObserved)
	succeeded := meta.FindStatusCondition(old.Conditions, conditionSucceeded)
	switch {
	case policy(s.build) == Allow || observed == nil || succeeded == nil:
		return 0
	case observed.Reason == reasonSettling:
		return settleTime - s.now.Sub(observed.LastTransitionTime.Time)
	}
	wasUnderWay := old.JobName != "" && observed.Status == metav1.ConditionTrue && succeeded.Status == metav1.ConditionUnknown
	if wasUnderWay || succeeded.Reason == reasonWaiting {
		return settleTime
	}
	return 0
}

// keepJobs keeps the Jobs that run, unless they are to be replaced, and those of
// the finished ones that the limit leaves. What goes depends on no other Job
// than those that came later.
func (p *plan) keepJobs(s situation) {
	for _, stranger := range s.there.strangers {
		p.kept = append(p.kept, metacontroller.Keep(stranger))
	}
	var finished []*observedJob
	for i := range s.there.jobs {
		job := &s.there.jobs[i]
		switch {
		case !job.isRunning():
			finished = append(finished, job)
		case job.hash == s.hash || policy(s.build) != Replace:
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
		}
	}
	slices.SortStableFunc(finished, func(a, b *observedJob) int {
		return cmp.Or(
			wantedFirst(a.hash == s.hash, b.hash == s.hash),
			b.endedAt.Compare(a.endedAt.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
	committed := history(s.build.Status.History)
	for i, job := range finished {
		// What the history has no room for is never told: it does not wait for that.
		isUntold := committed.of(job.hash) == nil && s.known.of(job.hash) != nil
		if i < historyLimit(s.build) || isUntold {
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
			p.uncommitted = p.uncommitted || i >= historyLimit(s.build)
		}
	}
}

func wantedFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func policy(build *Build) ConcurrencyPolicy { return cmp.Or(build.Spec.ConcurrencyPolicy, Replace) }

// obstacle tells what has to go or to end before the Job can be made. Only a
// build of the same hash is in the way under Allow: its name is.
func (s situation) obstacle() string {
	for i := range s.there.jobs {
		job := &s.there.jobs[i]
		if job.isRunning() && policy(s.build) != Allow {
			verb := "end"
			if policy(s.build) == Replace {
				verb = "go"
			}
			return "Job/" + job.Name + " of revision " + job.revision() + " has to " + verb + " first"
		}
	}
	for i := range s.there.pods {
		pod := &s.there.pods[i]
		isSame := pod.hash == s.hash
		if !pod.Status.IsDone() && (isSame || policy(s.build) != Allow) {
			return "Pod/" + pod.Name + " still runs, and has to end first"
		}
	}
	return ""
}

// lateJob returns the name of a Job that the last sync has asked for and that is
// not observed, if it is another than the one that is wanted now: a lagging
// cache may be about to show it, and two builds would run.
func (s situation) lateJob() string {
	old := &s.build.Status
	asked := meta.FindStatusCondition(old.Conditions, metacontroller.ConditionChildrenObserved)
	isOther := old.JobName != "" && old.JobName != jobName(s.build, s.hash)
	if policy(s.build) == Allow || !isOther || asked == nil || asked.Status != metav1.ConditionFalse ||
		!strings.Contains(asked.Message, "Job/"+old.JobName) {
		return ""
	}
	if s.now.Sub(asked.LastTransitionTime.Time) >= metacontroller.ChildGrace {
		return ""
	}
	return old.JobName
}
