// Package podbuggertool puts a debug container into the Pods that match.
//
// Ephemeral containers are added through a subresource of the Pod, which
// Metacontroller does not write. So a PodBuggerTool asks for one small Job for
// each Pod that matches its selector, runs, and does not have the container
// yet; the Job runs kubectl debug. The customize hook selects the Pods, so that
// the sync hook is called whenever one of them changes.
//
// The Jobs' ServiceAccount, Role and RoleBinding are children too. The Role
// allows that and nothing else, and only on the Pods whose Job has yet to be
// created or to end, by their names. Role and RoleBinding are asked for while the
// ServiceAccount is observed as a child: somebody else's of that name would get the
// same. A Job is created when the Role is seen to name its Pod. While no Pod waits
// for its Job, none of the three is asked for.
//
// A Pod has the container when its spec lists an ephemeral container of the
// tool's name. Then its Job is not asked for any more, and goes. The API server
// lets nobody change or repeat a container that a Pod has, so that a Pod never
// gets it twice, whatever runs twice. Pods of any tool's Jobs, mirror Pods and
// finished or terminating ones are never matched.
//
// A Job's name is made of the tool, the Pod's UID and a hash of what the Job is
// made of. It stays until the Pod shows the container: one that has succeeded,
// because the view of the Pod may lag behind, and one that has failed, because
// nothing but another Pod or another spec will make it succeed. A Pod that stops
// matching loses its Job: when it matches again, it is tried again.
//
// Ready is True when every running Pod within maxPods has the container, and it has
// failed in none. A Job that has failed for good is Stalled, and so is a container. Teardown needs no order; the containers
// stay, for Kubernetes cannot take them away.
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
		Related:           []metacontroller.Resource{metacontroller.Pod},
		EscalationRules:   permissions(),
		Invariants:        invariants(),
		SimulatedWorkload: kubectlDebug,
		Sync:              metacontroller.Sync(policy.sync),
		Customize:         metacontroller.Customize(customize),
	}
}
