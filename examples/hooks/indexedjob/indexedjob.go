// Package indexedjob runs a number of Pods to completion, each of which knows its index.
//
// The Pods of an IndexedJob are named <name>-<index>, and their containers get the index in the
// variable JOB_INDEX. Those of the lowest indexes that have none are made, while fewer than
// spec.parallelism are active. A Pod that exists stays. One that has failed is not run again, as
// restartPolicy OnFailure does that; delete it to have another in its place.
//
// When a Pod of each index has succeeded the job is complete: the condition Complete tells, and
// from then on the Pods may go.
//
// Ready is True when the job is complete. It is Stalled when nothing runs any more and a Pod has
// failed, or parallelism is 0.
package indexedjob

import (
	"reflect"

	"example.com/metacontroller/examples/deploy"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "ctl.enisoc.com/v1", Kind: "IndexedJob", Plural: "indexedjobs"},
		CRD:      deploy.CRD("indexedjob"),
		Children: []metacontroller.Child{{Resource: metacontroller.Pod, Update: metacontroller.OnDelete, DecodeAs: reflect.TypeFor[observedPod]()}},
		Reasons:  []string{reasonComplete, reasonRunning, reasonPodFailed, reasonPaused},
		Sync:     metacontroller.Sync(sync),
	}
}
