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

// candidate is a Pod that matches, and what becomes of it.
type candidate struct {
	pod     *observedPod
	state   PodState
	message string
	again   time.Duration // when to look again, zero for not at all
	// isOutdated is set if its container has another image, isBroken if it cannot start or has failed,
	// and isStuck if it has failed for good.
	isOutdated, isBroken, isStuck bool

	// jobName is empty if a Job is of no use. The job is nil until it is observed.
	jobName string
	job     *observedJob
	isKept  bool           // the job is
	isNamed bool           // the Role names the Pod, for its Job has yet to end
	isMade  bool           // the Job is made now, for the observed Role names the Pod
	told    *operator.Told // of the Job's Pods, nil where nothing is said of them
}

// candidatesOf returns the candidates with what the Pods themselves show.
func (p Policy) candidatesOf(tool *PodBuggerTool, o observed) ([]*candidate, error) {
	candidates := make([]*candidate, len(o.matched))
	var jobName func(*observedPod) string
	target := tool.Spec.TargetContainer
	for i, pod := range o.matched {
		c := &candidate{pod: pod}
		candidates[i] = c
		has := slices.IndexFunc(pod.Spec.EphemeralContainers, func(c container) bool { return c.Name == tool.Name })
		switch {
		case has >= 0:
			c.setContainer(tool, pod.Spec.EphemeralContainers[has].Image)
		case !pod.isOnNode():
			c.state, c.message, c.again = PodWaiting, pod.Status.Activity(), metacontroller.RelatedResync
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
			c.state, c.jobName = PodPending, jobName(pod)
			c.job = o.jobs[c.jobName]
		}
	}
	return candidates, nil
}

// setContainer sets the state of a Pod that has the container. Events of one that has yet to
// start arrive by themselves, but may be lost.
func (c *candidate) setContainer(tool *PodBuggerTool, image string) {
	debug := c.pod.debugState(tool.Name)
	c.state, c.message, c.isStuck = PodInjected, debug.what, debug.hasFailed
	c.isBroken = debug.isBroken
	if !debug.hasStarted {
		c.again = metacontroller.RelatedResync
	}
	if c.isOutdated = image != tool.Spec.Image; c.isOutdated {
		c.state, c.message = PodOutdated, fmt.Sprintf("it has the image %.8000s; %s", image, debug.what) // an image has no longest name
	}
	if debug.isBroken || !debug.hasStarted {
		c.state = PodNotRunning
	}
}

// checkedNames returns the names of the Jobs, or an error if a Job would be too large.
func (p Policy) checkedNames(tool *PodBuggerTool, pod *observedPod) (func(*observedPod) string, error) {
	job, err := p.job(tool, pod, "")
	if err != nil {
		return nil, err
	}
	size, err := metacontroller.AppliedSize(job)
	if err != nil {
		return nil, fmt.Errorf("the Job for %s: %w", pod.Ref(), err)
	}
	if size > maxJobBytes {
		return nil, fmt.Errorf("a Job would have %d bytes, of which Metacontroller can apply %d: make spec.command, spec.args, spec.env or spec.envFrom smaller", size, maxJobBytes)
	}
	return jobNames(tool)
}

// maxNamed is how many Pods the Role names at once. With the longest names the
// Role is still small enough for Metacontroller to apply.
const maxNamed = 400

// decide says what becomes of the candidates whose Job can do something. As many as maxPods
// allows are kept, of which the Role names those whose Job has yet to end, while there is room.
// Few Jobs are made at once, and fewer while none appears.
func decide(tool *PodBuggerTool, o observed, candidates []*candidate, now time.Time) {
	places, names, burst := defaultMaxPods, maxNamed, operator.FirstBurst
	if tool.Spec.MaxPods != nil {
		places = int(*tool.Spec.MaxPods)
	}
	if since, isMissing := operator.MissingSince(tool.Status.Conditions); isMissing && now.Sub(since) >= operator.ChildGrace {
		burst = operator.StuckBurst
	}
	var queue []*candidate
	for _, c := range candidates {
		switch {
		case c.jobName != "":
			queue = append(queue, c)
		case c.state != PodWaiting && c.state != PodFailed: // it has the container
			places--
		}
	}
	slices.SortFunc(queue, byTurn)
	for i, c := range queue {
		if c.isKept = i < places; !c.isKept {
			c.state, c.message = PodSkipped, "as many others as maxPods allows have the container, or get it"
			continue
		}
		if c.job != nil && c.observeJob(o, now) != underWay {
			continue
		}
		c.isNamed = names > 0
		names--
		if c.job == nil {
			c.isMade = c.isNamed && burst > 0 && slices.Contains(o.allowed, c.pod.Name)
			c.message = "Job/" + c.jobName + " does not exist yet" + c.waits(o)
		}
		if c.isMade {
			burst--
		}
	}
}

// waits says why a Job is not made yet.
func (c *candidate) waits(o observed) string {
	switch {
	case c.isMade:
		return ""
	case !c.isNamed:
		return ": first some of the other Jobs have to end"
	case !slices.Contains(o.allowed, c.pod.Name):
		return ": first its Role has to name the Pod"
	}
	return ": first some of the other Jobs have to be made"
}

// byTurn orders candidates as they get the container. A Pod whose Job exists comes before an
// older one: the Job may be done already.
func byTurn(a, b *candidate) int {
	rank := map[bool]int{true: -1}
	return cmp.Or(
		rank[a.job != nil]-rank[b.job != nil],
		a.pod.Metadata.CreationTimestamp.Compare(b.pod.Metadata.CreationTimestamp.Time),
		strings.Compare(a.pod.Name, b.pod.Name),
	)
}

// observeJob sets the state that the Pod's Job shows, and returns how far that is. A Job that
// has succeeded causes no more events, and the cached Pod may lag behind it.
func (c *candidate) observeJob(o observed, now time.Time) outcome {
	how, at, reason := c.job.end(now)
	said := ""
	if complaint := o.kubectlError(c.job); complaint != "" {
		said = "; kubectl said: " + complaint
	}
	switch how {
	case failed:
		c.state, c.message = PodFailed, c.job.Ref()+" has failed: "+reason+said
		if reason == batchv1.JobReasonDeadlineExceeded { // its Pod goes with that, and with it what it said
			c.message += fmt.Sprintf("; it had %s to start and to end: see kubectl events --for=job/%s, and delete the Job to try again", jobDeadline, c.jobName)
		}
	case complete:
		c.message = c.job.Ref() + " has succeeded, and the Pod does not show the container yet"
		if c.again = operator.ChildGrace - now.Sub(at.Time); c.again <= 0 {
			c.state, c.message = PodFailed, c.job.Ref()+" has succeeded, and the Pod does not show the container: delete the Job to try again"
		}
	case underWay:
		activity := "it has no Pod at the moment"
		if c.told = o.told(c.job, now); c.told != nil {
			activity = c.told.Text
		}
		c.message = c.job.Ref() + " is under way: " + activity + said
		if !c.job.Metadata.CreationTimestamp.IsZero() {
			c.again = c.job.left(now)
		}
	}
	return how
}
