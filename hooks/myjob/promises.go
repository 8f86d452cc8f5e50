package myjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/promise"
)

// Promises are what a MyJob keeps to whatever is late or lost.
func Promises() promise.Promises {
	return promise.Promises{
		Kind: "MyJob",
		History: []promise.History{
			{Kind: "MyJob", Reason: "it ends as its one Pod has"},
			{Kind: "Pod", Fewer: true, More: true, Reason: "the Pod of a MyJob that has ended is not made again, and goes when its time to live is over"},
		},
		Watch: watch,
	}
}

// watch holds MyJobs to running once: no second Pod after one that was given a
// node or whose end was written down. A Pod that nobody has begun to run may be
// made again.
func watch() func(promise.Write) string {
	ran := map[types.UID]string{} // MyJobs by a Pod that ran
	completed := map[types.UID]Result{}
	return func(w promise.Write) string {
		if w.Is("MyJob") && w.After != nil {
			return revised(completed, w)
		}
		if !w.Is("Pod") {
			return ""
		}
		for _, owner := range w.Object().GetOwnerReferences() {
			if owner.Kind != "MyJob" {
				continue
			}
			if other := ran[owner.UID]; w.Before == nil && other != "" {
				return fmt.Sprintf("%s runs a second Pod", owner.Name)
			}
			spec, _ := w.Object().Object["spec"].(map[string]any)
			if node, _ := spec["nodeName"].(string); node != "" {
				ran[owner.UID] = w.Object().GetName()
			}
		}
		return ""
	}
}

// revised tells of a result that is not what it was.
func revised(completed map[types.UID]Result, w promise.Write) string {
	status, _ := w.After.Object["status"].(map[string]any)
	result, _ := status["result"].(string)
	before := completed[w.After.GetUID()]
	if before != "" && before != Result(result) {
		return fmt.Sprintf("%s was %s and is %q", w.After.GetName(), before, result)
	}
	if result != "" {
		completed[w.After.GetUID()] = Result(result)
	}
	return ""
}
