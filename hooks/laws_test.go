package hooks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/metacontroller"
)

// laws hold for every answered case and every sample, whatever the kind.
var laws = []struct {
	name  string
	check func(t *testing.T, e exchange, answer metacontroller.Answer)
}{
	{"the same bytes every time", sameBytes},
	{"both hook versions give the same answer", bothVersions},
	{"children say only what is meant", childrenAreCanonical},
	{"children can be watched", childrenAreDeclared},
	{"a damaged request is never answered", damagedIsRefused},
	{"what is damaged stops and disorders no teardown", damagedStopsNoTeardown},
	{"a missing child drops no other", missingDropsNoOther},
	{"names that others may have are looked up", contestedNamesAreSelected},
}

func TestLaws(t *testing.T) {
	answered := 0
	for _, e := range append(cases(t), samples(t)...) {
		answer, err := e.call()
		if err != nil {
			continue // a case of an error, which TestGolden holds to its text
		}
		answered++
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, law := range laws {
				t.Run(law.name, func(t *testing.T) { law.check(t, e, answer) })
			}
		})
	}
	require.Positive(t, answered)
}

// sameBytes repeats the request, sometimes in another order. Go begins to range
// over a map of two at one of eight places, so that its order changes once in
// eight times: thirty repetitions miss it once in fifty, and hardly ever in two
// cases. The fifteen of the inner loop miss it once in seven, and hardly ever in
// five cases.
func sameBytes(t *testing.T, e exchange, answer metacontroller.Answer) {
	random := rand.New(rand.NewPCG(1, 2))
	repetitions, shuffles := 30, 6
	switch {
	case thorough():
		repetitions, shuffles = 100, 50
	case inner():
		repetitions, shuffles = 15, 3
	}
	for i := range repetitions {
		again := e
		if i < shuffles {
			again.request = shuffled(t, e.request, random)
		}
		next, err := again.call()
		require.NoError(t, err)
		require.Equal(t, string(answer.Body), string(next.Body))
	}
}

// shuffled returns the same JSON with the members of every object in a random
// order.
func shuffled(t testing.TB, raw []byte, random *rand.Rand) []byte {
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case raw[0] == '{' && json.Unmarshal(raw, &object) == nil:
		keys := make([]string, 0, len(object))
		for key := range object {
			keys = append(keys, key)
		}
		slices.Sort(keys) // for the seed to decide
		random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		members := make([][]byte, len(keys))
		for i, key := range keys {
			members[i] = fmt.Appendf(nil, "%q: %s", key, shuffled(t, object[key], random))
		}
		return slices.Concat([]byte("{"), bytes.Join(members, []byte(", ")), []byte("}"))
	case raw[0] == '[' && json.Unmarshal(raw, &list) == nil:
		items := make([][]byte, len(list))
		for i, item := range list {
			items[i] = shuffled(t, item, random)
		}
		return slices.Concat([]byte("["), bytes.Join(items, []byte(",\n")), []byte("]"))
	default:
		return raw
	}
}

func bothVersions(t *testing.T, e exchange, answer metacontroller.Answer) {
	request := parsed(t, e.request)
	children, _ := request["children"].(map[string]any)
	for kind, group := range children {
		byName := map[string]any{}
		for key, child := range group.(map[string]any) {
			_, name, found := strings.Cut(key, "/")
			if !found {
				name = "default/" + key
			}
			byName[name] = child
		}
		children[kind] = byName
	}
	e.request = encoded(t, request)
	other, err := e.call()
	require.NoError(t, err)
	require.Equal(t, string(answer.Body), string(other.Body))
}

// emptyIsMeant are the members of which the presence of an empty object says
// something.
var emptyIsMeant = []string{"emptyDir", "securityContext"}

func childrenAreCanonical(t *testing.T, _ exchange, answer metacontroller.Answer) {
	for i, child := range childrenOf(t, answer.Body) {
		if answer.Children[i].Kept {
			continue
		}
		require.NotContains(t, child, "status", refOf(child))
		require.NotEmpty(t, annotationsOf(child)[metacontroller.HashAnnotation], refOf(child))
		requireMeant(t, refOf(child), "", child)
	}
}

