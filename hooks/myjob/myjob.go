// Package myjob runs one Pod to completion, once.
//
// A MyJob has one child, a Pod of its own name. It is asked for until it has been seen, and never
// again: a Pod that vanishes while it runs completes the MyJob as Failed, with reason PodDeleted
// where its deletion was seen and PodLost after 30 seconds of absence where it was not. What a
// completed MyJob's status says is never revised, and its Pod is kept for its logs until the time
// to live is over, and until a request has shown the result. A Pod that is older than the MyJob is
// somebody else's.
//
// Ready is True when the Pod has succeeded. A failure is Stalled, for nothing will mend it.
package myjob

import (
	"reflect"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "myjob.github.com/v1beta1", Kind: "MyJob", Plural: "myjobs"},
		CRD:      deploy.CRD("myjob"),
		Children: []metacontroller.Child{{Resource: metacontroller.Pod, Update: metacontroller.OnDelete, DecodeAs: reflect.TypeFor[observedPod]()}},
		// Why a Pod has failed the kubelet or the container runtime says, too: these are frequent.
		Reasons: []string{
			"Running", "Succeeded", "PodDeleted", "PodLost", "ResultUnknown",
			"Error", "OOMKilled", "Evicted", "DeadlineExceeded", "ContainerCannotRun",
		},
		Invariants: invariants(),
		Sync:       metacontroller.Sync(sync),
	}
}
