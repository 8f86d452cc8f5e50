package podbuggertool

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// readPairs reads values of kubectl's --env as kubectl does: with its flag library, which it asks
// for all of them together, as one text that is read again.
func readPairs(t *testing.T, values ...string) map[string]string {
	t.Helper()
	flags := pflag.NewFlagSet("debug", pflag.ContinueOnError)
	flags.StringToString("env", nil, "")
	for _, value := range values {
		require.NoError(t, flags.Set("env", value), value)
	}
	pairs, err := flags.GetStringToString("env")
	require.NoError(t, err)
	return pairs
}

func TestKubectlReadsEachVariableAsItIsMeant(t *testing.T) {
	values := []string{
		"", "plain", "a,b", "a=b", "a=b,c=d", `say "hi"`, `"quoted"`, `"`, `=`, `a="b"`, " space", "two\nlines", "x=1\ny=2,z", `""`, "#", "ü=,",
		"[a", "[a,b]", "a, ", "\n]", `"]`, "=,[]",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var value strings.Builder
		for range random.IntN(6) {
			value.WriteString([]string{"a", "=", ",", `"`, "[", "]", " ", "\t", "\n", "\u00a0", "é"}[random.IntN(11)])
		}
		values = append(values, value.String())
	}
	kept, ends := regexp.MustCompile(`[,"\n]`), regexp.MustCompile(`[\[\]\s\v\pZ]$`)
	for _, value := range values {
		if !kept.MatchString(value) && ends.MatchString(value) { // the CRD refuses it
			require.NotEqual(t, map[string]string{"NAME": value}, readPairs(t, pair(EnvVar{Name: "NAME", Value: value})), "%q", value)
			continue
		}
		require.Equal(t, map[string]string{"NAME": value}, readPairs(t, pair(EnvVar{Name: "NAME", Value: value})), "%q", value)
		require.Equal(t, map[string]string{"A": value, "NAME": value, "Z": "z"},
			readPairs(t, pair(EnvVar{Name: "A", Value: value}), pair(EnvVar{Name: "NAME", Value: value}), pair(EnvVar{Name: "Z", Value: "z"})), "%q", value)
	}
}

func TestStatusListsAHundredPodsAndCountsAll(t *testing.T) {
	var list []*candidate
	for i := range 150 {
		c := &candidate{pod: &observedPod{Snapshot: metacontroller.Snapshot{Name: fmt.Sprintf("web-%03d", i)}}, state: PodInjected}
		if i == 149 {
			c.state, c.message = PodFailed, "no"
		}
		list = append(list, c)
	}
	status := count(list)
	require.Equal(t, "149/150", status.Ready)
	require.Len(t, status.Pods, 100)
	require.Equal(t, PodStatus{Name: "web-149", State: PodFailed, Message: "no"}, status.Pods[0], "what has failed comes first")
	require.Equal(t, "web-000", status.Pods[1].Name)
}

func TestJobNames(t *testing.T) {
	name := func(change func(tool *PodBuggerTool, pod *observedPod)) string {
		tool := &PodBuggerTool{Spec: Spec{Image: "busybox"}}
		tool.Name = "toolbox"
		pod := &observedPod{Snapshot: metacontroller.Snapshot{Name: "web", UID: "u"}}
		change(tool, pod)
		name, err := jobNames(tool)
		require.NoError(t, err)
		return name(pod)
	}
	same := name(func(*PodBuggerTool, *observedPod) {})
	for what, change := range map[string]func(tool *PodBuggerTool, pod *observedPod){
		"a field that is empty":   func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Args = []string{} },
		"the default's own words": func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Profile = "general" },
		"another limit":           func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.MaxPods = new(int32(3)) },
	} {
		require.Equal(t, same, name(change), what)
	}
	others := map[string]string{same: "none"}
	for what, change := range map[string]func(tool *PodBuggerTool, pod *observedPod){
		"uid":     func(_ *PodBuggerTool, pod *observedPod) { pod.UID = types.UID("v") },
		"tool":    func(tool *PodBuggerTool, _ *observedPod) { tool.Name = "toolbox-2" },
		"image":   func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Image = "busybox:2" },
		"kubectl": func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.KubectlImage = "kubectl:2" },
		"command": func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Command = []string{"sh"} },
		"args":    func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Args = []string{"sh"} },
		"env":     func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Env = []EnvVar{{Name: "A"}} },
		"target":  func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.TargetContainer = "web" },
		"stdin":   func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Stdin = true },
		"profile": func(tool *PodBuggerTool, _ *observedPod) { tool.Spec.Profile = "netadmin" },
	} {
		other := name(change)
		require.Empty(t, others[other], what)
		others[other] = what
	}
	require.Equal(t, "toolbox-f68623ef9f8a105f", same, "names never change: each would be tried again")
}

// TestJobsHaveTheirTurns: one that has ended makes room in the Role, few are made at once, and
// fewer while none of those that were asked for appears.
func TestJobsHaveTheirTurns(t *testing.T) {
	job := func(condition string) *observedJob {
		job := &observedJob{}
		require.NoError(t, json.Unmarshal([]byte(`{"status": {"conditions": [{"type": "`+condition+`", "status": "True"}]}}`), job))
		return job
	}
	for missing, made := range map[time.Duration]int{operator.ChildGrace - time.Second: operator.FirstBurst, operator.ChildGrace: operator.StuckBurst} {
		tool, o := &PodBuggerTool{}, observed{}
		tool.Spec.MaxPods = new(int32(500))
		tool.Status.Conditions = []metav1.Condition{{
			Type: operator.ConditionChildrenObserved, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(time.Unix(0, 0)),
		}}
		var candidates []*candidate
		for i := range 502 {
			name := fmt.Sprintf("web-%03d", i)
			o.allowed = append(o.allowed, name)
			candidates = append(candidates, &candidate{pod: &observedPod{Snapshot: metacontroller.Snapshot{Name: name}}, state: PodPending, jobName: name})
		}
		for i, condition := range []string{"Failed", "Complete", "Suspended"} {
			candidates[i].job = job(condition)
		}
		decide(tool, o, candidates, time.Unix(0, 0).Add(missing))
		count := func(is func(c *candidate) bool) (from, to, count int) {
			for i, c := range candidates {
				if is(c) {
					if count == 0 {
						from = i
					}
					to, count = i, count+1
				}
			}
			return from, to, count
		}
		require.Equal(t, []int{2, 401, maxNamed}, list(count(func(c *candidate) bool { return c.isNamed })), "the Job that is under way, and the next in their order")
		require.Equal(t, []int{3, made + 2, made}, list(count(func(c *candidate) bool { return c.isMade })))
		require.Equal(t, []int{500, 501, 2}, list(count(func(c *candidate) bool { return c.state == PodSkipped })))
	}
}

func list(numbers ...int) []int { return numbers }
