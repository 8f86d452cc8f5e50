package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// forPeople are the fields that no hook is to read.
var forPeople = []string{"Build spec.results[].description"}

// forTheHash are the fields that are there to make another child of what is else the same.
var forTheHash = []string{"Build spec.runId"}

// TestEachFieldReachesAnAnswer takes each field of each spec away where a case sets it, or gives it
// another value that the CRD admits: in some case the children or the status become others. A field
// that nothing reads fails, and one that no case sets.
//
// The rest of the request stays, its generation too: observedGeneration is the same in both answers.
// The names of Jobs and labels of Pods contain a hash of the spec, and so does the annotation of
// each child: one hash counts as any other. What is more, a Job of another hash is answered
// otherwise, whatever the field is for. So a request is tried first without its status and without
// children that are never updated, and a field that changes no more than a hash there has failed.
func TestEachFieldReachesAnAnswer(t *testing.T) {
	for _, controller := range hooks.All() {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		t.Run(controller.Name(), func(t *testing.T) {
			t.Parallel()
			spec, isThere := controller.ParentType().FieldByName("Spec")
			require.True(t, isThere)
			fields := fieldsSet{}
			fields.add(spec.Type, "spec", specsOf(t, controller))
			require.NotEmpty(t, fields)
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				if failure := reaches(controller.Parent.Kind+" "+name, fields[name]); failure != "" {
					t.Errorf("%s of %s %s", name, controller.Parent.Kind, failure)
				}
			}
		})
	}
}

// reachCase is a case with its answers, each of which is asked for once.
type reachCase struct {
	corpus.Case

	// requests are the one without what has hashes, and the whole one.
	requests [2]object
	answers  [2]string

	schema *crd.Schema
}

// ask returns an answer, or why there is none. That a teardown is lenient is no answer.
func (c *reachCase) ask(request object) (string, error) {
	if c.Hook == metacontroller.FinalizeHook {
		if wrong := c.schema.Validate(context.Background(), request["parent"].(object)); len(wrong) > 0 {
			return "", wrong.ToAggregate()
		}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	answer, err := c.Controller.Call(c.Hook, c.Now, body)
	return string(answer.Body), err
}

// specsOf returns the specs in the cases.
func specsOf(t *testing.T, controller metacontroller.Controller) (specs []place) {
	read, err := corpus.ReadKind("../testdata", controller)
	require.NoError(t, err)
	schema := schemaOf(t, controller)
	for _, one := range read {
		if one.Hook == metacontroller.CustomizeHook {
			continue // which answers with neither children nor a status
		}
		c := &reachCase{Case: one, requests: [2]object{parsed(t, one.Request), parsed(t, one.Request)}, schema: schema}
		delete(c.requests[0]["parent"].(object), "status")
		for _, child := range controller.Children {
			if child.Update == metacontroller.OnDelete {
				clear(c.requests[0]["children"].(object)[child.Key()].(object))
			}
		}
		specs = append(specs, place{c, []any{"parent", "spec"}, c.requests[1]["parent"].(object)["spec"]})
	}
	return specs
}

// reaches says why a field reaches no answer, or nothing.
func reaches(field string, places []place) string {
	if len(places) == 0 {
		return "is set in no case: write one"
	}
	tries := tries{places: places}
	isReached := tries.differ(0) || (tries.hashed == "" || slices.Contains(forTheHash, field)) && tries.differ(1)
	switch isForPeople := slices.Contains(forPeople, field); {
	case isReached && isForPeople:
		return "is read: remove it from forPeople"
	case isReached || isForPeople:
		return ""
	case tries.hashed != "":
		return fmt.Sprintf("changes nothing in an answer but a hash, as in %s: use it in the hook, or remove it", tries.hashed)
	case tries.same != "":
		return fmt.Sprintf("changes no answer, as in %s: use it in the hook, or write a case in which it counts", tries.same)
	}
	return fmt.Sprintf("can be neither left out nor changed, as in %s (%v): write a case in which it can", places[0].Name, tries.refused)
}

// tries are what came of changing a field.
type tries struct {
	places []place
	// hashed is a case whose answer differed by a hash alone, and same one whose answer did not
	// differ. refused is why one was not answered.
	hashed, same string
	refused      error
}

// someHash is one in the name of a Job, and one in a label.
var someHash = regexp.MustCompile(`\b[0-9a-f]{10}([0-9a-f]{6})?\b`)

// differ reports whether an answer to one of the two requests is another without the field, or with
// another value of it.
func (t *tries) differ(which int) bool {
	for _, p := range t.places {
		if p.answers[which] == "" {
			if p.answers[which], t.refused = p.ask(p.requests[which]); t.refused != nil {
				continue
			}
		}
		before := p.answers[which]
		for _, other := range t.others(p.value) {
			after, err := p.ask(replaced(p.requests[which], p.path, other).(object))
			switch {
			case err != nil:
				t.refused = err
			case someHash.ReplaceAllString(after, "") != someHash.ReplaceAllString(before, ""):
				return true
			case after != before:
				t.hashed = p.Name
			default:
				t.same = p.Name
			}
		}
	}
	return false
}

// others returns what a value may be replaced by: nothing, a neighbour, or what another case has.
func (t *tries) others(value any) []any {
	list := append([]any{nil}, neighbours(value)...)
	for _, p := range t.places {
		if isKnown := func(o any) bool { return reflect.DeepEqual(o, p.value) }; !isKnown(value) && !slices.ContainsFunc(list, isKnown) {
			list = append(list, p.value)
		}
	}
	return list
}

// neighbours returns values like one, of which the CRD may admit some.
func neighbours(value any) (list []any) {
	within := func(key, entry any) {
		for _, other := range append(neighbours(entry), nil) {
			list = append(list, replaced(value, []any{key}, other))
		}
	}
	switch value := value.(type) {
	case string:
		return []any{value + "x", "1" + value}
	case int64:
		return []any{value + 1, value - 1}
	case bool:
		return []any{!value}
	case object:
		for name, member := range value {
			within(name, member)
		}
	case []any:
		for i, entry := range value {
			within(i, entry)
		}
	}
	return list
}

// replaced returns a copy of a JSON value with another one at a place, or without it where that is nil.
func replaced(at any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch at := at.(type) {
	case object:
		name := path[0].(string)
		changed := with(at, name, replaced(at[name], path[1:], value))
		if changed[name] == nil {
			delete(changed, name)
		}
		return changed
	default:
		i := path[0].(int)
		changed := slices.Clone(at.([]any))
		if changed[i] = replaced(changed[i], path[1:], value); changed[i] == nil {
			return slices.Delete(changed, i, i+1)
		}
		return changed
	}
}
