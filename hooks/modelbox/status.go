package modelbox

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// summary returns how far the Deployment is. The progress deadline of a template that is
// being replaced does not count.
func summary(observed observed, differs metacontroller.Difference) operator.Summary {
	rollout := observed.deployment.Rollout()
	if d := observed.deployment; d != nil && slices.Contains(differs.Outdated, d.Ref()) {
		rollout.Deadline = ""
	}
	return rollout.Summary()
}

// progress copies the numbers and addresses that are observed.
func progress(box *ModelBox, observed observed) Status {
	status := Status{Selector: selectorLabel + "=" + box.Name}
	if d := observed.deployment; d != nil {
		status.Replicas = d.Status.Replicas
		status.ReadyReplicas = d.Status.ReadyReplicas
		status.UpdatedReplicas = d.Status.UpdatedReplicas
		status.AvailableReplicas = d.Status.AvailableReplicas
		status.Ready = fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, d.Rollout().Wanted)
	}
	if observed.service == nil {
		return status
	}
	status.ServiceType = observed.service.Spec.Type
	status.ClusterIP = observed.service.Spec.ClusterIP
	if observed.service.isHeadless() {
		status.ServiceType = ServiceHeadless
	}
	for _, port := range observed.service.Spec.Ports {
		if port.NodePort != 0 {
			status.NodePorts = append(status.NodePorts, port)
		}
	}
	return status
}
