package build_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

const (
	hashLabel          = "ci.zt.vapi.cc/hash"
	revisionAnnotation = "ci.zt.vapi.cc/revision"
	jobs, pods         = "Job.batch/v1", "Pod.v1"
)

// object is JSON that has been decoded.
type object = map[string]any

// golden is a case that is answered, and the answer to it.
type golden struct {
	operettatest.Case

	answer answered
}

// answered is what an answer says.
type answered struct {
	status   build.Status
	children []metacontroller.AnsweredChild
	body     string
}

// kept returns the names of the Jobs that stay.
func (a answered) kept() []string {
	var names []string
	for _, child := range a.children {
		if child.Kept {
			names = append(names, child.Name)
		}
	}
	return names
}

// made returns the names of the Jobs that are asked for.
func (a answered) made() []string {
	var names []string
	for _, child := range a.children {
		if !child.Kept {
			names = append(names, child.Name)
		}
	}
	return names
}

// results returns what the history tells of which build.
func (a answered) results() []string {
	var results []string
	for _, r := range a.status.History {
		results = append(results, r.Hash+" "+string(r.Result))
	}
	return results
}

// goldens returns the answered cases of the sync hook in which something is
// observed.
func goldens(t testing.TB) []golden {
	goldensOnce.Do(func() {
		for _, c := range operettatest.Cases(t, "../..", build.Controller()) {
			if c.Hook != metacontroller.SyncHook {
				continue
			}
			if a, err := ask(t, c, decoded(t, c)); err == nil {
				goldenList = append(goldenList, golden{c, a})
			}
		}
	})
	require.NotEmpty(t, goldenList)
	return goldenList
}

// goldenList is read once for all tests, which do not change it.
var (
	goldenList  []golden
	goldensOnce sync.Once
)

// firstBuild returns a case in which a Build is seen for the first time.
func firstBuild(t testing.TB) golden {
	list := goldens(t)
	i := slices.IndexFunc(list, func(g golden) bool { return g.Name == "build/sync/first-build-is-asked-for" })
	require.GreaterOrEqual(t, i, 0)
	return list[i]
}

func decoded(t testing.TB, c operettatest.Case) object {
	var request object
	require.NoError(t, json.Unmarshal(c.Request, &request))
	return request
}

// ask asks about a request at the time of the case.
func ask(t testing.TB, c operettatest.Case, request object) (answered, error) {
	encoded, err := json.Marshal(request)
	require.NoError(t, err)
	answer, err := build.Controller().Call(c.Hook, c.Now, encoded)
	if err != nil {
		return answered{}, err
	}
	var body struct{ Status build.Status }
	require.NoError(t, json.Unmarshal(answer.Body, &body))
	return answered{body.Status, answer.Children, string(answer.Body)}, nil
}

// group returns the observed objects of a kind, by their keys.
func group(request object, field, kind string) object {
	groups, _ := request[field].(object)
	objects, _ := groups[kind].(object)
	return objects
}

func put(request object, field, kind string, added object) {
	groups, ok := request[field].(object)
	if !ok {
		groups = object{}
		request[field] = groups
	}
	objects, ok := groups[kind].(object)
	if !ok {
		objects = object{}
		groups[kind] = objects
	}
	objects["default/"+added["metadata"].(object)["name"].(string)] = added
}

func texts(of object, field string) object {
	metadata := of["metadata"].(object)
	if _, ok := metadata[field].(object); !ok {
		metadata[field] = object{}
	}
	return metadata[field].(object)
}

// requireClean wants no text in a status that is long or cannot be printed.
func requireClean(t testing.TB, how string, a answered) {
	texts := []string{a.status.Revision, a.status.JobName}
	for _, r := range a.status.History {
		texts = append(texts, r.Hash, r.Revision, r.Message)
	}
	for _, text := range texts {
		require.LessOrEqual(t, len(text), 1024, how)
		require.Negative(t, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%s: %q", how, text)
	}
}
