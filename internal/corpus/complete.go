package corpus

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Complete returns the request that Metacontroller would send for a request
// that was written by hand: a bare parent, or a request without its empty
// parts. Every declared kind gets its key under children and related, but for one that
// only informs and is null: the customize hook did not select it. Finalizing is set as the
// hook requires.
func Complete(c metacontroller.Controller, hook metacontroller.HookName, body []byte) ([]byte, error) {
	request := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("neither a request nor a %s: %w", c.Parent.Kind, err)
	}
	if _, ok := request["parent"]; !ok {
		request = map[string]json.RawMessage{"parent": body}
	}
	if hook == metacontroller.CustomizeHook {
		delete(request, "children")
		delete(request, "related")
		delete(request, "finalizing")
		return json.Marshal(request)
	}
	declared := make([]metacontroller.Resource, len(c.Children))
	for i, child := range c.Children {
		declared[i] = child.Resource
	}
	var err error
	if request["children"], err = withKinds(request["children"], declared); err != nil {
		return nil, fmt.Errorf("children: %w", err)
	}
	var related, unselected []metacontroller.Resource
	for _, kind := range c.Related {
		related = append(related, kind.Resource)
		if kind.Informs {
			unselected = append(unselected, kind.Resource)
		}
	}
	if request["related"], err = withKinds(request["related"], related, unselected...); err != nil {
		return nil, fmt.Errorf("related: %w", err)
	}
	request["finalizing"] = fmt.Appendf(nil, "%t", hook == metacontroller.FinalizeHook)
	return json.Marshal(request)
}

// withKinds adds an empty member for each kind that a map of objects by kind
// does not have. Some kinds are left out where they are null.
func withKinds(raw json.RawMessage, kinds []metacontroller.Resource, mayBeNull ...metacontroller.Resource) (json.RawMessage, error) {
	byKind := map[string]json.RawMessage{}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &byKind); err != nil {
			return nil, err
		}
	}
	for _, kind := range kinds {
		objects, isThere := byKind[kind.Key()]
		switch isNull := string(objects) == "null"; {
		case isNull && slices.Contains(mayBeNull, kind):
			delete(byKind, kind.Key())
		case isNull || !isThere:
			byKind[kind.Key()] = json.RawMessage("{}")
		}
	}
	return json.Marshal(byKind)
}
