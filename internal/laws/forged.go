package laws

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// forged marks what a user wrote onto an object. It may be in an answer
	// only in a kept child, at the same place.
	forged = "forged"
	// stolen marks what a user wrote into a forged annotation. It must never be
	// in an answer.
	stolen = "stolen"
)

// forgeries is how many forged requests [Forged] tries for each case.
const forgeries = 11

// Forged lets a user who may edit every child write anything onto them: no hook
// may pass any of it on. It returns how many forged requests were tried, and
// how many of them were answered.
func Forged(t testing.TB, cases []corpus.Case) (tried, answered int) {
	targets := ForgeTargets(t, cases)
	tried = len(targets) * forgeries
	if testing.Short() {
		tried /= 3
	}
	for seed := range tried {
		if RequireNothingForged(t, targets, uint64(seed)) {
			answered++
		}
	}
	return tried, answered
}

// ForgeTarget is a case with observed children.
type ForgeTarget struct {
	corpus.Case

	request map[string]any
}

// ForgeTargets returns those of some cases that show observed children.
func ForgeTargets(t testing.TB, cases []corpus.Case) []ForgeTarget {
	var targets []ForgeTarget
	for _, c := range cases {
		request := Parsed(t, c.Request)
		if c.Hook != metacontroller.CustomizeHook && len(ObservedIn(request, "children")) > 0 {
			targets = append(targets, ForgeTarget{c, request})
		}
	}
	return targets
}

// RequireNothingForged sends one forged request, and reports whether it was
// answered.
func RequireNothingForged(t testing.TB, targets []ForgeTarget, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 1)) // the seed decides
	target := targets[random.IntN(len(targets))]
	request := runtime.DeepCopyJSON(target.request)
	forger := forger{random: random}
	for range 1 + random.IntN(4) {
		forger.forge(request)
	}
	rekey(request)
	answer, err := target.Controller.Call(target.Hook, target.Now, Encoded(t, request))
	if err != nil {
		require.NotContains(t, err.Error(), stolen, "%s, seed %d", target.Name, seed)
		return false
	}
	observed := byRef(ObservedIn(request, "children"))
	namespace, _ := request["parent"].(map[string]any)["metadata"].(map[string]any)["namespace"].(string)
	RequireSafe(t, target.Controller, target.Hook, answer.Body)
	for i, child := range ChildrenOf(t, answer.Body) {
		where := fmt.Sprintf("%s, seed %d: %s", target.Name, seed, corpus.Ref(child))
		requireOwnMetadata(t, where, namespace, child)
		if answer.Children[i].Kept {
			require.Contains(t, observed, corpus.Ref(child), where)
		}
		requireUnforged(t, where, child, observed[corpus.Ref(child)], answer.Children[i].Kept)
	}
	return true
}

// requireOwnMetadata checks the namespace, name and owners of a child.
func requireOwnMetadata(t testing.TB, where, namespace string, child map[string]any) {
	metadata, _ := child["metadata"].(map[string]any)
	for name := range metadata {
		require.Contains(t, []string{"name", "namespace", "labels", "annotations"}, name, where)
	}
	if own := metadata["namespace"]; own != nil {
		require.Equal(t, namespace, own, where)
	}
	labels, _ := metadata["labels"].(map[string]any)
	require.NotContains(t, labels, "controller-uid", where)
	require.NotContains(t, annotationsOf(child), metacontroller.LastAppliedAnnotation, where)
	require.NotContains(t, child, "status", where)
}

// requireUnforged compares an answer with what was observed. A list is compared
// with all items of the observed one.
func requireUnforged(t testing.TB, where string, answered, observed any, kept bool) {
	switch answered := answered.(type) {
	case map[string]any:
		object, _ := observed.(map[string]any)
		for name, member := range answered {
			_, isObserved := object[name]
			requireText(t, where, name, isObserved, kept)
			requireUnforged(t, where+"."+name, member, object[name], kept)
		}
	case []any:
		list, _ := observed.([]any)
		for _, item := range answered {
			var like any
			for _, other := range list {
				if matches(item, other) {
					like = other
				}
			}
			requireUnforged(t, where+"[]", item, like, kept)
		}
	case string:
		requireText(t, where, answered, observed == answered, kept)
	}
}

// matches reports whether an answered item can be the observed one.
func matches(answered, observed any) bool {
	object, isObject := answered.(map[string]any)
	other, _ := observed.(map[string]any)
	if !isObject {
		return answered == observed
	}
	for _, key := range []string{"name", "key", "containerPort", "port", "mountPath"} {
		if object[key] != other[key] && object[key] != nil {
			return false
		}
	}
	return true
}

// requireText fails on a text that a user wrote, unless it is at the same place
// of a kept child.
func requireText(t testing.TB, where, text string, isObserved, kept bool) {
	require.NotContains(t, text, stolen, where)
	if strings.Contains(text, forged) {
		require.True(t, kept && isObserved, "%s passes on %q", where, text)
	}
}
