package podbuggertool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// candidate is a Pod that matches, with what the Pod itself shows.
type candidate struct {
	pod     *observedPod
	state   PodState
	message string
	// outdated is set if the container has another image, stuck if it has
	// failed for good.
	outdated, stuck bool
	// starts is set if the Pod, or its container, has yet to run.
	starts bool

	// eligible is set if the Pod can get the container, by the Job of this
	// name, which is nil until it is observed.
	eligible bool
	jobName  string
	job      *observedJob
	// allowed is set if the observed Role names the Pod.
	allowed bool
}

// plan says which of the candidates get the container, and the state of each.
type plan struct {
	candidates []*candidate
	// chosen are as many of the eligible ones as maxPods allows.
	chosen map[*candidate]bool
	// named are those of them whose Job has yet to run, and that the Role
	// therefore names. A Job is only created for a named Pod; others are not
	// affected.
	named map[*candidate]bool
	// delayed are those of the named whose Job is created in a later sync.
	delayed map[*candidate]bool
}

// decide makes the plan.
func decide(tool *PodBuggerTool, candidates []*candidate, now time.Time) plan {
	p := plan{candidates: candidates, chosen: map[*candidate]bool{}}
	chosen := choose(tool, candidates)
	for _, c := range chosen {
		p.chosen[c] = true
	}
	p.named = name(chosen, now)
	p.delayed = delay(tool, p, now)
	return p
}

// isStuck reports whether a container has failed for good.
func (p plan) isStuck() bool {
	return slices.ContainsFunc(p.candidates, func(c *candidate) bool { return c.stuck })
}

// isMade reports whether the Job of a candidate is to be made now.
func (p plan) isMade(c *candidate) bool {
	return c.job == nil && c.allowed && p.named[c] && !p.delayed[c]
}

// candidatesOf returns the candidates with everything that the Pods themselves
// show.
func (p Policy) candidatesOf(tool *PodBuggerTool, o observed) ([]*candidate, error) {
	candidates := make([]*candidate, len(o.matched))
	var jobName func(*observedPod) string
	for i, pod := range o.matched {
		c := &candidate{pod: pod}
		candidates[i] = c
		target := tool.Spec.TargetContainer
		has := pod.debugContainer(tool.Name)
		switch {
		case has != nil:
			c.setContainer(tool, has)
		case !pod.isRunning():
			c.state, c.message, c.starts = PodWaiting, pod.Status.Activity(), true
		case pod.has(tool.Name):
			c.state, c.message = PodFailed, "the Pod has a container of its own of the name "+tool.Name+": give the tool another"
		case target != "" && !pod.has(target):
			c.state, c.message = PodFailed, "the Pod has no container of the name "+target+", which is the targetContainer"
		default:
			if jobName == nil {
				var err error
				if jobName, err = p.checkedNames(tool, pod); err != nil {
					return nil, err
				}
			}
			name := jobName(pod)
			c.jobName, c.job = name, o.jobs[name]
			c.state, c.eligible, c.allowed = PodPending, true, o.allowed[pod.Name]
		}
	}
	return candidates, nil
}

// setContainer sets the state of a Pod that has the container.
func (c *candidate) setContainer(tool *PodBuggerTool, has *container) {
	activity, isBroken := c.pod.activity(tool.Name)
	c.state, c.message, c.starts = PodInjected, activity, !c.pod.hasStarted(tool.Name)
	if c.outdated = has.Image != tool.Spec.Image; c.outdated {
		c.state, c.message = PodOutdated, fmt.Sprintf("it has the image %.8000s; %s", has.Image, activity) // an image has no longest name
	}
	if isBroken {
		c.state, c.stuck = PodNotRunning, c.pod.hasFailed(tool.Name)
	}
}

// checkedNames returns the names of the Jobs, or an error if a Job would be too
// large: computing each name would also cost as much as the tool is large.
func (p Policy) checkedNames(tool *PodBuggerTool, pod *observedPod) (func(*observedPod) string, error) {
	size, err := metacontroller.AppliedSize(p.job(tool, pod, ""))
	if err != nil {
		return nil, fmt.Errorf("the Job for %s: %w", pod.Ref(), err)
	}
	if size > maxJobBytes {
		return nil, fmt.Errorf("a Job would have %d bytes, of which Metacontroller can apply %d: make spec.command, spec.args or spec.env smaller", size, maxJobBytes)
	}
	return jobNames(tool)
}

// choose returns as many of the eligible candidates as maxPods allows, in the
// order in which they get the container. A Pod with an existing Job comes
// before an older one: the Job may be done already.
func choose(tool *PodBuggerTool, candidates []*candidate) []*candidate {
	left := defaultMaxPods
	if tool.Spec.MaxPods != nil {
		left = int(*tool.Spec.MaxPods)
	}
	var eligible []*candidate
	for _, c := range candidates {
		switch {
		case c.eligible:
			eligible = append(eligible, c)
		case c.isInjected():
			left--
		}
	}
	slices.SortFunc(eligible, func(a, b *candidate) int {
		if hasJob := a.job != nil; hasJob != (b.job != nil) {
			if hasJob {
				return -1
			}
			return 1
		}
		return cmp.Or(
			a.pod.Metadata.CreationTimestamp.Compare(b.pod.Metadata.CreationTimestamp.Time),
			strings.Compare(a.pod.Name, b.pod.Name),
		)
	})
	return eligible[:min(max(left, 0), len(eligible))]
}

