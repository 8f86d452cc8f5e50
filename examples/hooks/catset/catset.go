// Package catset keeps Pods with stable names and volumes, as a StatefulSet does.
//
// The Pods of a CatSet are named <name>-<ordinal>, and each has a claim <template>-<pod> for
// every volume claim template. A Pod is made when all before it are ready. When all are ready,
// the last one goes if there are too many; if not, the last one goes that is of an older
// template, and is made again. Never more than one goes at a time. A Pod that has ended, or is
// of an older template and not ready, goes without that.
//
// Claims stay when their Pods go, and go with the CatSet. When it is deleted, its Pods go one by
// one, the last first, and then the claims.
//
// Ready is True when all Pods are ready and of the newest template, and no other is left.
package catset

import (
	"reflect"

	"example.com/metacontroller/examples/deploy"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "ctl.enisoc.com/v1", Kind: "CatSet", Plural: "catsets"},
		CRD:    deploy.CRD("catset"),
		Children: []metacontroller.Child{
			{Resource: metacontroller.Pod, Update: metacontroller.OnDelete, DecodeAs: reflect.TypeFor[observedPod]()},
			{Resource: metacontroller.PersistentVolumeClaim, Update: metacontroller.OnDelete},
		},
		OrderedTeardown: true,
		Reasons:         []string{reasonReady, reasonStarting, reasonReplacing, reasonScalingDown},
		Sync:            metacontroller.Sync(sync),
		Finalize:        metacontroller.Finalize(finalize),
	}
}
