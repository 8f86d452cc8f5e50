package podbuggertool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// candidate is a Pod that matches, and how far it is.
type candidate struct {
	pod     *observedPod
	state   PodState
	message string
	// outdated is set where the container has another image, stuck where it has
	// failed, so that nothing will mend it, and givenUp where the Job had failed
	// before the Pod matched again.
	outdated, stuck, givenUp bool
	// starts is set where the Pod has yet to run, or the container in it.
	starts bool

	// chosen is set where the Pod shall get the container, by the Job of this
	// name, which is nil until it is observed.
	chosen  bool
	jobName string
	job     *observedJob
	// named is set where the Job has its work before it and the Role shall name
	// the Pod for it, allowed where the Role is seen to. They hold back the creation
	// of the Job only.
	named, allowed bool
	// later is set where the Job is made when others have appeared.
	later bool
}

// examine tells of each Pod what the Pod itself tells. Those that can get the
// container are chosen.
func examine(tool *PodBuggerTool, world world) ([]*candidate, error) {
	candidates := make([]*candidate, len(world.matched))
	var jobName func(*observedPod) string
	for i, pod := range world.matched {
		c := &candidate{pod: pod}
		candidates[i] = c
		target := tool.Spec.TargetContainer
		has := pod.debugContainer(tool.Name)
		switch {
		case has != nil:
			c.inject(tool, has)
		case !pod.isRunning():
			c.state, c.message, c.starts = PodWaiting, pod.Status.Activity(), true
		case pod.has(tool.Name):
			c.state, c.message = PodFailed, "the Pod has a container of its own of the name "+tool.Name+": give the tool another"
		case target != "" && !pod.has(target):
			c.state, c.message = PodFailed, "the Pod has no container of the name "+target+", which is the targetContainer"
		default:
			if jobName == nil {
				var err error
				if jobName, err = checkedNames(tool, pod); err != nil {
					return nil, err
				}
			}
			name := jobName(pod)
			c.jobName, c.job = name, world.jobs[name]
			if c.givenUp = c.job == nil && world.memory.has(pod.UID); c.givenUp {
				c.state, c.message = PodFailed, "its Job had failed before the Pod stopped matching: replace the Pod, or change what the container is made of, to try again"
				continue
			}
			c.state, c.chosen, c.allowed = PodPending, true, world.allowed[pod.Name]
		}
	}
	return candidates, nil
}

// inject tells of a Pod that has the container how that is.
func (c *candidate) inject(tool *PodBuggerTool, has *container) {
	activity, isBroken := c.pod.activity(tool.Name)
	c.state, c.message, c.starts = PodInjected, activity, !c.pod.hasStarted(tool.Name)
	if c.outdated = has.Image != tool.Spec.Image; c.outdated {
		c.state, c.message = PodOutdated, "it has the image "+has.Image+"; "+activity
	}
	if isBroken {
		c.state, c.stuck = PodNotRunning, c.pod.hasFailed(tool.Name)
	}
}

// checkedNames returns the names of the Jobs, unless no Job of the tool could be
// made: then there is nothing to name, and each name would cost as much as the
// tool is large.
func checkedNames(tool *PodBuggerTool, pod *observedPod) (func(*observedPod) string, error) {
	size, err := metacontroller.AppliedSize(job(tool, pod, ""))
	if err != nil {
		return nil, fmt.Errorf("the Job for %s: %w", pod.Ref(), err)
	}
	if size > maxJobBytes {
		return nil, fmt.Errorf("a Job would have %d bytes, of which Metacontroller can apply %d: make spec.command, spec.args or spec.env smaller", size, maxJobBytes)
	}
	return jobNames(tool)
}

