package operettatest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/simulation"
)

// lostStatus loses the status of an answer, applies its children, and calls the hook again. A hook
// may rely on its status only once a request contains it: Metacontroller creates and deletes
// children first and writes the status afterwards, and may die in between. After a loss a hook may
// keep a child for longer; it must not create another one, nor delete one, nor judge differently.
func (k kind) lostStatus(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	next := advise(t, "rely on what the status says only once a request shows it: see docs/authors.md")
	left := childrenLeft(t, c, answer)
	there, wasThere := map[string]bool{}, refsOf(observedIn(parsed(t, c.Request), "children"))
	for _, later := range []time.Duration{0, 31 * time.Second, time.Hour} {
		lost := changed(t, c, func(request object) {
			request["children"] = left
			there = refsOf(observedIn(request, "children"))
		})
		lost.Now = c.Now.Add(later)
		without, err := lost.Call()
		require.NoError(t, err)
		withStatus, err := changed(t, lost, func(request object) { request["parent"].(object)["status"] = statusOf(t, answer.Body) }).Call()
		require.NoError(t, err)

		asked, askedWithStatus := byRef(childrenOf(t, without.Body)), refsOf(childrenOf(t, withStatus.Body))
		missing, _, _ := unstructured.NestedStringSlice(statusOf(t, withStatus.Body), "missingChildren") // wanted, and perhaps held back until the next attempt
		for ref, child := range asked {
			if there[ref] {
				continue
			}
			wanted := askedWithStatus[ref] || slices.Contains(missing, nameInStatus(child))
			require.True(t, wanted, "%s later, %s is only asked for because the status was lost", later, ref)
			runs := child["kind"] == "Pod" || child["kind"] == "Job" // unlike, say, a Service, which may be created again
			next("name a Pod or Job by what it depends on, so that another one has another name")
			require.False(t, wasThere[ref] && runs && !k.mayRunAgain(child["kind"]), "%s later, %s was left out of an answer, and is asked for again:"+
				" it would run twice; where that is meant, declare it in Invariants.History with Again", later, ref)
			next("rely on what the status says only once a request shows it: see docs/authors.md")
		}
		for ref := range there {
			require.True(t, asked[ref] != nil || !askedWithStatus[ref], "%s later, %s is only left out because the status was lost", later, ref)
		}
		if later == 0 { // later, the times since when children are missing differ, which are in the status
			require.Equal(t, conditionsOf(t, withStatus.Body), conditionsOf(t, without.Body), "it is judged differently because the status was lost")
		}
	}
}

// shownStatus shows a hook the status of its own answer, where that changes no child. What the hook
// asks for or leaves out only then would wait for an event that has nothing to do with it.
func (kind) shownStatus(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	var response struct{ ResyncAfterSeconds float64 }
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	if did := answer.Changes; response.ResyncAfterSeconds > 0 || did.Created+did.Updated+did.Removed > 0 {
		return
	}
	shown, err := changed(t, c, func(request object) { request["parent"].(object)["status"] = statusOf(t, answer.Body) }).Call()
	require.NoError(t, err)
	require.Equal(t, refsOf(childrenOf(t, answer.Body)), refsOf(childrenOf(t, shown.Body)), "the hook waits for a request that shows its status, and asks for none")
}

// awaitsNoGeneration asks as before and after Metacontroller has written which generation the status is
// about. It does that along with the answer, which causes no other request.
func (kind) awaitsNoGeneration(t *testing.T, c corpus.Case, _ metacontroller.Answer) {
	ask := func(behind int64) ([]string, bool) {
		asked, err := changed(t, c, func(request object) {
			parent := request["parent"].(object)
			generation, _, _ := unstructured.NestedInt64(parent, "metadata", "generation")
			status, _ := parent["status"].(object)
			if status == nil {
				status = object{}
				parent["status"] = status
			}
			status["observedGeneration"] = generation - behind
		}).Call()
		require.NoError(t, err)
		var response struct{ ResyncAfterSeconds float64 }
		require.NoError(t, json.Unmarshal(asked.Body, &response))
		did := asked.Changes
		return conditionsOf(t, asked.Body), response.ResyncAfterSeconds > 0 || did.Created+did.Updated+did.Removed > 0
	}
	now, isCalledAgain := ask(1)
	if later, _ := ask(0); !isCalledAgain {
		require.Equal(t, later, now, "it is judged differently once status.observedGeneration is the newest")
	}
}

