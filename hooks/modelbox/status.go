package modelbox

import "fmt"

// report copies the numbers and addresses that are observed.
func report(box *ModelBox, seen observed) Status {
	status := Status{Selector: selectorLabel + "=" + box.Name}
	if d := seen.deployment; d != nil {
		status.Replicas = d.Status.Replicas
		status.ReadyReplicas = d.Status.ReadyReplicas
		status.UpdatedReplicas = d.Status.UpdatedReplicas
		status.AvailableReplicas = d.Status.AvailableReplicas
		status.Ready = fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, d.Rollout().Wanted)
	}
	if seen.service == nil {
		return status
	}
	status.ServiceType = seen.service.Spec.Type
	status.ClusterIP = seen.service.Spec.ClusterIP
	if seen.service.isHeadless() {
		status.ServiceType = ServiceHeadless
	}
	for _, port := range seen.service.Spec.Ports {
		if port.NodePort != 0 {
			status.NodePorts = append(status.NodePorts, port)
		}
	}
	return status
}
