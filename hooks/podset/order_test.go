package podset_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// podOn returns a Pod in JSON of which only what tells how dispensable it is
// varies.
func podOn(name string, random *rand.Rand) string {
	nodes, ready := []string{"", "node-1", "node-2", "node-3"}, []string{"True", "True", "True", "False"}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"default","creationTimestamp":"2026-01-02T03:00:%02dZ",`+
		`"labels":{"podset":"web","podset.apps.jicki.cn/template-hash":%q},"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}},`+
		`"spec":{"nodeName":%q},"status":{"phase":"Running","conditions":[{"type":"Ready","status":%q,"lastTransitionTime":"2026-01-02T03:01:%02dZ"}]}}`,
		name, random.IntN(5), []string{"44136fa355b3678a", "older"}[random.IntN(2)], random.IntN(2), nodes[random.IntN(4)], ready[random.IntN(4)], random.IntN(5))
}

// keptOf returns which Pods stay, sorted.
func keptOf(t *testing.T, size, partition int, pods map[string]string) []string {
	t.Helper()
	members := make([]string, 0, len(pods))
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		members = append(members, fmt.Sprintf(`"default/%s":%s`, name, pods[name]))
	}
	a := ask(t, fmt.Sprintf(`{"size":%d,"partition":%d,"paused":true}`, size, partition), "{"+strings.Join(members, ",")+"}")
	var answer struct {
		Children []struct {
			Metadata struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal(a.body, &answer))
	var names []string
	for _, child := range answer.Children {
		names = append(names, child.Metadata.Name)
	}
	slices.Sort(names)
	return names
}

// TestDeletionOrderIsTheSameWhenSomeAreGone takes Pods out, one after the other in
// any order, of those that are to go: the cache shows their end as it comes.
// Another one must not go in their stead.
func TestDeletionOrderIsTheSameWhenSomeAreGone(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		pods := map[string]string{}
		for n := range 9 {
			name := fmt.Sprintf("web-%d", n)
			pods[name] = podOn(name, random)
		}
		size, partition := 1+random.IntN(8), random.IntN(4)
		stay := keptOf(t, size, partition, pods)
		require.Len(t, stay, size)
		for _, n := range random.Perm(9) {
			if name := fmt.Sprintf("web-%d", n); !slices.Contains(stay, name) {
				delete(pods, name)
				require.Equal(t, stay, keptOf(t, size, partition, pods), "seed %d, without %s", seed, name)
			}
		}
	}
}
