package build

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// state is all that the next step follows from.
type state struct {
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
	// asked and active are what the status remembers.
	asked  *Asked
	active []ActiveJob
	// missing are Jobs that may have been made and are not observed.
	missing []string
	// again is when to look again, or zero.
	again time.Duration
}

// decide makes the plan.
func decide(s state) plan {
	p := plan{}
	p.keepJobs(s)
	active, settles, gone := s.active()
	p.active = active
	p.lookAgain(settles)
	late, wait := s.withdrawn()
	if late != nil {
		p.asked = late
		p.lookAgain(wait)
	}
	if s.there.job(s.hash) != nil || s.known.of(s.hash) != nil {
		if job := s.there.job(s.hash); job != nil && job.Terminating && job.isRunning() {
			p.waits = "the Job that was deleted, " + job.Name + ", has to go first"
		}
		return p
	}
	if late == nil {
		if late, wait = s.unknown(); late != nil {
			p.asked = late
			p.lookAgain(wait)
		}
	}
	p.waits, wait = s.obstacle()
	p.lookAgain(wait)
	switch {
	case p.waits != "":
	case late != nil && late.JobName != "" && policy(s.build) != Allow:
		p.waits, p.missing = "Job/"+late.JobName+" was asked for and is not observed yet", []string{"Job/" + late.JobName}
	case late != nil && policy(s.build) != Allow:
		p.waits = "waiting 5s for a Job that may have been made for an earlier spec"
	case settles > 0:
		p.waits = "waiting 5s after Job/" + gone + " is gone: a Pod of it may not be observed yet"
	}
	p.begin(s)
	return p
}

// begin asks for the wanted Job unless something is in its way.
func (p *plan) begin(s state) {
	name := jobName(s.build, s.hash)
	if p.waits == "" {
		asked, isMade, again := s.ask()
		p.asked, p.make = asked, isMade
		p.lookAgain(again)
		if !isMade {
			p.missing = []string{"Job/" + name}
		}
	} else if old := s.build.Status.Asked; old != nil && old.JobName == name {
		p.asked = &Asked{name, old.State, s.since(old.Since)}
	}
}

// lookAgain makes the next look come after a time at the latest, if it is not
// zero.
func (p *plan) lookAgain(after time.Duration) {
	p.again = operator.Soonest(p.again, after)
}

// keepJobs keeps the Jobs that run, unless they are to be replaced, and those of
// the finished ones that the limit leaves. What goes depends on no other Job
// than those that came later.
func (p *plan) keepJobs(s state) {
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
	told := committed(s.build)
	for i, job := range finished {
		// What the history has no room for is never told: it does not wait for that.
		isUntold := told.of(job.hash) == nil && s.known.of(job.hash) != nil
		if i < historyLimit(s.build) || isUntold {
			p.kept = append(p.kept, metacontroller.Keep(job.Snapshot))
			if i >= historyLimit(s.build) {
				p.lookAgain(commitDelay)
			}
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

// obstacle tells what has to go or to end before the Job can be made, and when to
// look again. Only a build of the same hash is in the way under Allow: its name is.
func (s state) obstacle() (waits string, again time.Duration) {
	for i := range s.there.jobs {
		job := &s.there.jobs[i]
		if job.isRunning() && policy(s.build) != Allow {
			verb := "end"
			if policy(s.build) == Replace {
				verb = "go"
			}
			return "Job/" + job.Name + " of revision " + job.revision() + " has to " + verb + " first", 0
		}
	}
	for i := range s.there.pods {
		pod := &s.there.pods[i]
		isSame := pod.hash == s.hash
		if !pod.Status.IsDone() && (isSame || policy(s.build) != Allow) {
			return "Pod/" + pod.Name + " still runs, and has to end first", metacontroller.RelatedResync
		}
	}
	return "", 0
}
