package indexedjob

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync keeps the Pods that exist, and asks for the next ones.
func sync(job *IndexedJob, request metacontroller.Observed) (result, error) {
	pods, err := observe(job, request)
	if err != nil {
		return result{}, err
	}
	wasComplete := meta.IsStatusConditionTrue(job.Status.Conditions, conditionComplete)
	var fresh []metacontroller.Object
	if !wasComplete {
		fresh = nextPods(job, pods)
	}
	differs, err := request.Compare(fresh)
	if err != nil {
		return result{}, err
	}
	r := operator.NewReport(job, job.Status.Status, request, differs)
	status := report(r, job, pods, wasComplete, request.Now)
	return operator.Answer(r, job.Status, status, append(pods.kept(), fresh...)), nil
}
