package podbuggertool

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// uidPattern matches the UID of a Pod. Anyone who may edit a Job can change its
// annotation: a longer text, or other characters, would be changed in the
// status and never be recognized there.
var uidPattern = regexp.MustCompile(`^[-A-Za-z0-9]{1,64}$`)

func isUID(text types.UID) bool { return uidPattern.MatchString(string(text)) }

// maxRemembered is the number of Pods in the status.
const maxRemembered = 500

// memory is the list of Pods in the status whose Job has failed and was
// deleted. A Job is only kept while its Pod matches, and a Pod that matches
// again later must not be tried again.
type memory struct {
	recipe  string                        // a digest of what the container is made of
	jobName func(pod *observedPod) string // set if there is a list
	pods    []types.UID                   // the oldest first
}

// recall returns the memory in the status of the request. Another recipe starts
// with none.
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

// readRecipe makes sure that jobName is set. It encodes the recipe, which may
// be large, only when needed.
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

// remember adds the Pods of failed Jobs that are no longer chosen, and returns
// the Jobs that have to stay until a request contains that status. Jobs of
// another recipe do not count.
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
