package hooks_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestEachOperatorHasItsCRD fails for an operator that validates nothing.
func TestEachOperatorHasItsCRD(t *testing.T) {
	for _, controller := range hooks.All() {
		require.NotNil(t, controller.CRD, controller.Name())
		require.NoError(t, controller.LoadCRD())
		var definition struct {
			Spec struct {
				Group string
				Names struct{ Kind, Plural string }
			}
		}
		require.NoError(t, yaml.Unmarshal(controller.CRD.Text(), &definition))
		require.Equal(t, controller.Parent.Group(), definition.Spec.Group)
		require.Equal(t, controller.Parent.Kind, definition.Spec.Names.Kind)
		require.Equal(t, controller.Parent.Plural, definition.Spec.Names.Plural)
	}
}

// edge is the server that serve runs, without a network.
type edge struct {
	*testing.T

	handler http.Handler
}

func newEdge(t *testing.T) edge {
	return edge{t, server.New(server.Options{
		Controllers: hooks.All(), Now: func() time.Time { return corpus.StandardNow }, Log: slog.New(slog.DiscardHandler),
		MaxBodyBytes: server.DefaultMaxBodyBytes, MaxInFlight: server.DefaultMaxInFlight(),
	}).Hooks()}
}

// refuse posts a request and wants a 400 of one short line.
func (e edge) refuse(controller metacontroller.Controller, hook metacontroller.HookName, request []byte, what any) string {
	recorder := httptest.NewRecorder()
	path := "/" + controller.Name() + "/" + string(hook)
	e.handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(request)))
	body := recorder.Body.String()
	require.Equal(e, http.StatusBadRequest, recorder.Code, "%v: %s", what, body)
	require.Less(e, len(body), 2000)
	require.NotContains(e, strings.TrimSpace(body), "\n")
	return body
}

// withParents returns a function that refuses a case with another spec and name
// of the parent. The customize hook, where there is one, answers all the same.
// There are thousands of specs, so the request around them is encoded once.
func (e edge) withParents(x corpus.Case) func(what any, name string, spec any) string {
	const here = `"the spec stands here"`
	request := parsed(e, x.Request)
	parent := request["parent"].(map[string]any)
	parent["spec"] = json.RawMessage(here)
	parent["metadata"].(map[string]any)["name"] = "the-name-stands-here"
	whole, err := json.Marshal(request)
	require.NoError(e, err)
	bodies := map[metacontroller.HookName][]byte{metacontroller.SyncHook: whole}
	if slices.Contains(x.Controller.Hooks(), metacontroller.CustomizeHook) {
		alone, err := json.Marshal(map[string]any{"parent": parent})
		require.NoError(e, err)
		bodies[metacontroller.CustomizeHook] = alone
	}
	return func(what any, name string, spec any) (refusal string) {
		text, err := json.Marshal(spec)
		require.NoError(e, err)
		for hook, body := range bodies {
			body = bytes.Replace(body, []byte(here), text, 1)
			if spec == nil {
				body = bytes.Replace(body, []byte(`"spec":null,`), nil, 1)
			}
			body = bytes.Replace(body, []byte("the-name-stands-here"), []byte(name), 1)
			if hook == metacontroller.SyncHook {
				refusal = e.refuse(x.Controller, hook, body, what)
				continue
			}
			_, err = x.Controller.Call(hook, x.Now, body)
			require.NoError(e, err, what)
		}
		return refusal
	}
}

// peopled returns the case of each operator with the most observed children,
// which a wrong answer would delete.
func peopled(t *testing.T) []corpus.Case {
	most := map[string]corpus.Case{}
	counts := map[string]int{}
	for _, e := range cases(t) {
		answer, err := e.Call()
		if name := e.Controller.Name(); err == nil && e.Hook == metacontroller.SyncHook && answer.Observed > counts[name] {
			most[name], counts[name] = e, answer.Observed
		}
	}
	for _, controller := range hooks.All() {
		if testenv.Selected(controller.Name()) {
			require.Contains(t, most, controller.Name(), "the operator has no case with observed children")
		}
	}
	return slices.SortedFunc(maps.Values(most), func(a, b corpus.Case) int { return strings.Compare(a.Name, b.Name) })
}

