package hooks_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/metacontroller"
)

// forgeries is how many requests TestForgedChildren asks about:
// go test ./hooks -run TestForgedChildren -forgeries 1000000
var forgeries = flag.Int("forgeries", 3000, "how many forged requests to try")

const (
	// forged marks what a user wrote onto an object. It may come back only in a
	// kept child, where the object has it.
	forged = "forged"
	// stolen marks what a user wrote into a text that claims to be an object. It
	// may never come back.
	stolen = "stolen"
)

// TestForgedChildren lets a user who may edit every child write what he wants
// onto them: no hook may pass any of it on.
func TestForgedChildren(t *testing.T) {
	targets := forgeTargets(t)
	answered, count := 0, *forgeries
	if testing.Short() {
		count /= 3
	}
	for seed := range count {
		if requireNothingForged(t, targets, uint64(seed)) {
			answered++
		}
	}
	require.Greater(t, answered, count/2, "most forged requests are refused, so that little was tested")
}

// FuzzForgedChildren looks for a seed of TestForgedChildren that fails.
func FuzzForgedChildren(f *testing.F) {
	targets := forgeTargets(f)
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { requireNothingForged(t, targets, seed) })
}

// forgeTarget is a case with observed children.
type forgeTarget struct {
	exchange

	request map[string]any
}

func forgeTargets(t testing.TB) []forgeTarget {
	var targets []forgeTarget
	for _, e := range cases(t) {
		request := parsed(t, e.request)
		if e.hook != metacontroller.CustomizeHook && len(observedIn(request, "children")) > 0 {
			targets = append(targets, forgeTarget{e, request})
		}
	}
	require.NotEmpty(t, targets)
	return targets
}

// observedIn returns the objects of a request's map of maps, in a fixed order.
func observedIn(request map[string]any, field string) []map[string]any {
	var objects []map[string]any
	groups, _ := request[field].(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		group, _ := groups[kind].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(group)) {
			objects = append(objects, group[key].(map[string]any))
		}
	}
	return objects
}

// requireNothingForged asks about one forged request, and reports whether it was
// answered.
func requireNothingForged(t testing.TB, targets []forgeTarget, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 1))
	target := targets[random.IntN(len(targets))]
	request := runtime.DeepCopyJSON(target.request)
	forger := forger{random: random}
	for range 1 + random.IntN(4) {
		forger.forge(request)
	}
	rekey(request)
	answer, err := target.controller.Call(target.hook, target.now, encoded(t, request))
	if err != nil {
		require.NotContains(t, err.Error(), stolen, "%s, seed %d", target.name, seed)
		return false
	}
	observed := map[string]map[string]any{}
	for _, child := range observedIn(request, "children") {
		observed[refOf(child)] = child
	}
	namespace, _ := request["parent"].(map[string]any)["metadata"].(map[string]any)["namespace"].(string)
	requireSafe(t, target.controller, target.hook, answer.Body)
	for i, child := range childrenOf(t, answer.Body) {
		where := fmt.Sprintf("%s, seed %d: %s", target.name, seed, refOf(child))
		requireOwnMetadata(t, where, namespace, child)
		if answer.Children[i].Kept {
			require.Contains(t, observed, refOf(child), where)
		}
		requireUnforged(t, where, child, observed[refOf(child)], answer.Children[i].Kept)
	}
	return true
}

// requireOwnMetadata checks what decides where a child goes and whose it is.
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

// requireUnforged walks through what is answered beside what was observed. A
// list is compared with all items of the observed one.
func requireUnforged(t testing.TB, where string, answered, observed any, kept bool) {
	switch answered := answered.(type) {
	case map[string]any:
		object, _ := observed.(map[string]any)
		for name, member := range answered {
			requireText(t, where, name, has(object, name), kept)
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

func has(object map[string]any, name string) bool { _, found := object[name]; return found }

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

// requireText fails on a text that a user wrote, unless it is where the user
// wrote it, on a child that stays as it is.
func requireText(t testing.TB, where, text string, isObserved, kept bool) {
	require.NotContains(t, text, stolen, where)
	if strings.Contains(text, forged) {
		require.True(t, kept && isObserved, "%s passes on %q", where, text)
	}
}
