package operator_test

import (
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// shop is a custom resource whose operator keeps a Deployment.
type shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            shopStatus `json:"status"`
}

type shopStatus struct {
	operator.Status `json:",inline"`

	ReadyReplicas int32 `json:"readyReplicas"`
}

// syncShop is a whole sync: what is observed, what is wanted, how they differ, and how far
// the work is.
func syncShop(shop *shop, request metacontroller.Observed) (metacontroller.Result[shopStatus], error) {
	kind := metacontroller.Deployment
	observed, err := metacontroller.Get[operator.Workload](request.Children, kind.APIVersion, kind.Kind, shop.Name)
	if err != nil {
		return metacontroller.Result[shopStatus]{}, err
	}
	wanted := []metacontroller.Object{&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: shop.Name}}}
	differs, err := request.Compare(wanted)
	if err != nil {
		return metacontroller.Result[shopStatus]{}, err
	}
	report := operator.NewReport(shop, shop.Status.Status, request, differs)
	report.SetSummary(report.With(observed.Rollout().Summary()))
	var status shopStatus
	if observed != nil {
		status.ReadyReplicas = observed.Status.ReadyReplicas
	}
	return operator.Answer(report, shop.Status, status, wanted), nil
}

func ExampleAnswer() {
	controller := metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Shop", Plural: "shops"},
		Children: []metacontroller.Child{{Resource: metacontroller.Deployment, Update: metacontroller.InPlace}},
		Sync:     metacontroller.Sync(syncShop),
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	answer, err := controller.Call(metacontroller.SyncHook, now, []byte(`{
		"parent": {"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "corner", "namespace": "default", "generation": 1}},
		"children": {"Deployment.apps/v1": {}}, "related": {}, "finalizing": false}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var told struct{ Status shopStatus }
	if err := json.Unmarshal(answer.Body, &told); err != nil {
		fmt.Println(err)
		return
	}
	for _, condition := range told.Status.Conditions {
		fmt.Printf("%s=%s %s: %s\n", condition.Type, condition.Status, condition.Reason, condition.Message)
	}
	fmt.Println(answer.Children[0].Kind, answer.Children[0].Name)
	// Output:
	// Ready=False Creating: being created: Deployment/corner
	// ChildrenObserved=False Requested: asked for: Deployment/corner
	// Degraded=False AsExpected: being created: Deployment/corner
	// Deployment corner
}

// A rollout says how far it is in words that do not change while nothing does.
func ExampleRollout_Summary() {
	three := int32(3)
	rollout := operator.RolloutOf("Deployment", 2, &three, &operator.WorkloadStatus{
		ObservedGeneration: 2, Replicas: 4, ReadyReplicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3,
	})
	summary := rollout.Summary()
	fmt.Println(summary.State == operator.Progressing, summary.Reason)
	fmt.Println(summary.Message)
	// Output:
	// true RollingOut
	// waiting for old replicas to terminate: 1
}

// A name that is made of several parts fits, and differs where they do.
func ExampleJoinName() {
	fmt.Println(operator.JoinName(operator.MaxLabel, "cache", "backup"))
	fmt.Println(operator.JoinName(20, "a-cache-of-a-shop", "backup"))
	// Output:
	// cache-backup
	// a-cache-of-a19768c8
}
