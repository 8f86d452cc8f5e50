// Package podset keeps a number of identical Pods.
//
// The children of a PodSet are Pods named <podset>-<n>, with the lowest numbers that are free; the
// number of a Pod that is being deleted is not. A Pod that has been asked for and is not observed
// yet is asked for again under its number, which the status remembers. A Pod that stays is kept as
// it is, whatever its content.
//
// Where there are too many, those go that a ReplicaSet would let go first. A Pod that has failed is
// replaced under another number, at growing intervals if its replacements fail too, and goes when
// its replacement is observed. Pods of an older template go maxUnavailable at a time, and the next
// ones when as many are ready again; those that are not ready go at once, for nobody misses them.
//
// A sync asks for few new Pods at first, for more as those appear, and for no more than a burst
// has: each Pod that the API server refuses costs requests that all custom resources share. All of
// a PodSet are no more than fit into a request: of a large template fewer than size.
//
// Ready is True when as many Pods as wanted are ready and of the newest template, and no other is
// left.
package podset

import (
	"reflect"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Configured(DefaultPolicy(), declare)
}

func declare(policy Policy) metacontroller.Controller {
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodSet", Plural: "podsets"},
		CRD:      deploy.CRD("podset"),
		Children: []metacontroller.Child{{Resource: metacontroller.Pod, Update: metacontroller.OnDelete, DecodeAs: reflect.TypeFor[observedPod]()}},
		Reasons:  []string{reasonReady, reasonScaling, reasonReplacing, reasonPodsNotReady, reasonTooLarge, reasonPaused},
		Sync:     metacontroller.Sync(policy.sync),
	}
}
