package podbuggertool

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// uidPattern is what the UID of a Pod looks like. Whoever may edit a Job writes its
// annotation: what is longer or of other characters would be cut or written in another
// way in the status, and never be recognized there.
var uidPattern = regexp.MustCompile(`^[-A-Za-z0-9]{1,64}$`)

func isUID(text types.UID) bool { return uidPattern.MatchString(string(text)) }

// maxRemembered is how many Pods the status remembers.
const maxRemembered = 500

// memory is what the status remembers of Pods whose Job has failed and is gone:
// a Job is kept for a Pod that matches, and nothing else would tell when a Pod
// that no longer does is back.
type memory struct {
	recipe  string                        // in short, of what the container is made of
	jobName func(pod *observedPod) string // where there is something to remember by
	pods    []types.UID                   // the oldest first
}

// recall returns what the status that the hook was sent remembers. Another recipe
// is tried for every Pod.
func recall(tool *PodBuggerTool) (memory, error) {
	m := memory{recipe: tool.Status.Recipe}
	if len(tool.Status.FailedPods) == 0 {
		return m, nil
	}
	if err := m.readRecipe(tool); err != nil {
		return m, err
	}
	if m.recipe == tool.Status.Recipe {
		failed := tool.Status.FailedPods // the hook writes no more than that
		m.pods = slices.DeleteFunc(slices.Clone(failed[max(0, len(failed)-maxRemembered):]), func(pod types.UID) bool { return !isUID(pod) })
	}
	return m, nil
}

// readRecipe makes sure that the names of the Jobs are known. It reads the recipe,
// which may be large, where it is asked to.
func (m *memory) readRecipe(tool *PodBuggerTool) error {
	if m.jobName != nil {
		return nil
	}
	jobName, err := jobNames(tool)
	if err != nil {
		return err
	}
	m.jobName, m.recipe = jobName, jobName(&observedPod{})
	return nil
}

// has reports whether the Job of a Pod has failed before.
func (m *memory) has(pod types.UID) bool { return slices.Contains(m.pods, pod) }

// remember adds the Pods of those failed Jobs for which no Pod is chosen any more,
// and returns the Jobs that have to stay until a request shows that they are
// remembered. Those of another recipe tell nothing.
func (m *memory) remember(tool *PodBuggerTool, o observed, plan plan, now time.Time) ([]*observedJob, error) {
	var stay []*observedJob
	isChosen := map[string]bool{}
	for _, c := range plan.candidates {
		isChosen[c.jobName] = plan.chosen[c]
	}
	m.pods = slices.Clone(m.pods)
	for _, name := range slices.Sorted(maps.Keys(o.jobs)) {
		job := o.jobs[name]
		pod := job.Metadata.Annotations.PodUID
		how, _, _ := job.end(now)
		if isChosen[name] || how != failed || job.Terminating || !isUID(pod) || m.has(pod) || len(stay) == maxRemembered {
			continue
		}
		if err := m.readRecipe(tool); err != nil {
			return nil, err
		}
		of := &observedPod{}
		if of.UID = pod; m.jobName(of) == name {
			stay, m.pods = append(stay, job), append(m.pods, pod)
		}
	}
	m.pods = m.pods[max(0, len(m.pods)-maxRemembered):]
	return stay, nil
}