// mayRunAgain reports whether the operator replaces children of a kind under their names.
func (k kind) mayRunAgain(childKind any) bool {
	return slices.ContainsFunc(k.simulation[k.Name()].History, func(h simulation.History) bool { return h.Kind == childKind && h.Again })
}

// childrenLeft returns the children after Metacontroller has applied an answer.
func childrenLeft(t *testing.T, c corpus.Case, answer metacontroller.Answer) object {
	request := parsed(t, c.Request)
	observed := byRef(observedIn(request, "children"))
	left := object{}
	for kind := range request["children"].(object) {
		left[kind] = object{}
	}
	for i, child := range childrenOf(t, answer.Body) {
		is := observed[corpus.Ref(child)]
		if is == nil {
			is = runtime.DeepCopyJSON(child)
			metadata := is["metadata"].(object)
			metadata["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			if namespace := namespaceOf(request); namespace != "" {
				metadata["namespace"] = namespace
			}
			metadata["creationTimestamp"] = c.Now.Format(time.RFC3339)
		}
		left[fmt.Sprintf("%s.%s", child["kind"], child["apiVersion"])].(object)[keyOf(request, is)] = is
	}
	return left
}

// conditionsOf returns the conditions of an answer without their messages. While work goes on, it
// leaves out how far it is, which a status may tell some seconds late: see operator.Answer.
func conditionsOf(t *testing.T, body []byte) []string {
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

// statusOf returns the status of a response.
func statusOf(t *testing.T, body []byte) object {
	status, _ := parsed(t, body)["status"].(object)
	return status
}

// betweenAttempts is how long a child has been blocked when no attempt is due, by the
// schedule of operator.Answer.
const betweenAttempts = 45 * time.Second

// blockedIsNotAskedForAtEachEvent has the children that an answer creates or updates be
// refused for some time. An event between two attempts creates and updates none of them,
// and deletes nothing: each sync in which the API server refuses something takes one of
// the retries that all custom resources of the kind share.
func (kind) blockedIsNotAskedForAtEachEvent(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	status := statusOf(t, answer.Body)
	missing, _, _ := unstructured.NestedStringSlice(status, "missingChildren")
	outdated, _, _ := unstructured.NestedStringSlice(status, "outdatedChildren")
	isBlocked := map[any]bool{}
	conditions, _ := status["conditions"].([]any)
	for _, item := range conditions {
		condition := item.(object)
		if condition["status"] == "False" && (condition["type"] == operator.ConditionChildrenObserved || condition["type"] == operator.ConditionChildrenUpdated) {
			condition["lastTransitionTime"] = c.Now.Add(-betweenAttempts).UTC().Format(time.RFC3339)
			isBlocked[condition["type"]] = condition["reason"] != "NameTaken"
		}
	}
	if !isBlocked[operator.ConditionChildrenObserved] && !isBlocked[operator.ConditionChildrenUpdated] {
		return
	}
	next, err := changed(t, c, func(request object) { request["parent"].(object)["status"] = status }).Call()
	require.NoError(t, err)

	answered, asked := byRef(childrenOf(t, next.Body)), byRef(childrenOf(t, answer.Body))
	observed := byRef(observedIn(parsed(t, c.Request), "children"))
	for ref := range asked {
		require.True(t, observed[ref] == nil || answered[ref] != nil, "%s is observed, and is deleted because others are blocked", ref)
	}
	hashOf := func(child object) any { return annotationsOf(child)[metacontroller.HashAnnotation] }
	for ref, child := range answered {
		name := nameInStatus(child)
		switch {
		case observed[ref] == nil && isBlocked[operator.ConditionChildrenObserved]:
			require.NotContains(t, missing, name, "it is asked for at each event while it is blocked: operator.Answer does that")
		case child["apiVersion"] == rbacv1.SchemeGroupVersion.String(): // it would grant what it no longer should
		case observed[ref] != nil && hashOf(asked[ref]) != nil && isBlocked[operator.ConditionChildrenUpdated] && slices.Contains(outdated, name):
			require.NotEqual(t, hashOf(asked[ref]), hashOf(child), "%s is updated at each event while that is refused: operator.Answer does that", name)
		}
	}
}

// nameInStatus returns the name of a child as it is in a status.
func nameInStatus(child object) string { return fmt.Sprintf("%s/%s", child["kind"], nameOf(child)) }
