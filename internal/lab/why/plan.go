package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/dump"
)

// Plan is what a hook answers to a custom resource as it was read.
type Plan struct {
	// Status is the one that Metacontroller would write, and Children what it would apply.
	Status   map[string]any
	Children []Object
	// Resync is when it would ask again, or zero.
	Resync time.Duration
	// Changed is when anything that the hook reads has changed last, as far as it shows.
	Changed time.Time
	// ask asks the hook the same as of another time, or is nil.
	ask func(now time.Time) Plan
	// Refused are the children that the API server refuses, as far as that can be known without it.
	Refused map[Ref]error
	// Err is why there is no answer.
	Err error
}

// PlanOf returns what a sync of a custom resource in a dump would do.
func PlanOf(r *dump.Request) Plan {
	if r.Answer == nil {
		return Plan{Err: r.Err}
	}
	p := answered(r.Answer, r.Parent.GetNamespace())
	for _, object := range r.Before {
		p.Changed = later(p.Changed, newestIn(object.Object))
	}
	p.Refused = map[Ref]error{}
	for _, refusal := range r.Refused {
		p.Refused[refusal.Child] = refusal.Err
	}
	return p
}

// PlanOfCase returns what the hook answers to a recorded request.
func PlanOfCase(c corpus.Case) Plan {
	answer, err := c.Call()
	if err != nil {
		return Plan{Err: err}
	}
	return answered(answer.Body, answer.Parent.Namespace)
}

func answered(body []byte, namespace string) Plan {
	content, err := kube.ParseJSON(body)
	if err != nil {
		return Plan{Err: fmt.Errorf("read the answer: %w", err)}
	}
	p := Plan{}
	p.Status, _ = content["status"].(map[string]any)
	switch seconds := content["resyncAfterSeconds"].(type) {
	case int64:
		p.Resync = time.Duration(seconds) * time.Second
	case float64:
		p.Resync = time.Duration(seconds * float64(time.Second))
	}
	children, _ := content["children"].([]any)
	for _, child := range children {
		if fields, ok := child.(map[string]any); ok {
			object := &unstructured.Unstructured{Object: fields}
			if object.GetNamespace() == "" {
				object.SetNamespace(namespace)
			}
			p.Children = append(p.Children, object)
		}
	}
	return p
}

// part is an entry of a list in a status that tells of one part of the custom resource: of the list
// components one that has a component, and the name of its objects.
type part struct{ kind, key, name, message string }

// partsOf returns the parts in a status, in their order.
func partsOf(status map[string]any) []part {
	var parts []part
	for _, list := range sortedKeys(status) {
		items, _ := status[list].([]any)
		for _, item := range items {
			fields, _ := item.(map[string]any)
			text := func(name string) string { value, _ := fields[name].(string); return value }
			kind := strings.TrimSuffix(list, "s")
			if p := (part{kind, text(kind), text("name"), text("message")}); p.key != "" {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// newestIn returns the newest time in an object.
func newestIn(value any) (newest time.Time) {
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			newest = later(newest, newestIn(member))
		}
	case []any:
		for _, item := range value {
			newest = later(newest, newestIn(item))
		}
	case string:
		if len(value) >= len(time.DateTime) && value[10] == 'T' {
			newest, _ = time.Parse(time.RFC3339, value)
		}
	}
	return newest
}
