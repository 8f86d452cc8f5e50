package operettatest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Request is what a hook is asked about.
type Request struct {
	// Parent is the custom resource in YAML.
	Parent string
	// Children are the observed ones. A child without its own hash counts as up
	// to date: it gets the hash and the missing fields of the desired one.
	Children []Object
	// Related are the related objects that are observed.
	Related []Object
	// Now is the time of the request. Zero is 2026-01-02T03:04:05Z.
	Now time.Time
}

// Answer is the answer of a hook.
type Answer struct {
	// Status is that of the custom resource, or nil for a customize hook.
	Status map[string]any
	// Children are the desired ones.
	Children []Object
	// ResyncAfter is when the hook wants to be called again, or zero.
	ResyncAfter time.Duration
	// Finalized says that the teardown is complete.
	Finalized bool
	// Rules are what a customize hook selects.
	Rules []metacontroller.Rule
}

// Ask calls a hook of an operator, as Metacontroller does. An error of the hook fails
// the test; [TryAsk] returns it.
func Ask(t testing.TB, controller metacontroller.Controller, hook metacontroller.HookName, request Request) Answer {
	t.Helper()
	answer, err := TryAsk(t, controller, hook, request)
	if err != nil {
		t.Fatalf("the %s hook of %s answers with an error: %s", hook, controller.Parent.Kind, err)
	}
	return answer
}

// TryAsk is [Ask] for a hook that may answer with an error.
func TryAsk(t testing.TB, controller metacontroller.Controller, hook metacontroller.HookName, request Request) (Answer, error) {
	t.Helper()
	c, err := corpus.New(controller.Call, controller, hook, request.encoded(t, controller))
	if err != nil {
		return Answer{}, err
	}
	answer, err := c.Call()
	if err == nil && hook != metacontroller.CustomizeHook {
		c.Request = wholeChildren(t, c)
		answer, err = c.Call()
	}
	if err != nil {
		return Answer{}, err
	}
	var body struct {
		Status             map[string]any        `json:"status"`
		Children           []map[string]any      `json:"children"`
		ResyncAfterSeconds int64                 `json:"resyncAfterSeconds"`
		Finalized          bool                  `json:"finalized"`
		Rules              []metacontroller.Rule `json:"relatedResources"`
	}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(answer.Body, &body))
	result := Answer{
		Status: body.Status, ResyncAfter: time.Duration(body.ResyncAfterSeconds) * time.Second,
		Finalized: body.Finalized, Rules: body.Rules,
	}
	for _, child := range body.Children {
		result.Children = append(result.Children, &unstructured.Unstructured{Object: child})
	}
	return result, nil
}

// encoded returns the request as the file of a case contains it.
func (r Request) encoded(t testing.TB, controller metacontroller.Controller) []byte {
	t.Helper()
	parents := documentsOf(t, r.Parent)
	require.Len(t, parents, 1, "a request has one parent")
	parent := &unstructured.Unstructured{}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(parents[0], &parent.Object))
	parent.SetAPIVersion(cmp.Or(parent.GetAPIVersion(), controller.Parent.APIVersion))
	parent.SetKind(cmp.Or(parent.GetKind(), controller.Parent.Kind))
	parent = observedObject(parent, "parent", "default")
	request := map[string]any{"parent": parent.Object}
	if !r.Now.IsZero() {
		request["now"] = r.Now.Format(time.RFC3339)
	}
	for member, objects := range map[string][]Object{"children": r.Children, "related": r.Related} {
		groups := map[string]map[string]any{}
		for i, object := range objects {
			object = observedObject(object, fmt.Sprintf("%s-%d", member, i), parent.GetNamespace())
			if member == "children" && object.GetAnnotations()[metacontroller.HashAnnotation] == "" {
				annotations := object.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[metacontroller.HashAnnotation] = corpus.AskedFor
				object.SetAnnotations(annotations)
			}
			key := object.GetKind() + "." + object.GetAPIVersion()
			if groups[key] == nil {
				groups[key] = map[string]any{}
			}
			groups[key][object.GetNamespace()+"/"+object.GetName()] = object.Object
		}
		request[member] = groups
	}
	text, err := json.Marshal(request)
	require.NoError(t, err)
	return text
}

// observedObject returns a copy of an object with what the API server adds.
func observedObject(object Object, uid, namespace string) Object {
	object = object.DeepCopy()
	object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
	object.SetUID(cmp.Or(object.GetUID(), types.UID(uid)))
	if object.GetGeneration() == 0 {
		object.SetGeneration(1)
	}
	if created := object.GetCreationTimestamp(); created.IsZero() {
		object.SetCreationTimestamp(metav1.NewTime(corpus.StandardNow))
	}
	return object
}

// Condition returns a condition of the answered status.
func (a Answer) Condition(conditionType string) Condition {
	return ConditionOf(&unstructured.Unstructured{Object: map[string]any{"status": a.Status}}, conditionType)
}

// Child returns the answered child of a name such as Deployment/web, or nil.
func (a Answer) Child(ref string) Object {
	for _, child := range a.Children {
		if child.GetKind()+"/"+child.GetName() == ref {
			return child
		}
	}
	return nil
}

// Refs returns the names of the answered children, as in Deployment/web, in
// order.
func (a Answer) Refs() []string {
	var refs []string
	for _, child := range a.Children {
		refs = append(refs, child.GetKind()+"/"+child.GetName())
	}
	return refs
}
