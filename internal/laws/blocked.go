package laws

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// betweenAttempts is how long a child has been blocked when no attempt is due, by the
// schedule of operator.Answer.
const betweenAttempts = 45 * time.Second

// blockedIsNotAskedForAtEachEvent has the children that an answer creates or updates be
// refused for some time. An event between two attempts creates and updates none of them,
// and deletes nothing: each sync in which the API server refuses something takes one of
// the retries that all custom resources of the kind share.
func blockedIsNotAskedForAtEachEvent(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	if c.Hook != metacontroller.SyncHook {
		return
	}
	status, _ := Parsed(t, answer.Body)["status"].(map[string]any)
	missing, _, _ := unstructured.NestedStringSlice(status, "missingChildren")
	outdated, _, _ := unstructured.NestedStringSlice(status, "outdatedChildren")
	isBlocked := map[string]bool{}
	conditions, _ := status["conditions"].([]any)
	for _, item := range conditions {
		condition := item.(map[string]any)
		conditionType, _ := condition["type"].(string)
		if condition["status"] == "False" && (conditionType == operator.ConditionChildrenObserved || conditionType == operator.ConditionChildrenUpdated) {
			condition["lastTransitionTime"] = c.Now.Add(-betweenAttempts).UTC().Format(time.RFC3339)
			isBlocked[conditionType] = condition["reason"] != "NameTaken"
		}
	}
	if !isBlocked[operator.ConditionChildrenObserved] && !isBlocked[operator.ConditionChildrenUpdated] {
		return
	}
	later := c
	later.Request = changed(t, c, func(request map[string]any) { request["parent"].(map[string]any)["status"] = status })
	next, err := later.Call()
	require.NoError(t, err)

	observed := byRef(ObservedIn(Parsed(t, c.Request), "children"))
	answered := refsOf(ChildrenOf(t, next.Body))
	hashes := map[string]any{} // of what is asked for
	for _, child := range ChildrenOf(t, answer.Body) {
		ref := corpus.Ref(child)
		hashes[ref] = annotationsOf(child)[metacontroller.HashAnnotation]
		require.True(t, observed[ref] == nil || answered[ref], "%s is observed, and is deleted because others are blocked", ref)
	}
	for _, child := range ChildrenOf(t, next.Body) {
		before := observed[corpus.Ref(child)]
		name := nameInStatus(child)
		switch {
		case before == nil && isBlocked[operator.ConditionChildrenObserved]:
			require.NotContains(t, missing, name, "it is asked for at each event while it is blocked: operator.Answer does that")
		case child["apiVersion"] == rbacv1.SchemeGroupVersion.String(): // it would grant what it no longer should
		case before != nil && hashes[corpus.Ref(child)] != nil && isBlocked[operator.ConditionChildrenUpdated] && slices.Contains(outdated, name):
			require.NotEqual(t, hashes[corpus.Ref(child)], annotationsOf(child)[metacontroller.HashAnnotation],
				"%s is updated at each event while that is refused: operator.Answer does that", name)
		}
	}
}

// nameInStatus returns the name of a child as it is in a status.
func nameInStatus(child map[string]any) string {
	return fmt.Sprintf("%s/%s", child["kind"], nameOf(child))
}
