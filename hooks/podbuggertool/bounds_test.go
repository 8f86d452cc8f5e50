package podbuggertool_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// jobsOf returns how many Jobs a tool asks for at once where so many Pods match,
// and the Role that it has asked for before is there, the length of the answer,
// and its status.
func jobsOf(t *testing.T, spec string, matching int) (jobs, length int, status podbuggertool.Status) {
	t.Helper()
	var pods []string
	for n := range matching {
		pods = append(pods, fmt.Sprintf(`"default/web-%d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"default","uid":"u%d","labels":{"app":"web"}},`+
			`"spec":{"containers":[{"name":"main"}]},"status":{"phase":"Running"}}`, n, n, n))
	}
	declared := podbuggertool.Controller() // the hook bounds by itself what it bounds
	hook := metacontroller.Controller{Parent: declared.Parent, Children: declared.Children, Related: declared.Related, Sync: declared.Sync}
	call := func(access map[string]json.RawMessage) metacontroller.Answer {
		children := map[string]map[string]json.RawMessage{"Job.batch/v1": {}}
		for _, kind := range []string{"ServiceAccount.v1", "Role.rbac.authorization.k8s.io/v1", "RoleBinding.rbac.authorization.k8s.io/v1"} {
			children[kind] = map[string]json.RawMessage{}
			if object, found := access[kind]; found {
				children[kind]["default/x"] = object
			}
		}
		observed, err := json.Marshal(children)
		require.NoError(t, err)
		request := `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodBuggerTool","metadata":{"name":"debug","namespace":"default","uid":"1"},` +
			`"spec":{"selector":{"matchLabels":{"app":"web"}},"image":"busybox",` + spec + `}},"children":` + string(observed) +
			`,"related":{"Pod.v1":{` + strings.Join(pods, ",") + `}},"finalizing":false}`
		answer, err := hook.Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), []byte(request))
		require.NoError(t, err)
		return answer
	}
	access := map[string]json.RawMessage{}
	for range 2 { // the ServiceAccount, then Role and RoleBinding
		var before struct{ Children []json.RawMessage }
		require.NoError(t, json.Unmarshal(call(access).Body, &before))
		for _, child := range before.Children {
			var id struct{ APIVersion, Kind string }
			require.NoError(t, json.Unmarshal(child, &id))
			require.NotEqual(t, "Job", id.Kind, "before its Role is there")
			access[id.Kind+"."+id.APIVersion] = child
		}
	}
	answer := call(access)
	for _, child := range answer.Children {
		if child.Kind == "Job" {
			jobs++
		}
	}
	body := struct{ Status *podbuggertool.Status }{&status}
	require.NoError(t, json.Unmarshal(answer.Body, &body))
	return jobs, len(answer.Body), status
}

func TestJobsAreAskedForInBursts(t *testing.T) {
	jobs, _, status := jobsOf(t, `"maxPods":500`, 700)
	require.Equal(t, 16, jobs)
	require.Equal(t, "500 200", fmt.Sprint(status.Pending, status.Skipped))

	// Not even where no schema has seen the request.
	jobs, _, status = jobsOf(t, `"maxPods":2000000000`, 700)
	require.Equal(t, 16, jobs)
	require.Equal(t, "700 0", fmt.Sprint(status.Pending, status.Skipped), "a Pod whose Job is yet to be made is pending")

	argument := `"` + strings.Repeat("x", 4<<10) + `"`
	jobs, length, status := jobsOf(t, `"maxPods":500,"args":[`+argument+strings.Repeat(","+argument, 49)+`]`, 500)
	require.Equal(t, 16, jobs)
	require.Less(t, length, 4<<20)
	require.Equal(t, int32(500), status.Pending)
	require.Contains(t, fmt.Sprint(status.Pods), "does not exist yet: first some of the other Jobs have to be made")
}