func requireMeant(t *testing.T, path, key string, value any) {
	require.NotNil(t, value, path)
	switch value := value.(type) {
	case map[string]any:
		require.True(t, len(value) > 0 || slices.Contains(emptyIsMeant, key), "%s is an empty object", path)
		for name, member := range value {
			require.NotEqual(t, "creationTimestamp", name, path)
			requireMeant(t, path+"."+name, name, member)
		}
	case []any:
		require.NotEmpty(t, value, "%s is an empty list", path)
		for i, item := range value {
			requireMeant(t, fmt.Sprintf("%s[%d]", path, i), "", item)
		}
	}
}

func childrenAreDeclared(t *testing.T, e exchange, answer metacontroller.Answer) {
	for _, child := range answer.Children {
		declared := slices.ContainsFunc(e.controller.Children, func(c metacontroller.Child) bool {
			return c.APIVersion == child.APIVersion && c.Kind == child.Kind
		})
		require.True(t, declared, "%s is not declared", child.Kind)
		problems := validation.IsDNS1123Subdomain(child.Name)
		switch child.Kind {
		case "Service":
			problems = validation.IsDNS1035Label(child.Name)
		case "Pod", "Job", "Deployment", "StatefulSet", "DaemonSet":
			problems = validation.IsDNS1123Label(child.Name) // it ends up in a label or a host name
		}
		require.Empty(t, problems, "%s/%s", child.Kind, child.Name)
	}
}

func damagedIsRefused(t *testing.T, e exchange, _ metacontroller.Answer) {
	refuse := func(how string, request []byte) {
		damaged := e
		damaged.request = request
		answer, err := damaged.call()
		require.Error(t, err, how)
		require.True(t, metacontroller.IsRequestError(err), "%s: %s", how, err)
		require.Nil(t, answer.Body, how)
		require.NotContains(t, err.Error(), "\n", how)
	}
	cuts := 40
	switch {
	case thorough():
		cuts = 200
	case inner():
		cuts = 15
	}
	for cut := 0; cut < len(e.request); cut += 1 + len(e.request)/cuts {
		refuse(fmt.Sprintf("cut after %d bytes", cut), e.request[:cut])
	}
	refuse("trailing bytes", append(slices.Clone(e.request), '}'))
	for _, body := range []string{"null", "{}", "[]", `""`, "1", `{"parent":null}`, `{"parent":[]}`} {
		refuse(body, []byte(body))
	}
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		for _, value := range []any{nil, 1.0, "other", []any{}, map[string]any{}} {
			refuse(fmt.Sprintf("parent.%s is %v", field, value), changed(t, e, func(request map[string]any) {
				request["parent"].(map[string]any)[field] = value
			}))
		}
	}
	if e.hook == metacontroller.CustomizeHook {
		return
	}
	for _, value := range []any{nil, 1.0, "", []any{}, map[string]any{}} {
		refuse(fmt.Sprintf("children is %v", value), changed(t, e, func(request map[string]any) {
			request["children"] = value
		}))
	}
	for _, field := range []string{"children", "related"} {
		groups, _ := parsed(t, e.request)[field].(map[string]any)
		for kind, group := range groups {
			for _, value := range []any{nil, 1.0, "", []any{}} {
				refuse(fmt.Sprintf("%s[%s] is %v", field, kind, value), changed(t, e, func(request map[string]any) {
					request[field].(map[string]any)[kind] = value
				}))
			}
			for key := range group.(map[string]any) {
				if inner() && !sampled(e.name+field+kind+key, 2) {
					continue
				}
				damageObject(t, e, []string{field, kind, key}, refuse)
			}
		}
	}
}

// damagedFields returns the members of an object without which it is not
// understood: those that tell which it is, and but for a teardown others, too.
func damagedFields(e exchange, identity ...string) []string {
	if e.hook == metacontroller.FinalizeHook {
		return identity
	}
	return append(identity, "spec", "status")
}

