package laws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// A hook may rely on its status only once a request contains it: Metacontroller
// creates and deletes children first and writes the status afterwards, and may
// die in between. These laws lose a status and compare the following answers
// with those after it was written.

// lostStatus loses the status of an answer, applies its children, and calls the
// hook again.
func lostStatus(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	if c.Hook != metacontroller.SyncHook {
		return
	}
	left := childrenLeft(t, c, answer)
	for _, later := range []time.Duration{0, 31 * time.Second, time.Hour} {
		lost, written := c, c
		lost.Now, written.Now = c.Now.Add(later), c.Now.Add(later)
		lost.Request = changed(t, c, func(request map[string]any) { request["children"] = left })
		written.Request = changed(t, lost, func(request map[string]any) {
			request["parent"].(map[string]any)["status"] = Parsed(t, answer.Body)["status"]
		})
		require.Empty(t, notAsIfWritten(t, c, lost, written))
	}
}

// notAsIfWritten compares the answers to a request whose parent's status was
// lost and to the same with the status written, and returns the violations.
// After a loss a hook may keep a child for longer; it must not create another
// one, nor delete one, nor judge differently. Before is the request whose
// answer had the status.
func notAsIfWritten(t *testing.T, before, lost, written corpus.Case) (found []string) {
	withStatus, err := written.Call()
	require.NoError(t, err)
	without, err := lost.Call()
	require.NoError(t, err)
	tell := func(ref, what string) {
		found = append(found, fmt.Sprintf("%s later: %s %s", lost.Now.Sub(before.Now), ref, what))
	}
	there := refsOf(ObservedIn(Parsed(t, lost.Request), "children"))
	wasThere := refsOf(ObservedIn(Parsed(t, before.Request), "children"))
	askedWithStatus := refsOf(ChildrenOf(t, withStatus.Body))
	status, _ := Parsed(t, withStatus.Body)["status"].(map[string]any)
	missing, _, _ := unstructured.NestedStringSlice(status, "missingChildren") // wanted, and perhaps held back until the next attempt
	asked := refsOf(ChildrenOf(t, without.Body))
	for _, child := range ChildrenOf(t, without.Body) {
		ref := corpus.Ref(child)
		runs := child["kind"] == "Pod" || child["kind"] == "Job" // unlike, say, a Service, which may be created again
		switch {
		case there[ref]:
		case !askedWithStatus[ref] && !slices.Contains(missing, nameInStatus(child)):
			tell(ref, "is only asked for because the status was lost")
		case wasThere[ref] && runs:
			tell(ref, "was let go, and is asked for again")
		}
	}
	for ref := range there {
		if !asked[ref] && askedWithStatus[ref] {
			tell(ref, "is only let go because the status was lost")
		}
	}
	if lost.Now.Equal(before.Now) { // later, the times since when children are missing differ, which are in the status
		remembered, forgotten := summaries(t, withStatus.Body), summaries(t, without.Body)
		if !slices.Equal(remembered, forgotten) {
			tell("status", fmt.Sprintf("%q is judged %q", remembered, forgotten))
		}
	}
	return found
}

// childrenLeft returns the children after Metacontroller has applied an answer.
func childrenLeft(t *testing.T, e corpus.Case, answer metacontroller.Answer) map[string]any {
	request := Parsed(t, e.Request)
	observed := byRef(ObservedIn(request, "children"))
	left := map[string]any{}
	for kind := range request["children"].(map[string]any) {
		left[kind] = map[string]any{}
	}
	for i, child := range ChildrenOf(t, answer.Body) {
		object := observed[corpus.Ref(child)]
		if object == nil {
			object = runtime.DeepCopyJSON(child)
			metadata := object["metadata"].(map[string]any)
			metadata["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			if namespace := namespaceOf(request); namespace != "" {
				metadata["namespace"] = namespace
			}
			metadata["creationTimestamp"] = e.Now.Format(time.RFC3339)
		}
		kind := fmt.Sprintf("%s.%s", child["kind"], child["apiVersion"])
		left[kind].(map[string]any)[keyOf(request, object)] = object
	}
	return left
}

// summaries returns the conditions of an answer without their messages. While work goes on, it
// leaves out how far it is, which a status may tell some seconds late: see operator.Answer.
func summaries(t *testing.T, body []byte) []string {
	var response struct {
		Status struct{ Conditions []metav1.Condition }
	}
	require.NoError(t, json.Unmarshal(body, &response))
	conditions := response.Status.Conditions
	goesOn := meta.IsStatusConditionFalse(conditions, operator.ConditionReady) && meta.FindStatusCondition(conditions, operator.ConditionStalled) == nil
	var list []string
	for _, c := range conditions {
		switch {
		case !goesOn:
			list = append(list, fmt.Sprint(c.Type, "=", c.Status, " ", c.Reason))
		case c.Type != operator.ConditionChildrenObserved && c.Type != operator.ConditionChildrenUpdated:
			list = append(list, fmt.Sprint(c.Type, "=", c.Status))
		}
	}
	slices.Sort(list)
	return list
}

// LostStatuses plays a sample once for each of its syncs, whose status is lost.
// Each time it must end as without the loss, having created the same children
// as often.
func LostStatuses(t *testing.T, all []metacontroller.Controller, sample corpus.Sample) {
	undisturbed, syncs := playLosing(t, all, sample, 0)
	step := 1
	switch {
	case testenv.Inner():
		step += syncs // the first alone, in which children are made
	case !testenv.Thorough():
		step += syncs / 2
	}
	for n := 1; n <= syncs; n += step {
		disturbed, _ := playLosing(t, all, sample, n)
		require.Equal(t, endOf(undisturbed), endOf(disturbed), "the status of sync %d is lost", n)
		require.Equal(t, createdIn(undisturbed), createdIn(disturbed), "the status of sync %d is lost", n)
	}
	t.Logf("%d syncs", syncs)
}

// playLosing plays a sample to its end with the status of the n-th sync lost,
// and returns how many syncs there were before the last change.
func playLosing(t *testing.T, all []metacontroller.Controller, sample corpus.Sample, n int) (world *simulate.World, syncs int) {
	var steps []int // before each sync
	call := simulate.Direct(all...)
	world = simulate.New(simulate.Options{
		Controllers: all, MaxSteps: enoughSteps,
		Call: simulate.LoseStatus(func(now time.Time, path string, body []byte) (int, []byte, error) {
			if strings.HasSuffix(path, "/sync") {
				steps = append(steps, len(world.Steps))
			}
			return call(now, path, body)
		}, n, n),
	})
	applySample(t, world, sample)
	require.NoError(t, world.Play())
	for syncs < len(steps) && steps[syncs] < len(world.Steps) {
		syncs++
	}
	return world, syncs
}

// endOf returns the outcomes of a world.
func endOf(world *simulate.World) []string {
	var list []string
	for _, outcome := range world.Outcomes() {
		list = append(list, fmt.Sprintf("%s: Ready=%s %s: %s, %d children", outcome.Parent.GetName(), outcome.Ready, outcome.Reason, outcome.Message, outcome.Children))
	}
	return list
}

// createdIn counts how often each child was created.
func createdIn(world *simulate.World) map[string]int {
	count := map[string]int{}
	for _, step := range world.Steps {
		for _, event := range step.Events {
			if event.Verb == simulate.Created && world.IsChild(event.Object) {
				count[event.Object.GetKind()+"/"+event.Object.GetName()]++
			}
		}
	}
	return count
}
