package operettatest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
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

// nothingForged lets a user who may edit every child write anything onto them: no hook
// may pass any of it on.
func (k kind) nothingForged(t *testing.T) {
	var targets []corpus.Case
	for _, c := range k.cases {
		if c.Hook != metacontroller.CustomizeHook && len(observedIn(parsed(t, c.Request), "children")) > 0 {
			targets = append(targets, c)
		}
	}
	tried, answered := len(targets)*11, 0
	switch {
	case testenv.Thorough():
		tried *= 20
	case testing.Short():
		tried /= 3
	}
	for seed := range tried {
		if requireNothingForged(t, targets, uint64(seed)) {
			answered++
		}
	}
	if tried > 30 {
		require.Greater(t, answered, tried/2, "most forged requests are refused, so that little was tested")
	}
}

// requireNothingForged sends one forged request, and reports whether it was
// answered.
func requireNothingForged(t testing.TB, targets []corpus.Case, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 1)) // the seed decides
	var request object
	target := changed(t, targets[random.IntN(len(targets))], func(whole object) {
		request = whole
		forger := forger{random: random}
		for range 1 + random.IntN(4) {
			forger.forge(request)
		}
		rekey(request)
	})
	where := fmt.Sprintf("%s, seed %d", target.Name, seed)
	answer, err := target.Call()
	if err != nil {
		require.NotContains(t, err.Error(), stolen, where)
		return false
	}
	observed := byRef(observedIn(request, "children"))
	requireSafe(t, target.Controller, target.Hook, answer.Body)
	for i, child := range childrenOf(t, answer.Body) {
		where, kept := where+": "+corpus.Ref(child), answer.Children[i].Kept
		metadata := child["metadata"].(object)
		if own := metadata["namespace"]; own != nil {
			require.Equal(t, namespaceOf(request), own, where)
		}
		labels, _ := metadata["labels"].(object)
		require.NotContains(t, labels, "controller-uid", where)
		require.NotContains(t, annotationsOf(child), metacontroller.LastAppliedAnnotation, where)
		require.True(t, !kept || observed[corpus.Ref(child)] != nil, where)
		requireUnforged(t, where, child, observed[corpus.Ref(child)], kept)
	}
	return true
}

// requireUnforged compares an answer with what was observed. A list is compared
// with all items of the observed one. A text that a user wrote may only be at the
// same place of a kept child.
func requireUnforged(t testing.TB, where string, answered, observed any, kept bool) {
	requireText := func(text string, isObserved bool) {
		require.NotContains(t, text, stolen, where)
		require.True(t, kept && isObserved || !strings.Contains(text, forged), "%s passes on %q", where, text)
	}
	switch answered := answered.(type) {
	case object:
		is, _ := observed.(object)
		for name, member := range answered {
			_, isObserved := is[name]
			requireText(name, isObserved)
			requireUnforged(t, where+"."+name, member, is[name], kept)
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
		requireText(answered, observed == answered)
	}
}

// matches reports whether an answered item can be the observed one.
func matches(answered, observed any) bool {
	one, isObject := answered.(object)
	other, _ := observed.(object)
	if !isObject {
		return answered == observed
	}
	for _, key := range []string{"name", "key", "containerPort", "port", "mountPath"} {
		if one[key] != other[key] && one[key] != nil {
			return false
		}
	}
	return true
}
