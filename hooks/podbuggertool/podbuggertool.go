// Package podbuggertool puts a debug container into the Pods that match.
//
// Metacontroller does not write the subresource of a Pod that adds ephemeral containers. So a
// PodBuggerTool asks for one small Job for each Pod that matches its selector, runs, and does not
// have the container yet; the Job runs kubectl debug.
//
// The Jobs' ServiceAccount, Role and RoleBinding are children too. The Role allows that and nothing
// else, and only on the Pods whose Job has yet to be created or to end, by their names. It is asked
// for while the ServiceAccount is observed as a child: somebody else's of that name would get the
// same. A Job is created when the Role is seen to name its Pod. While no Pod waits for its Job, none
// of the three is asked for.
//
// A Pod has the container when its spec lists an ephemeral container of the tool's name. Then its
// Job goes. The API server lets nobody change or repeat a container that a Pod has, so that a Pod
// never gets it twice. A Job that has succeeded stays until then, because the view of the Pod may
// lag behind, and so does one that has failed, because nothing but another Pod or another spec will
// make it succeed.
//
// Teardown needs no order; the containers stay, for Kubernetes cannot take them away.
package podbuggertool

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
		Parent:  metacontroller.Resource{APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodBuggerTool", Plural: "podbuggertools"},
		CRD:     deploy.CRD("podbuggertool"),
		Reasons: []string{"NothingToDo", "InjectionFailed", "Injecting", "Injected", "ContainerNotRunning", "ContainerFailed"},
		Children: []metacontroller.Child{
			{Resource: metacontroller.Job, Update: metacontroller.OnDelete, DecodeAs: reflect.TypeFor[observedJob]()},
			{Resource: metacontroller.ServiceAccount, Update: metacontroller.InPlace},
			{Resource: metacontroller.Role, Update: metacontroller.InPlace},
			{Resource: metacontroller.RoleBinding, Update: metacontroller.InPlace},
		},
		Related:         []metacontroller.Related{{Resource: metacontroller.Pod}},
		EscalationRules: permissions(),
		Sync:            metacontroller.Sync(policy.sync),
		Customize:       metacontroller.Customize(customize),
	}
}
