package bluegreendeployment

import (
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Service and both ReplicaSets.
func sync(deployment *BlueGreenDeployment, request metacontroller.Observed) (result, error) {
	hash, err := templateHash(deployment)
	if err != nil {
		return result{}, err
	}
	observed, err := observe(deployment, request, hash)
	if err != nil {
		return result{}, err
	}
	plan := decide(deployment, observed)
	wanted := children(deployment, plan, hash)
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	report := operator.NewReport(deployment, deployment.Status.Status, request, differs)
	report.SetSummary(report.With(summary(deployment, observed, plan)))
	var resync time.Duration
	if plan.switchingTo != "" && plan.switchingTo != deployment.Status.SwitchingTo {
		resync = time.Second // a status that is written is no event
	}
	return operator.Answer(report, deployment.Status, status(observed, plan), wanted, resync), nil
}
