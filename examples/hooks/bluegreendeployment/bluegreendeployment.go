// Package bluegreendeployment runs Pods behind a Service, and replaces all of them at once
// when their template changes.
//
// A BlueGreenDeployment has two ReplicaSets, <name>-blue and <name>-green, and a Service that
// selects the Pods of one of them, the active color. A new template is rolled out to the
// inactive color, after its old Pods are gone. When all its Pods are available, the Service is
// switched, and when it is observed to be, the other color is scaled to 0. It keeps its
// template, so that the way back is as short as any other rollout.
//
// A rollout is given up when the template changes again. Once status.switchingTo tells that the
// Service is being switched, the switch is completed before anything else: the Service may be
// switched already, and the cache behind.
//
// Ready is True when the active color is of the newest template and available, and the other
// has no Pods.
package bluegreendeployment

import (
	"example.com/metacontroller/examples/deploy"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "ctl.enisoc.com/v1", Kind: "BlueGreenDeployment", Plural: "bluegreendeployments"},
		CRD:    deploy.CRD("bluegreendeployment"),
		Children: []metacontroller.Child{
			{Resource: metacontroller.Service, Update: metacontroller.InPlace, SharedName: true},
			{Resource: metacontroller.ReplicaSet, Update: metacontroller.InPlace},
		},
		Reasons:   []string{reasonSwitching, reasonCleaningUp},
		Sync:      metacontroller.Sync(sync),
		Customize: metacontroller.Customize(customize),
	}
}

// customize selects what has the name of the Service: another controller may have it.
func customize(deployment *BlueGreenDeployment) ([]metacontroller.Rule, error) {
	if name := deployment.Spec.Service.Metadata.Name; name != "" {
		return metacontroller.ByName(metacontroller.Service, deployment.Namespace, name), nil
	}
	return nil, nil
}