// maxNamed is how many Pods the Role names at once. With the longest names the
// Role is still small enough for Metacontroller to apply.
const maxNamed = 400

// name returns the candidates that the Role names: those with a running Job,
// and then the others in their order, while there is room. Anyone who may edit
// a Job can suspend it, and it would not end: so the Role names its Pod until
// [jobSlack] after its deadline, counted from its creation.
func name(chosen []*candidate, now time.Time) map[*candidate]bool {
	named := map[*candidate]bool{}
	for _, c := range chosen {
		if len(named) == maxNamed {
			break
		}
		if c.job != nil {
			if how, _, _ := c.job.end(now); how != underWay {
				continue
			}
		}
		named[c] = true
	}
	return named
}

// delay returns those whose Job is created in a later sync: few are created at
// once, and fewer while none appears.
func delay(tool *PodBuggerTool, p plan, now time.Time) map[*candidate]bool {
	left := operator.FirstBurst
	if since, isMissing := operator.MissingSince(tool.Status.Conditions); isMissing && now.Sub(since) >= operator.ChildGrace {
		left = operator.StuckBurst
	}
	later := map[*candidate]bool{}
	for _, c := range p.candidates {
		if p.isMade(c) {
			later[c] = left <= 0
			left--
		}
	}
	return later
}

// isInjected reports whether the Pod has the container.
func (c *candidate) isInjected() bool {
	return c.state == PodInjected || c.state == PodOutdated || c.state == PodNotRunning
}

// progress is the state of a candidate in the status.
type progress struct {
	*candidate

	state   PodState
	message string
}

// progressOf returns the state of each candidate, and when to check again, or
// zero: a succeeded Job causes no more events, and the cached Pod may lag
// behind it. Events of Pods that have yet to run arrive by themselves, but may
// be lost.
func (p plan) progressOf(o observed, now time.Time) ([]progress, time.Duration) {
	list := make([]progress, len(p.candidates))
	var resyncAfter time.Duration
	for i, c := range p.candidates {
		list[i] = progress{c, c.state, c.message}
		var again time.Duration
		switch {
		case p.chosen[c] && c.job != nil:
			list[i].state, list[i].message, again = c.jobProgress(o, now)
		case p.chosen[c]:
			list[i].message = p.waits(c)
		case c.eligible:
			list[i].state, list[i].message = PodSkipped, "as many others as maxPods allows have the container, or get it"
		case c.starts:
			again = metacontroller.RelatedResync
		}
		resyncAfter = operator.Soonest(resyncAfter, again)
	}
	return list, resyncAfter
}

// waits says why the Job of a candidate does not exist.
func (p plan) waits(c *candidate) string {
	message := "Job/" + c.jobName + " does not exist yet"
	switch {
	case !p.named[c]:
		message += ": first some of the other Jobs have to end"
	case !c.allowed:
		message += ": first its Role has to name the Pod"
	case p.delayed[c]:
		message += ": first some of the other Jobs have to be made"
	}
	return message
}

// jobProgress returns the state that a Pod's Job shows, and when to check
// again.
func (c *candidate) jobProgress(o observed, now time.Time) (state PodState, message string, resyncAfter time.Duration) {
	how, at, reason := c.job.end(now)
	complaint := o.kubectlError(c.job)
	switch how {
	case failed:
		message = join(c.job.Ref()+" has failed: "+reason, complaint)
		if reason == batchv1.JobReasonDeadlineExceeded { // its Pod goes with that, and with it what it said
			message += fmt.Sprintf("; it had %s to start and to end: see kubectl events --for=job/%s, and delete the Job to try again", jobDeadline, c.jobName)
		}
		return PodFailed, message, 0
	case complete:
		left := operator.ChildGrace - now.Sub(at.Time)
		if left <= 0 {
			return PodFailed, c.job.Ref() + " has succeeded, and the Pod does not show the container: delete the Job to try again", 0
		}
		return c.state, c.job.Ref() + " has succeeded, and the Pod does not show the container yet", left
	case underWay:
	}
	if !c.job.Metadata.CreationTimestamp.IsZero() {
		resyncAfter = c.job.left(now)
	}
	return c.state, join(c.job.Ref()+" is under way: "+o.activity(c.job), complaint), resyncAfter
}

// join appends kubectl's error to a message, if there is one.
func join(message, complaint string) string {
	if complaint == "" {
		return message
	}
	return message + "; kubectl said: " + complaint
}
