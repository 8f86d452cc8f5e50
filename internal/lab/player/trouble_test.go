package player

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// trouble is what a control plane does, recorded from one.
type trouble struct {
	Name    string         `json:"name"`
	Happens string         `json:"happens"`
	Object  map[string]any `json:"object"`
	// First are its conditions, Late those beyond the progress deadline, Mended those after it.
	First  []string `json:"first"`
	Late   []string `json:"late"`
	Mended []string `json:"mended"`
	// Message is that of ReplicaFailure.
	Message       string   `json:"message"`
	Warnings      []string `json:"warnings"`
	Refused       string   `json:"refused"`
	ManagedFields any      `json:"managedFields"`
}

// TestTrouble compares the simulation with what a control plane does.
func TestTrouble(t *testing.T) {
	text, err := os.ReadFile("testdata/trouble.yaml")
	require.NoError(t, err)
	var all []trouble
	require.NoError(t, yaml.UnmarshalStrict(text, &all))
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) { c.compare(t) })
	}
}

func (c *trouble) compare(t *testing.T) {
	object := &unstructured.Unstructured{Object: c.Object}
	if c.ManagedFields != nil {
		c.compareApply(t, object)
		return
	}
	y := newToy(child(object.GetAPIVersion(), object.GetKind(), strings.ToLower(object.GetKind())+"s", metacontroller.InPlace))
	y.sync = func(request) any { return answer(true, c.Object) }
	w := y.world(t)
	ref := ref(object.GetAPIVersion(), object.GetKind(), object.GetName())
	var refused []string
	w.Watch(nil, nil, func(refusal Refusal) { refused = append(refused, refusal.Err.Error()) })
	if c.Happens != "" {
		action, err := ParseAction(c.Happens)
		require.NoError(t, err)
		require.True(t, w.Do(action))
	}
	for range 5 {
		w.Step()
	}
	if c.Refused != "" {
		require.Equal(t, c.Refused, refused[0])
		return
	}
	require.Equal(t, c.First, conditions(w.Get(ref)))
	require.Equal(t, c.Message, withoutSuffixes(kube.ConditionOf(w.Get(ref), "ReplicaFailure").Message))
	require.Equal(t, c.Warnings, allWarnings(w))
	require.NoError(t, w.Play())
	if c.Late != nil {
		require.Equal(t, c.Late, conditions(w.Get(ref)))
	}
	if c.Mended != nil {
		do(t, w, "mend")
		require.ElementsMatch(t, c.Mended, conditions(w.Get(ref)))
	}
}

// compareApply compares the first version of an object that is applied on the server.
func (c *trouble) compareApply(t *testing.T, object kube.Object) {
	w := New(Options{Call: Direct()})
	var first []string
	w.Watch(func(write Write) {
		fields, err := json.Marshal(write.After.Object["metadata"].(map[string]any)["managedFields"])
		require.NoError(t, err)
		first = append(first, string(fields))
	}, nil, nil)
	object.SetNamespace("default")
	_, err := w.server.Apply(&apiserver.Configuration{Object: object})
	require.NoError(t, err)
	want, err := json.Marshal(c.ManagedFields)
	require.NoError(t, err)
	require.Len(t, first, 1)
	require.JSONEq(t, string(want), first[0])
}

// allWarnings returns the Events about children, and what they are about.
func allWarnings(w *World) (list []string) {
	for _, kind := range []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"} {
		for _, text := range warnings(w, kind) {
			list = append(list, kind+" "+withoutSuffixes(text))
		}
	}
	return list
}

// suffixes are those of generated names, without vowels but for that of a ReplicaSet of the simulation.
var suffixes = regexp.MustCompile(`"web((?:-[a-z0-9]{5,10})+)"`)

func withoutSuffixes(text string) string {
	return suffixes.ReplaceAllStringFunc(text, func(name string) string {
		return `"web` + strings.Repeat("-00000", strings.Count(name, "-")) + `"`
	})
}
