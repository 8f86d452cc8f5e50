package operettatest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Sets of hooks that an invariant is about.
var (
	anyHook    = []metacontroller.HookName{metacontroller.SyncHook, metacontroller.FinalizeHook, metacontroller.CustomizeHook}
	ofAnswers  = anyHook[:2]
	ofSync     = anyHook[:1]
	ofTeardown = anyHook[1:2]
)

// invariantsOfAnswers are properties of every answered case and every sample, of every kind.
var invariantsOfAnswers = []struct {
	name   string
	hooks  []metacontroller.HookName
	check  func(k kind, t *testing.T, c corpus.Case, answer metacontroller.Answer)
	remedy string // what to do where it does not hold
}{
	{"the same bytes every time", anyHook, kind.sameBytes,
		"do not range over a map into a list: sort its keys; read no clock but request.Now"},
	{"both hook versions give the same answer", ofAnswers, kind.bothVersions,
		"find children with metacontroller.Get and List, not by the keys of the request"},
	{"the API server takes the names of children", ofAnswers, kind.namesAreTaken,
		"make the name with operator.JoinName, or refuse such a parent's name by a rule of the CRD"},
	{"what is damaged stops and disorders no teardown", ofTeardown, kind.damagedStopsNoTeardown,
		"decode in finalize no more than the teardown needs, with metacontroller.ListReadable"},
	{"a missing child drops no other", ofAnswers, kind.missingDropsNoOther,
		"ask for each child whether or not others are observed; one that has to wait stays once it is observed"},
	{"an edit of one child costs no other", ofSync, kind.editOfOneCostsNoOther,
		"decode of a child only what the answer needs; what is kept, keep with metacontroller.Keep"},
	{"a lost status changes nothing that is asked for", ofSync, kind.lostStatus, ""},
	{"the status waits for no observedGeneration of its own", ofSync, kind.awaitsNoGeneration,
		"status.observedGeneration is Metacontroller's, which writes it along with this answer and does not call again:" +
			" judge by what the children say of theirs"},
	{"what waits for the status is asked for", ofAnswers, kind.shownStatus,
		"a status that is written causes no request: set Result.ResyncAfter where the hook goes on once a request shows it"},
	{"hostile texts stay in their place", ofAnswers, kind.hostileTexts,
		"pass on texts of observed objects in messages of conditions only, and as their reasons only words of your own"},
	{"what only informs decides no child", ofSync, kind.informingDecidesNoChild,
		"compute children from the parent and the observed children alone; where they need a related object, leave out Related.Informs"},
	{"names that others may have are looked up", ofSync, kind.contestedNamesAreSelected,
		"select the object by metacontroller.ByName in the customize hook"},
	{"blocked children are not asked for at each event", ofSync, kind.blockedIsNotAskedForAtEachEvent,
		"end the sync with operator.Answer, which asks for what the API server refuses with pauses"},
}

// sameBytes repeats the request. Go starts to range over a map of two at one of eight places,
// so that the order changes once in eight times: thirty repetitions miss that once in fifty
// cases. The eight of the inner loop miss it once in three, and hardly ever in ten cases.
func (kind) sameBytes(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	repetitions := 30
	switch {
	case testenv.Thorough():
		repetitions = 100
	case testenv.Inner():
		repetitions = 8
	}
	for range repetitions {
		next, err := c.Call()
		require.NoError(t, err)
		require.Equal(t, string(answer.Body), string(next.Body))
	}
}

func (kind) bothVersions(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	request := parsed(t, c.Request)
	if namespaceOf(request) == "" {
		return // keys have the namespace in both
	}
	groups := request["children"].(object)
	for kind, group := range groups {
		byName := object{}
		for key, child := range group.(object) {
			_, name, found := strings.Cut(key, "/")
			if !found {
				name = keyOf(request, child.(object))
			}
			byName[name] = child
		}
		groups[kind] = byName
	}
	c.Request = encoded(t, request)
	other, err := c.Call()
	require.NoError(t, err)
	require.Equal(t, string(answer.Body), string(other.Body))
}

// namesAreTaken: package metacontroller checks that each child is of a declared
// kind and has a DNS name. The API server requires more of some kinds.
func (kind) namesAreTaken(t *testing.T, _ corpus.Case, answer metacontroller.Answer) {
	for _, child := range answer.Children {
		var problems []string
		switch child.Kind {
		case "Service":
			problems = validation.IsDNS1035Label(child.Name)
		case "Pod", "Job", "StatefulSet", "DaemonSet":
			problems = validation.IsDNS1123Label(child.Name) // it ends up in a label or a host name; a Deployment's may have dots
		}
		require.Empty(t, problems, "%s/%s", child.Kind, child.Name)
	}
}

// contestedNamesAreSelected: objects that another controller may own are
// selected by the customize hook, because only then the request shows that.
func (k kind) contestedNamesAreSelected(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	for _, child := range answer.Children {
		declared, _ := k.Child(child.APIVersion, child.Kind)
		if !declared.SharedName || child.Kept {
			continue
		}
		parent := parsed(t, c.Request)["parent"].(object)
		delete(parent, "status") // which may say that the child is there
		asked := c
		asked.Hook, asked.Request = metacontroller.CustomizeHook, encoded(t, object{"parent": parent})
		selected := slices.ContainsFunc(rulesOf(t, asked, c.Name), func(rule metacontroller.Rule) bool {
			return rule.Resource == declared.Plural && rule.APIVersion == declared.APIVersion && slices.Contains(rule.Names, child.Name)
		})
		require.True(t, selected, "no rule selects %s/%s", child.Kind, child.Name)
	}
}
