package modelbox

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Deployment and the Services, and reports on the observed
// ones.
func (p Policy) sync(box *ModelBox, request metacontroller.Observed) (result, error) {
	observed, err := observe(box, request)
	if err != nil {
		return result{}, err
	}
	wanted := p.children(box)
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	summary, left, err := summary(box, request, observed, differs)
	if err != nil {
		return result{}, err
	}
	report := operator.NewReport(box, box.Status.Status, request, differs)
	report.SetSummary(report.With(summary), operator.ConditionProgressing)
	return operator.Answer(report, box.Status, progress(box, observed), withoutBlockedServices(wanted, observed), left), nil
}
