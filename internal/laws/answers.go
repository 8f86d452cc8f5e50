package laws

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

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Law is a property of every answered case and every sample, of every kind.
type Law struct {
	// Name is the property.
	Name string
	// Check fails the test if it does not hold for the answer to the case.
	Check func(t *testing.T, c corpus.Case, answer metacontroller.Answer)
	// Remedy says what to do where it does not hold.
	Remedy string
}

// OfAnswers returns the laws of answers.
func OfAnswers() []Law {
	return []Law{
		{"the same bytes every time", sameBytes,
			"do not range over a map into a list: sort its keys; read no clock but request.Now"},
		{"both hook versions give the same answer", bothVersions,
			"find children with metacontroller.Get and List, not by the keys of the request"},
		{"the API server takes the names of children", namesAreTaken,
			"make the name with operator.JoinName, or refuse such a parent's name by a rule of the CRD"},
		{"what is damaged stops and disorders no teardown", damagedStopsNoTeardown,
			"decode in finalize no more than the teardown needs, with metacontroller.ListReadable"},
		{"a missing child drops no other", missingDropsNoOther,
			"ask for each child whether or not others are observed; one that has to wait stays once it is observed"},
		{"an edit of one child costs no other", editOfOneCostsNoOther,
			"decode of a child only what the answer needs; what is kept, keep with metacontroller.Keep"},
		{"a lost status changes nothing that is asked for", lostStatus,
			"rely on what the status says only once a request shows it: see docs/authors.md. If this may depend on history, name the child by what it depends on"},
		{"hostile texts stay in their place", hostileTexts,
			"pass on texts of observed objects in messages of conditions only, and as their reasons only words of your own"},
		{"names that others may have are looked up", contestedNamesAreSelected,
			"select the object by metacontroller.ByName in the customize hook"},
		{"blocked children are not asked for at each event", blockedIsNotAskedForAtEachEvent,
			"end the sync with operator.Answer, which holds back what the API server refuses"},
	}
}

// sameBytes repeats the request, sometimes in another order. Go starts to range
// over a map of two at one of eight places, so that the order changes once in
// eight times: thirty repetitions miss that once in fifty cases. The eight of
// the inner loop miss it once in three, and hardly ever in ten cases.
func sameBytes(t *testing.T, e corpus.Case, answer metacontroller.Answer) {
	random := rand.New(rand.NewPCG(1, 2))
	repetitions, shuffles := 30, 6
	switch {
	case testenv.Thorough():
		repetitions, shuffles = 100, 50
	case testenv.Inner():
		repetitions, shuffles = 8, 2
	}
	for i := range repetitions {
		again := e
		if i < shuffles {
			again.Request = shuffled(t, e.Request, random)
		}
		next, err := again.Call()
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

func bothVersions(t *testing.T, e corpus.Case, answer metacontroller.Answer) {
	request := Parsed(t, e.Request)
	if namespaceOf(request) == "" {
		return // keys have the namespace in both
	}
	children, _ := request["children"].(map[string]any)
	for kind, group := range children {
		byName := map[string]any{}
		for key, child := range group.(map[string]any) {
			_, name, found := strings.Cut(key, "/")
			if !found {
				name = keyOf(request, child.(map[string]any))
			}
			byName[name] = child
		}
		children[kind] = byName
	}
	e.Request = Encoded(t, request)
	other, err := e.Call()
	require.NoError(t, err)
	require.Equal(t, string(answer.Body), string(other.Body))
}

// namesAreTaken: package metacontroller checks that each child is of a declared
// kind and has a DNS name. The API server requires more of some kinds.
func namesAreTaken(t *testing.T, _ corpus.Case, answer metacontroller.Answer) {
	for _, child := range answer.Children {
		var problems []string
		switch child.Kind {
		case "Service":
			problems = validation.IsDNS1035Label(child.Name)
		case "Pod", "Job", "Deployment", "StatefulSet", "DaemonSet":
			problems = validation.IsDNS1123Label(child.Name) // it ends up in a label or a host name
		}
		require.Empty(t, problems, "%s/%s", child.Kind, child.Name)
	}
}

// missingDropsNoOther: a child that is not observed removes no other from the
// answer, except that a ServiceAccount takes along the rights that it has by
// name.
func missingDropsNoOther(t *testing.T, e corpus.Case, answer metacontroller.Answer) {
	if e.Hook == metacontroller.CustomizeHook {
		return
	}
	before := refsOf(ChildrenOf(t, answer.Body))
	observed := Parsed(t, e.Request)["children"].(map[string]any)
	for kind, group := range observed {
		for key := range group.(map[string]any) {
			without := e
			without.Request = changed(t, e, func(request map[string]any) {
				delete(request["children"].(map[string]any)[kind].(map[string]any), key)
			})
			next, err := without.Call()
			require.NoError(t, err)
			after := refsOf(ChildrenOf(t, next.Body))
			for otherKind, others := range observed {
				if kind == "ServiceAccount.v1" && strings.HasSuffix(otherKind, "."+rbacv1.SchemeGroupVersion.String()) {
					continue
				}
				for otherKey, other := range others.(map[string]any) {
					ref := corpus.Ref(other.(map[string]any))
					if otherKind+otherKey != kind+key && before[ref] {
						require.True(t, after[ref], "without %s %s, %s is dropped", kind, key, ref)
					}
				}
			}
		}
	}
}

// contestedNamesAreSelected: objects that another controller may own are
// selected by the customize hook, because only then the request shows that.
func contestedNamesAreSelected(t *testing.T, e corpus.Case, answer metacontroller.Answer) {
	if e.Hook != metacontroller.SyncHook {
		return
	}
	for _, child := range answer.Children {
		for _, declared := range e.Controller.Children {
			if !declared.SharedName || declared.Kind != child.Kind || child.Kept {
				continue
			}
			selected := slices.ContainsFunc(rulesOf(t, e), func(rule metacontroller.Rule) bool {
				return rule.Resource == declared.Plural && rule.APIVersion == declared.APIVersion && slices.Contains(rule.Names, child.Name)
			})
			require.True(t, selected, "no rule selects %s/%s", child.Kind, child.Name)
		}
	}
}

// rulesOf returns the rules of the customize hook for the parent of a request.
func rulesOf(t *testing.T, e corpus.Case) []metacontroller.Rule {
	e.Hook, e.Request = metacontroller.CustomizeHook, Encoded(t, map[string]any{"parent": Parsed(t, e.Request)["parent"]})
	return rulesIn(t, e, e.Name)
}
