// Package modelbox runs model servers.
//
// A ModelBox has a Deployment of its own name, a Service where it has ports and its serviceType is
// not None, and further Services where it names some. The Pods are selected by the label modelbox,
// whose value is that name.
//
// Ready is True when the Deployment and the Services carry what the newest spec asks for, and the
// Deployment's controller has observed its newest generation and reports all its replicas updated
// and available. A rollout past its progress deadline is Degraded and Stalled, with the
// Deployment's own message. While it waits, the message says what one of its Pods waits for.
//
// The children are updated in place, field by field: what this package does not set is left to its
// owner. Teardown needs no order, garbage collection does it.
package modelbox

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		Reasons:   []string{ReasonAddressPending},
		Related:   []metacontroller.Related{{Resource: metacontroller.Pod, Informs: true}},
		Sync:      metacontroller.Sync(policy.sync),
		Customize: metacontroller.Customize(policy.customize),
	}
}

// customize selects the objects with the names of the Services until the ModelBox is Ready,
// because another controller may own them, and the Pods while the policy asks for them. A
// Deployment needs no such check: its selector is immutable and names the ModelBox, so the API
// server refuses to change another's.
func (p Policy) customize(box *ModelBox) (rules []metacontroller.Rule, err error) {
	isReady := box.Status.IsReadyAt(box.Generation)
	if !isReady {
		var names []string
		for _, service := range wantedServices(box) {
			names = append(names, service.Name)
		}
		rules = metacontroller.ByName(metacontroller.Service, box.Namespace, names...)
	}
	if p.WatchPods.Includes(isReady) {
		rules = append(rules, metacontroller.Rule{
			APIVersion: metacontroller.Pod.APIVersion, Resource: metacontroller.Pod.Plural, Namespace: box.Namespace,
			LabelSelector: &metav1.LabelSelector{MatchLabels: selector(box)},
		})
	}
	return rules, nil
}
