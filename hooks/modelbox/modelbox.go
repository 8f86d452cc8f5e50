// Package modelbox runs model servers.
//
// A ModelBox has two children, both of its own name: a Deployment always, and a Service where it
// has ports and its serviceType is not None. The Pods are selected by the label modelbox, whose
// value is that name.
//
// Ready is True when the Deployment and the Service carry what the newest spec asks for, and the
// Deployment's controller has observed its newest generation and reports all its replicas updated
// and available. A rollout past its progress deadline is Degraded and Stalled, with the
// Deployment's own message.
//
// Both children are updated in place, field by field: what this package does not set is left to its
// owner. Teardown needs no order, garbage collection does it.
package modelbox

import (
	"reflect"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Configured(DefaultPolicy(), declare)
}

func declare(policy Policy) metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "model.github.com/v1", Kind: "ModelBox", Plural: "modelboxes"},
		CRD:    deploy.CRD("modelbox"),
		Children: []metacontroller.Child{
			{Resource: metacontroller.Deployment, Update: metacontroller.InPlace, DecodeAs: reflect.TypeFor[operator.Workload]()},
			{Resource: metacontroller.Service, Update: metacontroller.InPlace, DecodeAs: reflect.TypeFor[observedService](), SharedName: true},
		},
		Invariants: invariants(),
		Sync:       metacontroller.Sync(policy.sync),
		Customize:  metacontroller.Customize(customize),
	}
}

// customize selects the object with the name of the Service, if there is one, because another
// controller may own it. A Deployment needs no such check: its selector is immutable and names the
// ModelBox, so the API server refuses to change another's.
func customize(box *ModelBox) ([]metacontroller.Rule, error) {
	if wantedServiceType(box) == ServiceNone {
		return nil, nil
	}
	return metacontroller.ByName(metacontroller.Service, box.Namespace, box.Name), nil
}
