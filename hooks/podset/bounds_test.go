package podset_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/metacontroller"
)

// answer is what the tests here read of an answer.
type answer struct {
	body   []byte
	names  []string // those of all Pods that are answered
	fresh  []string // and of those that are created
	kept   int
	Status podset.Status `json:"status"`
	Resync int           `json:"resyncAfterSeconds"`
}

// hook returns the bare hook: what it bounds, it bounds by itself.
func hook() metacontroller.Controller {
	declared := podset.Controller()
	return metacontroller.Controller{Parent: declared.Parent, Children: declared.Children, Sync: declared.Sync}
}

// call answers a request for a PodSet of a spec, of which the Pods of these
// numbers exist.
func call(t *testing.T, spec string, numbers ...int) answer {
	t.Helper()
	return ask(t, spec, podsOf(numbers...))
}

func podsOf(numbers ...int) string {
	var pods []string
	for _, n := range numbers {
		pods = append(pods, fmt.Sprintf(`"default/web-%d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"default",`+
			`"creationTimestamp":"2026-01-02T03:00:00Z","labels":{"podset":"web","podset.apps.jicki.cn/template-hash":"44136fa355b3678a"}},`+
			`"spec":{"nodeName":"node-1"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:00:03Z"}]}}`, n, n))
	}
	return "{" + strings.Join(pods, ",") + "}"
}

func ask(t *testing.T, spec, pods string) answer {
	t.Helper()
	return askWithStatus(t, spec, "{}", pods)
}

func askWithStatus(t *testing.T, spec, status, pods string) answer {
	t.Helper()
	return askAt(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), spec, status, pods)
}

func askAt(t *testing.T, now time.Time, spec, status, pods string) answer {
	t.Helper()
	request := `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"web","namespace":"default","uid":"1"},` +
		`"spec":` + spec + `,"status":` + status + `},"children":{"Pod.v1":` + pods + `},"related":{},"finalizing":false}`
	got, err := hook().Call(metacontroller.SyncHook, now, []byte(request))
	require.NoError(t, err)
	a := answer{body: got.Body}
	require.NoError(t, json.Unmarshal(got.Body, &a))
	for _, child := range got.Children {
		a.names = append(a.names, child.Name)
		if child.Kept {
			a.kept++
		} else {
			a.fresh = append(a.fresh, child.Name)
		}
	}
	return a
}

func (a answer) condition(conditionType string) metav1.Condition {
	for _, condition := range a.Status.Conditions {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}

// numbers returns the numbers from one to below another.
func numbers(from, to int) []int {
	list := make([]int, 0, to-from)
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

func podNames(numbers []int) []string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = fmt.Sprintf("web-%d", n)
	}
	return list
}

// templateOf returns a template in JSON with so many bytes in one annotation.
func templateOf(bytes int) string {
	return `{"spec":{"containers":[{"name":"main","image":"one","args":["` + strings.Repeat("x", bytes) + `"]}]}}`
}

// askedFor returns a status in which the last sync has asked for Pods, as many as a
// sync can.
func askedFor(numbers []int) string {
	pending, _ := json.Marshal(numbers)
	return `{"pending":` + string(pending) + `}`
}

func TestFiveHundredPodsAreAskedForAtATime(t *testing.T) {
	first := call(t, `{"size":5000}`)
	require.Equal(t, podNames(numbers(0, 16)), first.fresh)
	require.Equal(t, first, call(t, `{"size":5000}`), "a sync that sees nothing yet asks for the same Pods")

	// A cache that lags shows some of them: the next names are the lowest free
	// ones, whatever has been asked for before.
	lagging := askWithStatus(t, `{"size":5000}`, askedFor(numbers(0, 400)), podsOf(numbers(100, 400)...))
	require.Equal(t, podNames(append(numbers(0, 100), numbers(400, 800)...)), lagging.fresh)
	require.Equal(t, 300, lagging.kept)

	middle := askWithStatus(t, `{"size":5000}`, askedFor(numbers(1000, 1500)), podsOf(numbers(0, 1500)...))
	require.Equal(t, podNames(numbers(1500, 2000)), middle.fresh)
	require.Equal(t, 1500, middle.kept)
	ready := middle.condition("Ready")
	require.Equal(t, "False Creating 1500 of 5000 Pods exist, creating 500 at a time", string(ready.Status)+" "+ready.Reason+" "+ready.Message)
	progressing := middle.condition("Progressing")
	require.Equal(t, "True Scaling 1500 of 5000 Pods exist, creating 500 at a time", string(progressing.Status)+" "+progressing.Reason+" "+progressing.Message)
	require.Equal(t, "asked for: Pod/web-1500, Pod/web-1501, Pod/web-1502 and 497 more", middle.condition("ChildrenObserved").Message,
		"Pods that have not been asked for are not reported as missing")
	require.Empty(t, middle.condition("Stalled").Status)
	require.Equal(t, 5, middle.Resync)

	last := askWithStatus(t, `{"size":5000}`, askedFor(numbers(4400, 4900)), podsOf(numbers(0, 4900)...))
	require.Equal(t, podNames(numbers(4900, 5000)), last.fresh)
	require.Contains(t, last.condition("Ready").Message, "being created: Pod/web-4900")
}

// TestPodsThatDoNotFitIntoARequestAreTold: what is there stays, of whatever template, for
// nothing is rolled that would not be replaced.
func TestPodsThatDoNotFitIntoARequestAreTold(t *testing.T) {
	for bytes, isTooLarge := range map[int]bool{1 << 10: false, 2 << 10: true, 8 << 10: true} {
		a := call(t, `{"size":5000,"template":`+templateOf(bytes)+`}`, numbers(0, 250)...)
		require.NotEmpty(t, a.fresh)
		require.Equal(t, isTooLarge, a.condition("Stalled").Reason == "TooLarge", bytes)
	}
	const most = 94
	spec := `{"size":5000,"template":` + templateOf(200<<10) + `}`
	a := askWithStatus(t, spec, askedFor(numbers(0, 50)), podsOf(numbers(0, 50)...))
	require.Len(t, a.fresh, most-50)
	a = call(t, spec, numbers(0, most)...)
	require.Empty(t, a.fresh)
	require.Equal(t, most, a.kept)
	require.Equal(t, "TooLarge", a.condition("Ready").Reason)
	require.Contains(t, a.condition("Ready").Message, fmt.Sprintf("at most %d Pods", most))

	// A smaller size works as ever.
	a = call(t, `{"size":10,"template":`+templateOf(200<<10)+`}`, numbers(0, 5000)...)
	require.Equal(t, 10, a.kept+len(a.fresh))
	require.Empty(t, a.condition("Stalled").Status)
}

func TestFailedPodsGoWhereNoMoreAreMade(t *testing.T) {
	failed := `"default/web-%d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"default","creationTimestamp":"2026-01-02T03:00:00Z"},"status":{"phase":"Failed"}}`
	running := strings.Replace(failed, "Failed", "Running", 1)
	var pods []string
	for n := range 300 {
		pods = append(pods, fmt.Sprintf(running, n, n))
	}
	pods = append(pods, fmt.Sprintf(failed, 300, 300))
	a := ask(t, `{"size":5000,"template":`+templateOf(200<<10)+`}`, "{"+strings.Join(pods, ",")+"}")
	require.Equal(t, 300, a.kept, "the failed one is not kept for a replacement that never comes")
	require.EqualValues(t, 300, a.Status.Replicas, "nor counted")
	require.Empty(t, a.fresh)
}
