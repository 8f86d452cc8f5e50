package build_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// nasty is a text that no status may show as it is.
var nasty = strings.Repeat("\x1b[2J\x00v9\u202e", 200)

// values returns what a user may write into a label or an annotation of a case.
func values(request object) []string {
	list := []string{"", "forged", "0123456789", nasty}
	for _, job := range group(request, "children", jobs) {
		if hash, ok := texts(job.(object), "labels")[hashLabel].(string); ok {
			list = append(list, hash)
		}
	}
	return list
}

// edits calls a function with a request of which one label or annotation of one
// object of a kind has been taken off or altered, in each way.
func edits(t testing.TB, c operettatest.Case, field, kind string, check func(how string, request object)) {
	original := decoded(t, c)
	list := values(original)
	for _, key := range slices.Sorted(maps.Keys(group(original, field, kind))) {
		for _, where := range []string{"labels", "annotations"} {
			names := map[string]any{hashLabel: nil, revisionAnnotation: nil}
			maps.Copy(names, texts(group(original, field, kind)[key].(object), where))
			for _, name := range slices.Sorted(maps.Keys(names)) {
				for i := -1; i < len(list); i++ {
					request := runtime.DeepCopyJSON(original)
					at, how := texts(group(request, field, kind)[key].(object), where), "taken off"
					if delete(at, name); i >= 0 {
						at[name], how = list[i], fmt.Sprintf("%.20q", list[i])
					}
					check(fmt.Sprintf("%s: %s of %s: %s", c.Name, name, key, how), request)
				}
			}
		}
	}
}

// requireSame wants the same Jobs to stay, to go and to be made, and the same
// results.
func requireSame(t *testing.T, how string, want, got answered) {
	t.Helper()
	require.Equal(t, want.kept(), got.kept(), how)
	require.Equal(t, want.made(), got.made(), how)
	require.Equal(t, want.results(), got.results(), how)
	require.Equal(t, want.status.Phase, got.status.Phase, how)
	require.Equal(t, want.status.JobName, got.status.JobName, how)
	for _, condition := range want.status.Conditions {
		other := meta.FindStatusCondition(got.status.Conditions, condition.Type)
		require.NotNil(t, other, how)
		require.Equal(t, string(condition.Status)+"/"+condition.Reason, string(other.Status)+"/"+other.Reason, how)
	}
	requireClean(t, how, got)
}

// TestJobIsWhatItsNameSays edits each label and annotation of each Job: no
// running Job is lost, no result is forged or forgotten, nothing is refused.
func TestJobIsWhatItsNameSays(t *testing.T) {
	edited := 0
	for _, g := range goldens(t) {
		edits(t, g.Case, "children", jobs, func(how string, request object) {
			got, err := ask(t, g.Case, request)
			require.NoError(t, err, how)
			requireSame(t, how, g.answer, got)
			edited++
		})
	}
	require.Greater(t, edited, 100)
}

// TestLabelsOfTwoJobsAreSwapped swaps what two Jobs say that they are.
func TestLabelsOfTwoJobsAreSwapped(t *testing.T) {
	swapped := 0
	for _, g := range goldens(t) {
		keys := slices.Sorted(maps.Keys(group(decoded(t, g.Case), "children", jobs)))
		for i := 1; i < len(keys); i++ {
			request := decoded(t, g.Case)
			list := group(request, "children", jobs)
			a, b := list[keys[i-1]].(object)["metadata"].(object), list[keys[i]].(object)["metadata"].(object)
			a["labels"], b["labels"] = b["labels"], a["labels"]
			a["annotations"], b["annotations"] = b["annotations"], a["annotations"]
			got, err := ask(t, g.Case, request)
			require.NoError(t, err, g.Name)
			requireSame(t, g.Name, g.answer, got)
			swapped++
		}
	}
	require.Positive(t, swapped)
}

// TestStrangersJobCountsForNothing puts a Job that the Build has not made among
// its children, as Metacontroller does with one that somebody has given its
// label: it stays, and everything else is as without it.
func TestStrangersJobCountsForNothing(t *testing.T) {
	at := "2026-01-02T03:00:00Z"
	statuses := []object{
		{"active": 1.0}, {},
		{"completionTime": at, "conditions": []any{object{"type": "Complete", "status": "True", "lastTransitionTime": at}}},
		{"conditions": []any{object{"type": "Failed", "status": "True", "reason": "Odd", "lastTransitionTime": at}}},
	}
	for _, g := range goldens(t) {
		request := decoded(t, g.Case)
		parent := request["parent"].(object)["metadata"].(object)["name"].(string)
		hashes := append(values(request), hashOf(g))
		for i, name := range []string{"stranger", parent + "-nightly", parent + "-0123456789a", parent + "-ghijklmnop", "other-0123456789", parent + "-x-0123456789"} {
			for j, status := range statuses {
				request, hash := decoded(t, g.Case), hashes[(i+j)%len(hashes)]
				put(request, "children", jobs, object{
					"apiVersion": "batch/v1", "kind": "Job", "spec": object{}, "status": runtime.DeepCopyJSON(status),
					"metadata": object{"name": name, "namespace": "default", "labels": object{hashLabel: hash}, "annotations": object{revisionAnnotation: nasty}},
				})
				how := fmt.Sprintf("%s: %s, %v, %.20q", g.Name, name, status, hash)
				got, err := ask(t, g.Case, request)
				require.NoError(t, err, how)
				require.Contains(t, got.kept(), name, how)
				got.children = slices.DeleteFunc(got.children, func(c metacontroller.AnsweredChild) bool { return c.Name == name })
				requireSame(t, how, g.answer, got)
			}
		}
	}
}

// hashOf returns the hash of the build that a case asks for.
func hashOf(g golden) string {
	name := g.answer.status.JobName
	return name[strings.LastIndex(name, "-")+1:]
}

// TestPodIsWhatItsOwnerIs edits the labels of the Build's Pods, and puts a
// stranger's Pod with all their labels beside them: the answer stays the same.
func TestPodIsWhatItsOwnerIs(t *testing.T) {
	edited := 0
	for _, g := range goldens(t) {
		edits(t, g.Case, "related", pods, func(how string, request object) {
			got, err := ask(t, g.Case, request)
			require.NoError(t, err, how)
			require.Equal(t, g.answer.body, got.body, how)
			edited++
		})
		hashes := append(values(decoded(t, g.Case)), hashOf(g))
		for i, owner := range []object{nil, {"kind": "ReplicaSet", "name": "web-1", "uid": "1", "controller": true}, {"kind": "Job", "name": "nightly", "uid": "2", "controller": true}} {
			request := decoded(t, g.Case)
			metadata := object{"name": "stranger", "namespace": "default", "labels": object{"build": "shop", hashLabel: hashes[len(hashes)-1-i]}}
			if owner != nil {
				metadata["ownerReferences"] = []any{owner}
			}
			put(request, "related", pods, object{
				"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
				"status": object{"phase": []any{"Failed", "Running", "Pending"}[i], "reason": nasty, "containerStatuses": []any{object{
					"name": nasty, "state": object{"terminated": object{"exitCode": 3.0, "message": nasty, "reason": nasty}},
				}}},
			})
			got, err := ask(t, g.Case, request)
			require.NoError(t, err, g.Name)
			require.Equal(t, g.answer.body, got.body, g.Name)
		}
	}
	require.Greater(t, edited, 100)
}
