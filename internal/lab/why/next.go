package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/operetta-dev/operetta/metacontroller"
)

// nextOfPod says what happens to a Pod by itself, and what should have happened.
func (w *walk) nextOfPod(c Cause, p *pod) []string {
	var next []string
	switch {
	case c.Source == "condition PodScheduled":
		next = []string{"the scheduler tries again when a node or another Pod changes"}
	case c.Reason == "CrashLoopBackOff":
		next = []string{"the kubelet starts " + c.container + " again, at the latest 5m after it ended"}
		if due := p.ended(c.container).Add(longestBackOff); w.isDue(due) {
			next = []string{"a start of " + c.container + " is due since " + clock(due)}
		}
	case c.Reason == "ImagePullBackOff", c.Reason == "ErrImagePull":
		next = []string{"the kubelet pulls the image again, at the latest after 5m"}
	case c.Source == "container status", c.Source == "event":
		next = []string{"the kubelet tries again"}
	}
	if seconds := number(p.object, "spec", "activeDeadlineSeconds"); seconds > 0 && p.Status.StartTime != nil {
		if end := p.Status.StartTime.Add(time.Duration(seconds) * time.Second); end.After(w.options.Now) {
			next = append(next, "activeDeadlineSeconds of the Pod ends at "+clock(end))
		}
	}
	return next
}

// longestBackOff is how long the kubelet waits at most before it starts a container again.
const longestBackOff = 5 * time.Minute

// isDue reports whether something should have happened.
func (w *walk) isDue(at time.Time) bool {
	return w.options.Now.Sub(at) > callGrace
}

// nothing begins what is said where a person is needed.
const nothing = "nothing by itself"

// next says what happens by itself to the custom resource: what the first cause tells, deadlines,
// and when the hook is called again.
func (w *walk) next() []string {
	var next []string
	if len(w.causes) > 0 {
		next = append(next, w.causes[0].Next...)
	}
	for _, child := range w.ownedBy(w.parent.GetUID()) {
		if at, what := w.deadline(child); !at.IsZero() && at.After(w.options.Now) {
			next = append(next, fmt.Sprintf("%s of %s/%s ends at %s", what, child.GetKind(), child.GetName(), clock(at)))
			break // one is enough
		}
	}
	if w.isOutdated() {
		ready := kube.ConditionIn(w.plan.Status, "Ready")
		next = append(next, strings.TrimSpace("the next sync sets Ready="+ready.Status+" "+ready.Reason))
	}
	needsPerson := slices.ContainsFunc(next, func(text string) bool { return strings.HasPrefix(text, nothing) })
	switch due, isOverdue := w.overdue(); {
	case w.isUncalled(), needsPerson && !isOverdue: // a call changes nothing
	case isOverdue:
		next = append(next, "a call of the hook is due since "+clock(due))
	case w.plan.Resync > 0 && !w.isPartial:
		next = append(next, "the hook is called again within "+duration.HumanDuration(w.plan.Resync))
	}
	return next
}

// deadline returns when a child fails by itself, and which field says so.
func (w *walk) deadline(child Object) (time.Time, string) {
	ref, status := kube.RefOf(child), child.Object["status"]
	if ref.Is(metacontroller.Deployment) {
		fields, _ := status.(map[string]any)
		list, _ := fields["conditions"].([]any)
		for _, item := range list {
			c, _ := item.(map[string]any)
			text, _ := c["lastUpdateTime"].(string)
			updated, err := time.Parse(time.RFC3339, text)
			if c["type"] == "Progressing" && c["status"] == "True" && c["reason"] != "NewReplicaSetAvailable" && err == nil {
				return updated.Add(time.Duration(number(child, "spec", "progressDeadlineSeconds")) * time.Second), "progressDeadlineSeconds"
			}
		}
	}
	if seconds := number(child, "spec", "activeDeadlineSeconds"); ref.Is(metacontroller.Job) && seconds > 0 {
		fields, _ := status.(map[string]any)
		text, _ := fields["startTime"].(string)
		if started, err := time.Parse(time.RFC3339, text); err == nil {
			return started.Add(time.Duration(seconds) * time.Second), "activeDeadlineSeconds"
		}
	}
	return time.Time{}, ""
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// target returns an object as kubectl takes it, with its namespace.
func (w *walk) target(ref Ref) string {
	resource := strings.ToLower(ref.Kind)
	if controller := w.options.Controllers.Of(ref.APIVersion, ref.Kind); controller != nil {
		resource = controller.Parent.Plural + "." + controller.Parent.Group()
	}
	return inNamespace(ref, resource+"/"+ref.Name)
}

func inNamespace(ref Ref, words string) string {
	if ref.Namespace == "" {
		return words
	}
	return words + " --namespace=" + ref.Namespace
}

func (w *walk) describe(ref Ref) string { return "kubectl describe " + w.target(ref) }

func (w *walk) eventsOf(ref Ref) string { return "kubectl events --for=" + w.target(ref) }

// logs returns the command for what a container has written, or its predecessor.
func (w *walk) logs(object Object, container string, isPrevious bool) string {
	command := inNamespace(kube.RefOf(object), "kubectl logs "+object.GetName()+" --container="+container)
	if isPrevious {
		command += " --previous"
	}
	return command
}

// lookAt returns the command that shows more of a container: its log if it has run.
func (w *walk) lookAt(p *pod, container, reason string) string {
	for _, c := range p.Status.Containers() {
		if c.Name == container && (c.State.Terminated != nil || c.LastState.Terminated != nil) && reason != "StartError" {
			return w.logs(p.object, container, c.State.Terminated == nil)
		}
	}
	return w.describe(kube.RefOf(p.object))
}
