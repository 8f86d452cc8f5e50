package modelbox

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Deployment and the Service, and reports on the observed
// ones.
func (p Policy) sync(box *ModelBox, request metacontroller.Observed) (result, error) {
	observed, err := observe(box, request)
	if err != nil {
		return result{}, err
	}
	wanted, err := p.children(box, observed)
	if err != nil {
		return result{}, err
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	status, resync := report(state{box, observed, request.Now}, differs)
	asked := operator.NewConditions(box.Status.Conditions, box.Generation, request.Now).
		BackOffRejected(withoutBlockedService(wanted, observed.service), differs, box.Status.PendingChildren, request.Children)
	return result{Status: status, Children: asked, ResyncAfter: resync}, nil
}
