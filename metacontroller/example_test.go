package metacontroller_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// notes is a custom resource whose operator keeps a ConfigMap.
type notes struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Text string `json:"text"`
	} `json:"spec"`
}

type notesStatus struct {
	Missing []string `json:"missing,omitempty"`
}

// syncNotes asks for the ConfigMap, and tells whether it is there.
func syncNotes(n *notes, request metacontroller.Observed) (metacontroller.Result[notesStatus], error) {
	wanted := []metacontroller.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Data: map[string]string{"text": n.Spec.Text}}}
	differs, err := request.Compare(wanted)
	return metacontroller.Result[notesStatus]{Status: notesStatus{differs.Missing}, Children: wanted}, err
}

// A request comes in as Metacontroller sends it, and the answer goes out as bytes.
func ExampleController_Call() {
	controller := metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Notes", Plural: "notes"},
		Children: []metacontroller.Child{{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace}},
		Sync:     metacontroller.Sync(syncNotes),
	}
	request := []byte(`{
		"parent": {"apiVersion": "example.com/v1", "kind": "Notes", "metadata": {"name": "list"}, "spec": {"text": "milk"}},
		"children": {"ConfigMap.v1": {}}, "related": {}, "finalizing": false}`)
	answer, err := controller.Call(metacontroller.SyncHook, time.Now(), request)
	fmt.Println(string(answer.Body), err)

	_, err = controller.Call(metacontroller.SyncHook, time.Now(), []byte(`{"parent": {}}`))
	fmt.Println(metacontroller.IsRequestError(err), err)
	// Output:
	// {"status":{"missing":["ConfigMap/list"]},"children":[{"apiVersion":"v1","data":{"text":"milk"},"kind":"ConfigMap","metadata":{"annotations":{"operetta.dev/hash":"83c33613d6a95c8e"},"name":"list"}}]} <nil>
	// true the parent is no object with apiVersion, kind and metadata
}

// A Pod that is never updated stays as it is: its spec is immutable, and an answer without it
// would delete it.
func ExampleKeep() {
	sync := func(n *notes, request metacontroller.Observed) (metacontroller.Result[notesStatus], error) {
		var children []metacontroller.Object
		for _, pod := range request.Children.All(metacontroller.Pod.APIVersion, metacontroller.Pod.Kind) {
			if !pod.Terminating {
				children = append(children, metacontroller.Keep(pod))
			}
		}
		return metacontroller.Result[notesStatus]{Children: children}, nil
	}
	controller := metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Notes", Plural: "notes"},
		Children: []metacontroller.Child{{Resource: metacontroller.Pod, Update: metacontroller.OnDelete}},
		Sync:     metacontroller.Sync(sync),
	}
	answer, err := controller.Call(metacontroller.SyncHook, time.Now(), []byte(`{
		"parent": {"apiVersion": "example.com/v1", "kind": "Notes", "metadata": {"name": "list", "namespace": "default"}},
		"children": {"Pod.v1": {
			"old": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "old", "namespace": "default", "deletionTimestamp": "2026-01-02T03:04:05Z"}},
			"list-0": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "list-0", "namespace": "default"}, "spec": {"nodeName": "a"}}}},
		"related": {}, "finalizing": false}`))
	fmt.Println(string(answer.Body), err)
	// Output: {"status":{},"children":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"list-0"}}]} <nil>
}