// TestRefusedJobsCostLittle has a quota for Jobs that is used up, and is raised.
func TestRefusedJobsCostLittle(t *testing.T) {
	controller := podbuggertool.Controller()
	var began time.Time
	sums := make([]int, 12)
	counting := func(operettatest.Call) operettatest.Call {
		return func(now time.Time, path string, body []byte) (int, []byte, error) {
			hook := metacontroller.HookName(path[strings.LastIndex(path, "/")+1:])
			answer, err := controller.Call(hook, now, body)
			require.NoError(t, err)
			for _, child := range answer.Children {
				if minute := int(now.Sub(began) / time.Minute); child.Kind == "Job" && !child.Kept && minute < len(sums) {
					sums[minute]++
				}
			}
			return http.StatusOK, answer.Body, nil
		}
	}
	world := operettatest.NewWorld(t, operettatest.Options{Late: true, Around: counting}, controller)
	for n := range 40 {
		world.Apply(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: web-%d, labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}`, n))
	}
	world.Play()
	began = world.Now()
	world.Do("quota Job")
	world.Apply("{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: debug}, spec: {selector: {matchLabels: {app: web}}, image: busybox}}")
	for world.Now().Before(began.Add(10 * time.Minute)) {
		if !world.Step() {
			world.Do("wait 10s")
		}
	}
	require.Positive(t, sums[0])
	require.LessOrEqual(t, sums[0], 100, sums)
	for _, sum := range sums[1:] {
		require.LessOrEqual(t, sum, 8, sums)
	}
	require.Equal(t, "ChildBlocked", world.Condition("PodBuggerTool/debug", "Ready").Reason)
	world.Do("mend")
	world.Play()
	world.RequireCondition("PodBuggerTool/debug", "Ready", "True Injected")
}

// TestRoleHasRoomForForgedJobs puts a Job in the place of every one that the hook
// would ask for, for Pods with the longest names: whoever may create Jobs can. A
// Role that names all of them is more than Metacontroller can apply.
func TestRoleHasRoomForForgedJobs(t *testing.T) {
	const most, atOnce = 500, 16
	named := func(n int) string { return fmt.Sprintf("%s-%03d", strings.Repeat("x", 249), n) }
	call := func(from, to int, rules, jobs string) metacontroller.Answer {
		var pods []string
		for n := from; n < to; n++ {
			pods = append(pods, fmt.Sprintf(`"default/%[1]s":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%[1]s","namespace":"default","uid":"u%[2]d","labels":{"app":"web"}},`+
				`"spec":{"containers":[{"name":"main"}]},"status":{"phase":"Running"}}`, named(n), n))
		}
		access := func(kind, group, rest string) string {
			return fmt.Sprintf(`"%[1]s.%[2]s":{"default/a":{"apiVersion":"%[2]s","kind":"%[1]s","metadata":{"name":"podbuggertool-debug","namespace":"default"}%[3]s}}`, kind, group, rest)
		}
		const rbac = "rbac.authorization.k8s.io/v1"
		request := `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodBuggerTool","metadata":{"name":"debug","namespace":"default","uid":"1"},` +
			`"spec":{"selector":{"matchLabels":{"app":"web"}},"image":"busybox","maxPods":500}},"children":{"Job.batch/v1":{` + jobs + `},` +
			access("ServiceAccount", "v1", "") + "," + access("RoleBinding", rbac, "") + "," + access("Role", rbac, `,"rules":[`+rules+`]`) +
			`},"related":{"Pod.v1":{` + strings.Join(pods, ",") + `}},"finalizing":false}`
		answer, err := podbuggertool.Controller().Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), []byte(request))
		require.NoError(t, err)
		return answer
	}
	var jobs []string
	for from := 0; from < most; from += atOnce {
		to := min(from+atOnce, most)
		names := `"` + named(from) + `"`
		for n := from + 1; n < to; n++ {
			names += `,"` + named(n) + `"`
		}
		rules := `{"resources":["pods"],"verbs":["get"],"resourceNames":[` + names + `]},{"resources":["pods/ephemeralcontainers"],"verbs":["patch"],"resourceNames":[` + names + `]}`
		for _, child := range call(from, to, rules, "").Children {
			if child.Kind == "Job" {
				jobs = append(jobs, fmt.Sprintf(`"default/%[1]s":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"%[1]s","namespace":"default"}}`, child.Name))
			}
		}
	}
	require.Len(t, jobs, most)
	require.Len(t, call(0, most, "", strings.Join(jobs, ",")).Children, most+3)
}

// TestLargeToolIsReadOnce matches many Pods with a tool as large as its Jobs may
// be, and with a larger one. To write and read the recipe for each of them took
// longer than a request has, and no deadline ended it.
func TestLargeToolIsReadOnce(t *testing.T) {
	args := func(count int, letter string) string {
		argument := `"` + strings.Repeat(letter, 4<<10) + `"`
		return `"maxPods":1,"args":[` + argument + strings.Repeat(","+argument, count-1) + `]`
	}
	const pods = 4000
	for _, largest := range []string{args(56, "x"), args(9, "<")} { // "<" is stored as six bytes
		start := time.Now()
		jobs, _, status := jobsOf(t, largest, pods)
		require.Less(t, time.Since(start), 20*time.Second, "it takes a second on a quiet machine")
		require.Equal(t, "1 1 3999", fmt.Sprint(jobs, status.Pending, status.Skipped))
	}

	matched := make([]string, pods)
	for n := range matched {
		matched[n] = fmt.Sprintf(`"default/web-%d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"default","uid":"u%d","labels":{"app":"web"}},"status":{"phase":"Running"}}`, n, n, n)
	}
	const rbac = "rbac.authorization.k8s.io/v1"
	for _, larger := range []string{args(64, "x"), args(11, "<")} {
		request := `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodBuggerTool","metadata":{"name":"debug","namespace":"default"},` +
			`"spec":{"selector":{"matchLabels":{"app":"web"}},"image":"busybox",` + larger + `}},"children":{"Job.batch/v1":{},"ServiceAccount.v1":{},"Role.` + rbac + `":{},"RoleBinding.` + rbac + `":{}},` +
			`"related":{"Pod.v1":{` + strings.Join(matched, ",") + `}},"finalizing":false}`
		start := time.Now()
		_, err := podbuggertool.Controller().Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), []byte(request))
		require.ErrorContains(t, err, "make spec.command, spec.args or spec.env smaller")
		require.Less(t, time.Since(start), 10*time.Second)
	}
}