// ration makes sure that no more Pods than maxPods stay chosen. One whose Job
// exists goes before one that is older: the Job may have done its work already.
func ration(tool *PodBuggerTool, candidates []*candidate, now time.Time) {
	left := defaultMaxPods
	if tool.Spec.MaxPods != nil {
		left = int(*tool.Spec.MaxPods)
	}
	var waiting []*candidate
	for _, c := range candidates {
		switch {
		case c.chosen:
			waiting = append(waiting, c)
		case c.isInjected() || c.givenUp:
			left--
		}
	}
	slices.SortFunc(waiting, func(a, b *candidate) int {
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
	for _, c := range waiting[min(max(left, 0), len(waiting)):] {
		c.chosen, c.state, c.message = false, PodSkipped, "as many others as maxPods allows have the container, or get it"
	}
	name(waiting, now)
}

// maxNamed is how many Pods the Role names at once. With the longest names it
// stays below what Metacontroller can apply.
const maxNamed = 400

// name has the Role name the Pods whose Job exists and has not ended, and then
// the others, in their order, as far as there is room. There always is for Jobs
// that the hook has asked for, but others can be put in their place. Whoever may
// edit a Job can suspend it, and it would not end: so the Role outlives its
// deadline, counted from its creation, by no more than [jobSlack].
func name(waiting []*candidate, now time.Time) {
	left := maxNamed
	for _, c := range waiting {
		if !c.chosen || left == 0 {
			continue
		}
		c.named = true
		if c.job != nil {
			how, _, _ := c.job.end(now)
			c.named = how == underWay
		}
		if c.named {
			left--
		}
	}
}

// holdBack leaves Jobs that are missing for a later sync: it asks for few at once, and
// for fewer while none of those that were asked for has appeared. Then the last is
// one of them: somebody else's Jobs may have the names of the first.
func holdBack(tool *PodBuggerTool, candidates []*candidate, now time.Time) {
	var missing []*candidate
	for _, c := range candidates {
		if c.chosen && c.job == nil && c.named && c.allowed {
			missing = append(missing, c)
		}
	}
	observed := meta.FindStatusCondition(tool.Status.Conditions, operator.ConditionChildrenObserved)
	isStuck := observed != nil && observed.Status == metav1.ConditionFalse && now.Sub(observed.LastTransitionTime.Time) >= operator.ChildGrace
	from, to := operator.FirstBurst, len(missing)
	if isStuck {
		from, to = operator.StuckBurst-1, len(missing)-1
	}
	for i := from; i < to; i++ {
		missing[i].later = true
	}
}

// isInjected reports whether the Pod has the container.
func (c *candidate) isInjected() bool {
	return c.state == PodInjected || c.state == PodOutdated || c.state == PodNotRunning
}

// follow tells of each chosen Pod what its Job tells, and returns after what
// time to look again, or zero: a Job that has succeeded says nothing more, and
// the Pod may lag behind it. One that has yet to run, or whose container has, says
// so in an event of its own, which may be lost.
func follow(candidates []*candidate, world world, now time.Time) time.Duration {
	var look time.Duration
	for _, c := range candidates {
		if !c.chosen {
			if c.starts {
				look = operator.Soonest(look, metacontroller.RelatedResync)
			}
			continue
		}
		if c.job == nil {
			c.message = "Job/" + c.jobName + " does not exist yet"
			switch {
			case !c.named:
				c.message += ": first some of the other Jobs have to end"
			case !c.allowed:
				c.message += ": first its Role has to name the Pod"
			case c.later:
				c.message += ": first some of the other Jobs have to be made"
			}
			continue
		}
		how, at, reason := c.job.end(now)
		complaint := world.complaint(c.job)
		switch how {
		case failed:
			c.state, c.message = PodFailed, join(c.job.Ref()+" has failed: "+reason, complaint)
			if reason == batchv1.JobReasonDeadlineExceeded { // its Pod goes with that, and with it what it said
				c.message += fmt.Sprintf("; it had %s to start and to end: see kubectl events --for=job/%s, and delete the Job to try again", jobDeadline, c.jobName)
			}
		case complete:
			c.message = c.job.Ref() + " has succeeded, and the Pod does not show the container yet"
			left := operator.ChildGrace - now.Sub(at.Time)
			if left <= 0 {
				c.state, c.message = PodFailed, c.job.Ref()+" has succeeded, and the Pod does not show the container: delete the Job to try again"
				continue
			}
			look = operator.Soonest(look, left)
		case underWay:
			c.message = join(c.job.Ref()+" is under way: "+world.activity(c.job), complaint)
			if !c.job.Metadata.CreationTimestamp.IsZero() {
				look = operator.Soonest(look, c.job.left(now))
			}
		}
	}
	return look
}

// join adds what kubectl said to a message, if it said something.
func join(message, complaint string) string {
	if complaint == "" {
		return message
	}
	return message + "; kubectl said: " + complaint
}
