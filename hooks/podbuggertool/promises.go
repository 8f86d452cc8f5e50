package podbuggertool

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// promises are what a PodBuggerTool keeps to whatever is late or lost.
func promises() metacontroller.Promises {
	return metacontroller.Promises{
		History: []metacontroller.History{
			{Kind: "PodBuggerTool", Reason: "a Pod whose Job has failed is not tried again"},
			{Kind: "Job", Names: true, More: true, Fewer: true, Reason: "a Job goes when its Pod has the container, and one that has failed stays"},
		},
		Watch: watch,
	}
}

// watch holds PodBuggerTools to one container in each Pod.
func watch() func(metacontroller.Write) string {
	return func(w metacontroller.Write) string {
		if !w.Is("Pod") || w.After == nil {
			return ""
		}
		containers, _, _ := unstructured.NestedSlice(w.After.Object, "spec", "ephemeralContainers")
		seen := map[any]bool{}
		for _, item := range containers {
			c, _ := item.(map[string]any)
			if seen[c["name"]] {
				return fmt.Sprintf("%s has the container %s twice", w.After.GetName(), c["name"])
			}
			seen[c["name"]] = true
		}
		return ""
	}
}