// damagedMetadata does the same for the members of its metadata.
func damagedMetadata(e exchange, identity ...string) []string {
	if e.hook == metacontroller.FinalizeHook {
		return identity
	}
	return append(identity, "labels", "annotations")
}

// damageObject damages a child or a related object.
func damageObject(t *testing.T, e exchange, path []string, refuse func(how string, request []byte)) {
	name := strings.Join(path, " ")
	within := func(request map[string]any) map[string]any {
		return request[path[0]].(map[string]any)[path[1]].(map[string]any)
	}
	for _, value := range []any{nil, 1.0, "", []any{}, map[string]any{}} {
		refuse(fmt.Sprintf("%s is %v", name, value), changed(t, e, func(request map[string]any) {
			within(request)[path[2]] = value
		}))
	}
	for _, field := range damagedFields(e, "apiVersion", "kind", "metadata") {
		refuse(fmt.Sprintf("%s: %s is damaged", name, field), changed(t, e, func(request map[string]any) {
			within(request)[path[2]].(map[string]any)[field] = "damaged"
		}))
	}
	for _, field := range damagedMetadata(e, "name", "namespace") {
		refuse(fmt.Sprintf("%s: metadata.%s is damaged", name, field), changed(t, e, func(request map[string]any) {
			within(request)[path[2]].(map[string]any)["metadata"].(map[string]any)[field] = 42
		}))
	}
}

// missingDropsNoOther: a child that is not observed drops no other, but for a
// ServiceAccount, with which goes what is allowed to it by its name.
func missingDropsNoOther(t *testing.T, e exchange, answer metacontroller.Answer) {
	if e.hook == metacontroller.CustomizeHook {
		return
	}
	answered := func(answer metacontroller.Answer) map[string]bool {
		refs := map[string]bool{}
		for _, child := range childrenOf(t, answer.Body) {
			refs[refOf(child)] = true
		}
		return refs
	}
	before := answered(answer)
	observed := parsed(t, e.request)["children"].(map[string]any)
	for kind, group := range observed {
		for key := range group.(map[string]any) {
			without := e
			without.request = changed(t, e, func(request map[string]any) {
				delete(request["children"].(map[string]any)[kind].(map[string]any), key)
			})
			next, err := without.call()
			require.NoError(t, err)
			after := answered(next)
			for otherKind, others := range observed {
				if kind == "ServiceAccount.v1" && strings.HasSuffix(otherKind, "."+rbacv1.SchemeGroupVersion.String()) {
					continue
				}
				for otherKey, other := range others.(map[string]any) {
					ref := refOf(other.(map[string]any))
					if otherKind+otherKey != kind+key && before[ref] {
						require.True(t, after[ref], "without %s %s, %s is dropped", kind, key, ref)
					}
				}
			}
		}
	}
}

// contestedNamesAreSelected: what another controller may have is selected by the
// customize hook, or nothing would tell that it has it.
func contestedNamesAreSelected(t *testing.T, e exchange, answer metacontroller.Answer) {
	if e.hook != metacontroller.SyncHook {
		return
	}
	for _, child := range answer.Children {
		for _, declared := range e.controller.Children {
			if !declared.Contested || declared.Kind != child.Kind || child.Kept {
				continue
			}
			selected := slices.ContainsFunc(rulesOf(t, e), func(rule metacontroller.Rule) bool {
				return rule.Resource == declared.Plural && rule.APIVersion == declared.APIVersion && slices.Contains(rule.Names, child.Name)
			})
			require.True(t, selected, "no rule selects %s/%s", child.Kind, child.Name)
		}
	}
}

// rulesOf returns what the customize hook selects for the parent of a request.
func rulesOf(t *testing.T, e exchange) []metacontroller.Rule {
	e.hook, e.request = metacontroller.CustomizeHook, encoded(t, map[string]any{"parent": parsed(t, e.request)["parent"]})
	answer, err := e.call()
	require.NoError(t, err)
	var rules struct{ RelatedResources []metacontroller.Rule }
	require.NoError(t, json.Unmarshal(answer.Body, &rules))
	return rules.RelatedResources
}
