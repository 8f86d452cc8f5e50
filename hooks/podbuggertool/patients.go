package podbuggertool

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
)

// patient is a Pod that matches, and how far it is.
type patient struct {
	pod     *observedPod
	state   PodState
	message string

	// treated is set where the Pod shall get the container by the Job of this
	// name, which is nil until it is observed.
	treated bool
	jobName string
	job     *observedJob
}

// examine tells of each Pod what the Pod itself tells. Those that can be treated
// are marked so.
func examine(tool *PodBuggerTool, world world) ([]*patient, error) {
	patients := make([]*patient, len(world.matched))
	for i, pod := range world.matched {
		p := &patient{pod: pod}
		patients[i] = p
		target := tool.Spec.TargetContainer
		has := pod.debugContainer(tool.Name)
		switch {
		case has != nil && has.Image != tool.Spec.Image:
			p.state, p.message = PodOutdated, "it has the image "+has.Image+"; "+pod.activity(tool.Name)
		case has != nil:
			p.state, p.message = PodInjected, pod.activity(tool.Name)
		case !pod.isRunning():
			p.state, p.message = PodWaiting, pod.Status.Activity()
		case pod.has(tool.Name):
			p.state, p.message = PodFailed, "the Pod has a container of its own of the name "+tool.Name+": give the tool another"
		case target != "" && !pod.has(target):
			p.state, p.message = PodFailed, "the Pod has no container of the name "+target+", which is the targetContainer"
		default:
			name, err := jobName(tool, pod)
			if err != nil {
				return nil, err
			}
			p.state, p.treated, p.jobName, p.job = PodPending, true, name, world.jobs[name]
		}
	}
	return patients, nil
}

// ration makes sure that no more Pods than maxPods are treated. One whose Job
// exists goes before one that is older: the Job may have done its work already.
func ration(tool *PodBuggerTool, patients []*patient) {
	left := defaultMaxPods
	if tool.Spec.MaxPods != nil {
		left = int(*tool.Spec.MaxPods)
	}
	var waiting []*patient
	for _, p := range patients {
		switch {
		case p.treated:
			waiting = append(waiting, p)
		case p.isInjected():
			left--
		}
	}
	slices.SortFunc(waiting, func(a, b *patient) int {
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
	for _, p := range waiting[min(max(left, 0), len(waiting)):] {
		p.treated, p.state, p.message = false, PodSkipped, "as many others as maxPods allows have the container, or get it"
	}
}

// isInjected reports whether the Pod has the container.
func (p *patient) isInjected() bool { return p.state == PodInjected || p.state == PodOutdated }

// follow tells of each treated Pod what its Job tells, and returns after what
// time to look again, or zero: a Job that has succeeded says nothing more, and
// the Pod may lag behind it.
func follow(patients []*patient, world world, now time.Time) time.Duration {
	var look time.Duration
	for _, p := range patients {
		if !p.treated {
			continue
		}
		if p.job == nil {
			p.message = "Job/" + p.jobName + " does not exist yet"
			continue
		}
		how, at, reason := p.job.end()
		complaint := world.complaint(p.jobName)
		switch how {
		case failed:
			p.state, p.message = PodFailed, join(p.job.Ref()+" has failed: "+reason, complaint)
		case complete:
			p.message = p.job.Ref() + " has succeeded, and the Pod does not show the container yet"
			left := metacontroller.ChildGrace - now.Sub(at.Time)
			if left <= 0 {
				p.state, p.message = PodFailed, p.job.Ref()+" has succeeded, and the Pod does not show the container: delete the Job to try again"
				continue
			}
			look = earlier(look, left)
		case underWay:
			p.message = join(p.job.Ref()+" is under way: "+world.activity(p.jobName), complaint)
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

// earlier returns the shorter of two times. Zero is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
