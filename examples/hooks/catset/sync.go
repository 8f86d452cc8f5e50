package catset

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync keeps the Pods in order, and their claims.
func sync(set *CatSet, request metacontroller.Observed) (result, error) {
	hash, err := templateHash(set)
	if err != nil {
		return result{}, err
	}
	pods, err := observe(set, request, hash)
	if err != nil {
		return result{}, err
	}
	plan := decide(pods, wantedReplicas(set))
	fresh := newClaims(set, request.Children)
	if plan.makes {
		fresh = append(fresh, pod(set, pods.ready(wantedReplicas(set)), hash))
	}
	differs, err := request.Compare(fresh)
	if err != nil {
		return result{}, err
	}
	report := operator.NewReport(set, set.Status.Status, request, differs)
	report.SetSummary(report.With(summary(set, pods).Telling(pods.told(request.Now))))
	wanted := append(append(keptClaims(request.Children), pods.kept(plan.goes)...), fresh...)
	return operator.Answer(report, set.Status, status(set, pods), wanted), nil
}

// finalize deletes the Pods, the last first, and then the claims. It reads their names alone, so
// that it works whatever they and the CatSet hold.
func finalize(set *CatSet, request metacontroller.Observed) (result, error) {
	snapshots := request.Children.All(metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	pods := observed{}
	for _, snapshot := range snapshots {
		if ordinal := ordinalOf(snapshot.Name); ordinal != none {
			pods[ordinal] = &observedPod{Snapshot: snapshot}
		}
	}
	answer := result{Status: set.Status, Finalized: request.Children.Len() == 0}
	answer.Status.Replicas, answer.Status.ReadyReplicas = int32(len(pods)), 0
	goes := none
	if !pods.anyGoing() {
		goes = pods.last()
	}
	if len(snapshots) > 0 {
		answer.Children = append(keptClaims(request.Children), pods.kept(goes)...)
	}
	return answer, nil
}
