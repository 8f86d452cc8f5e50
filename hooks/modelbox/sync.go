package modelbox

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// sync asks for the Deployment and the Service, and reports on the observed
// ones.
func sync(box *ModelBox, request metacontroller.Observed) (metacontroller.Result[Status], error) {
	var result metacontroller.Result[Status]
	observed, err := observe(box, request)
	if err != nil {
		return result, err
	}
	wanted, err := children(box, observed)
	if err != nil {
		return result, err
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result, err
	}
	conditions := operator.NewConditions(box.Status.Conditions, box.Generation, request.Now)
	reported := conditions.ReportChildren(differs, box.Status.PendingChildren)
	judgement := reported.Judgement
	if reported.Settled {
		judgement = observed.deployment.Rollout().Judge()
	}
	conditions.Judge(judgement, operator.ConditionProgressing, operator.ConditionDegraded)

	result.Status = report(box, observed)
	result.Status.Conditions, result.Status.PendingChildren = conditions.List(), reported.Pending
	result.Children = withoutBlockedService(conditions.HoldBlocked(wanted, differs, box.Status.PendingChildren, request.Children), observed.service)
	result.ResyncAfter = reported.ResyncAfter
	return result, nil
}