// TestWhatTheSchemaRefusesIsRefused breaks every constraint of every CRD, one by
// one, and posts the parent with its children to the hooks; with -short, every
// tenth, and in the inner loop of all kinds every thirtieth.
func TestWhatTheSchemaRefusesIsRefused(t *testing.T) {
	for _, e := range peopled(t) {
		t.Run(e.Controller.Name(), func(t *testing.T) {
			t.Parallel()
			refuse := newEdge(t).withParents(e)
			schema := schemaOf(t, e.Controller)
			parent := parsed(t, e.Request)["parent"].(map[string]any)
			count := map[string]int{}
			var before []string // of the node of the last violation
			node := ""
			for i, v := range withinSpec(t, e.Controller, parent["spec"]) {
				if testing.Short() && i%10 > 0 || testenv.Inner() && i%30 > 0 {
					continue
				}
				if v.node != node || node == "" {
					before, node = fieldsOf(schema, parent, v.before), v.node
				}
				require.NotContains(t, before, v.path, "%s of %s: it is wrong before", v.constraint, v.path)
				if v.constraint != "format" { // the API server lets int32 be any integer; a hook does not
					require.Contains(t, fieldsOf(schema, parent, v.after), v.path, "%s of %s: nothing refuses it", v.constraint, v.path)
				}
				refuse(v.constraint+" of "+v.path, "parent", v.after)
				count[v.constraint]++
			}
			total := 0
			for _, constraint := range slices.Sorted(maps.Keys(count)) {
				total += count[constraint]
				t.Logf("%4d times %s", count[constraint], constraint)
			}
			t.Logf("%4d constraints", total)
			require.Positive(t, total)
		})
	}
}

// schemaOf returns the schema of an operator's CRD.
func schemaOf(t *testing.T, controller metacontroller.Controller) *crd.Schema {
	schema, err := controller.Schema()
	require.NoError(t, err)
	return schema
}

// parsed returns a JSON object in Go, with its integers.
func parsed(t testing.TB, text []byte) (object map[string]any) {
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(text, &object))
	return object
}

// fieldsOf returns the fields of which the API server would complain.
func fieldsOf(schema *crd.Schema, parent map[string]any, spec any) []string {
	text, _ := json.Marshal(map[string]any{
		"apiVersion": parent["apiVersion"], "kind": parent["kind"], "metadata": map[string]any{"name": "parent"}, "spec": spec,
	})
	var copied map[string]any
	_ = kjson.UnmarshalCaseSensitivePreserveInts(text, &copied)
	if spec == nil {
		delete(copied, "spec")
	}
	schema.Prune(copied)
	schema.Default(copied)
	var fields []string
	for _, err := range schema.Validate(context.Background(), copied) {
		if err.Type == field.ErrorTypeInvalid && !strings.Contains(err.Detail, " in body ") {
			continue // a rule, which is not what is broken here
		}
		fields = append(fields, err.Field)
	}
	return fields
}

// TestWhatARuleRefusesIsRefused breaks every rule of every CRD, but for those
// about a change, which no single request can break.
func TestWhatARuleRefusesIsRefused(t *testing.T) {
	for _, e := range peopled(t) {
		t.Run(e.Controller.Name(), func(t *testing.T) {
			refuse := newEdge(t).withParents(e)
			rules := rulesOf(t, e.Controller)
			messages, told := ruleMessages(t, e.Controller), map[string]bool{}
			for name, rule := range rules {
				isMessage := func(message string) bool { return strings.Contains(rule.Message, message) }
				if rule.Before != "" || !slices.ContainsFunc(messages, isMessage) {
					continue // a constraint of the schema, or a field that only kubectl refuses
				}
				var spec any
				require.NoError(t, yaml.Unmarshal([]byte(rule.Bad), &spec))
				require.Contains(t, refuse(name, cmp.Or(rule.BadName, "rule"), spec), rule.Message, name)
				told[rule.Message] = true
			}
			for _, message := range messages {
				require.True(t, told[message], "testdata/rules.yaml breaks no rule with the message %q", message)
			}
			t.Logf("%d rules", len(messages))
			require.NotEmpty(t, messages)
		})
	}
}

// ruleMessages returns the messages of all rules of a CRD that hold of a new
// object.
func ruleMessages(t *testing.T, controller metacontroller.Controller) []string {
	var messages []string
	for _, rule := range writtenRules(t, controller) {
		if !strings.Contains(rule.Rule, "oldSelf") {
			messages = append(messages, rule.Message)
		}
	}
	slices.Sort(messages)
	return slices.Compact(messages)
}

// writtenRule is a validation rule of a CRD.
type writtenRule struct{ Rule, Message string }

// writtenRules returns all rules of a CRD.
func writtenRules(t *testing.T, controller metacontroller.Controller) []writtenRule {
	var definition any
	require.NoError(t, yaml.Unmarshal(controller.CRD.Text(), &definition))
	var found []writtenRule
	var walk func(at any)
	walk = func(at any) {
		switch at := at.(type) {
		case map[string]any:
			rules, _ := at["x-kubernetes-validations"].([]any)
			for _, r := range rules {
				rule := r.(map[string]any)
				found = append(found, writtenRule{rule["rule"].(string), rule["message"].(string)})
			}
			for _, inner := range at {
				walk(inner)
			}
		case []any:
			for _, inner := range at {
				walk(inner)
			}
		}
	}
	walk(definition)
	return found
}
