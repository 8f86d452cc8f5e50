package metacontroller

import (
	"encoding/json"
	"fmt"
)

// Complete returns the request that Metacontroller would send for a request
// that was written by hand: a bare parent, or a request without its empty
// parts. Every declared kind gets its key under children and related, and
// finalizing is set as the hook requires.
func (c Controller) Complete(hook HookName, body []byte) ([]byte, error) {
	request := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, badRequest("neither a request nor a %s: %s", c.Parent.Kind, err)
	}
	if _, ok := request["parent"]; !ok {
		request = map[string]json.RawMessage{"parent": body}
	}
	if hook == CustomizeHook {
		delete(request, "children")
		delete(request, "related")
		delete(request, "finalizing")
		return json.Marshal(request)
	}
	declared := make([]Resource, len(c.Children))
	for i, child := range c.Children {
		declared[i] = child.Resource
	}
	var err error
	if request["children"], err = withKinds(request["children"], declared); err != nil {
		return nil, badRequest("children: %s", err)
	}
	if request["related"], err = withKinds(request["related"], c.Related); err != nil {
		return nil, badRequest("related: %s", err)
	}
	request["finalizing"] = fmt.Appendf(nil, "%t", hook == FinalizeHook)
	return json.Marshal(request)
}

// withKinds adds an empty member for each kind that a map of objects by kind
// does not have.
func withKinds(raw json.RawMessage, kinds []Resource) (json.RawMessage, error) {
	byKind := map[string]json.RawMessage{}
	if !isNull(raw) {
		if err := json.Unmarshal(raw, &byKind); err != nil {
			return nil, err
		}
	}
	for _, kind := range kinds {
		if isNull(byKind[kind.Key()]) {
			byKind[kind.Key()] = json.RawMessage("{}")
		}
	}
	return json.Marshal(byKind)
}
