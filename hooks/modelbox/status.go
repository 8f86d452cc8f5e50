package modelbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// state is the input of the status.
type state struct {
	box      *ModelBox
	observed observed
	now      time.Time
}

// report returns the status, and when to check again.
func report(s state, differs metacontroller.Difference) (Status, time.Duration) {
	conditions := operator.NewConditions(s.box.Status.Conditions, s.box.Generation, s.now)
	reported := conditions.ReportChildren(differs, s.box.Status.PendingChildren)
	summary := reported.Summary
	if s.observed.deployment != nil {
		rollout := s.observed.deployment.Rollout()
		if slices.Contains(differs.Outdated, s.observed.deployment.Ref()) {
			rollout.Deadline = "" // that of a template which is being replaced
		}
		summary = reported.With(rollout.Summary())
	}
	conditions.SetSummary(summary, operator.ConditionProgressing, operator.ConditionDegraded)
	status := progress(s.box, s.observed)
	status.Conditions, status.PendingChildren = conditions.List(), reported.Pending
	status, left := operator.Pace(conditions, s.box.Status, status, nil)
	return status, operator.Soonest(reported.ResyncAfter, left)
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
