// Package myjob runs one Pod to completion, once.
//
// A MyJob has one Pod of its own name. It is asked for until it has been seen, and never again: a
// Pod that vanishes while it runs completes the MyJob as Failed, with the reason of the disruption
// or PodDeleted where its deletion was seen, and PodLost after 30 seconds of absence where it was
// not. One that is being deleted may still end well: how it ends decides. What a completed MyJob's
// status says is never revised, and its Pods are kept for their logs until the time to live is
// over, and until a request has shown the result. A Pod that is older than the MyJob is somebody
// else's.
//
// With a backoffLimit a Pod that fails is followed by another, of another name, after a pause; so
// is one that was deleted because the MyJob was suspended. The status says which attempt it is, and
// its Pod is asked for once a request has shown that.
//
// Ready is True when a Pod has succeeded. A failure is Stalled, for nothing will mend it.
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
			"Running", "Succeeded", reasonPodDeleted, reasonPodLost, reasonUnknown, reasonSuspended, reasonRetrying,
			"Error", "OOMKilled", "Evicted", reasonDeadline, "ContainerCannotRun",
			"EvictionByEvictionAPI", "PreemptionByScheduler", "DeletionByTaintManager", "TerminationByKubelet",
		},
		Sync: metacontroller.Sync(sync),
	}
}
