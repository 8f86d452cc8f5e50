package player

import (
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

func TestJobs(t *testing.T) {
	fail := Action{Do: Fail, Target: "Job/j"}
	for _, c := range []struct {
		name, want string
		spec       map[string]any
		faults     []Action
		pods       int
	}{
		{"one Pod", "complete", nil, nil, 1},
		{"several Pods", "complete", map[string]any{"completions": 3, "parallelism": 2}, nil, 3},
		{"retries", "failed: Job has reached the specified backoff limit", map[string]any{"backoffLimit": 2}, []Action{fail}, 3},
		{"no retry", "failed: Job has reached the specified backoff limit", map[string]any{"backoffLimit": 0}, []Action{fail}, 1},
		{"restarts", "failed: Job has reached the specified backoff limit", map[string]any{"template": map[string]any{"spec": podSpec("x:1", "OnFailure")}}, []Action{fail}, 0},
		{
			"deadline", "failed: Job was active longer than specified deadline",
			map[string]any{"activeDeadlineSeconds": 60}, []Action{{Do: Hold, Target: "Job/j"}}, 0,
		},
		{"suspended", "suspended", map[string]any{"suspend": true}, nil, 0},
		{"still running", "1 active", nil, []Action{{Do: Hold, Target: "Job/j"}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := plain(t, jobs, job(c.spec), c.faults...)
			require.Equal(t, c.want, kube.Progress(w.Get(ref("batch/v1", "Job", "j"))))
			require.Len(t, w.server.List("v1", "Pod"), c.pods)
		})
	}
}

func TestFinishedJobGoesAfterItsTime(t *testing.T) {
	y := newToy(jobs)
	y.sync = func(r request) any {
		if done := y.bodies != nil && strings.Contains(strings.Join(y.bodies, " "), `"Complete"`); done {
			return answer(true, job(map[string]any{"ttlSecondsAfterFinished": 100}))
		}
		return answer(false, job(map[string]any{"ttlSecondsAfterFinished": 100}))
	}
	err := y.world(t, func(o *Options) { o.MaxSteps = 60 }).Play()
	require.ErrorContains(t, err, "Job/j", "it is made again, and again")
}

func TestJobReplacesAPodThatVanishes(t *testing.T) {
	y := newToy(jobs)
	y.sync = func(request) any { return answer(true, job(nil)) }
	w := y.world(t, func(o *Options) { o.Actions = []Action{{Do: Hold, Target: "Job/j"}} })
	require.NoError(t, w.Play())
	first := w.server.List("v1", "Pod")[0]
	require.NoError(t, w.Delete(kube.RefOf(first)))
	require.NoError(t, w.Play())
	list := w.server.List("v1", "Pod")
	require.Len(t, list, 1)
	require.NotEqual(t, first.GetName(), list[0].GetName())
	require.Equal(t, "1 active, 1 failed", kube.Progress(w.Get(ref("batch/v1", "Job", "j"))))
}

// TestJobIgnoresDisruptions of its Pods, where its podFailurePolicy says so, and no failure of a program.
func TestJobIgnoresDisruptions(t *testing.T) {
	ignore := map[string]any{"action": "Ignore", "onPodConditions": []any{map[string]any{"type": "DisruptionTarget"}}}
	spec := map[string]any{"backoffLimit": 0, "podFailurePolicy": map[string]any{"rules": []any{ignore}}}
	for _, c := range []struct {
		do, detail, want string
		pods             int
	}{
		{Evict, "", "1 active", 2}, // a node that is short of memory fails the Pod
		{Evict, "preempted", "1 active", 1},
		{"drain", "", "1 active", 1},
		{Vanish, "", "failed: Job has reached the specified backoff limit", 0},
	} {
		y := newToy(jobs)
		y.sync = func(request) any { return answer(true, job(spec)) }
		w := y.world(t, func(o *Options) { o.Actions = []Action{{Do: Hold, Target: "Job/j"}} })
		require.NoError(t, w.Play())
		pod := w.server.List("v1", "Pod")[0]
		before := w.Now()
		require.True(t, w.Do(Action{Do: c.do, Target: "Pod/" + pod.GetName(), Detail: c.detail}))
		require.NoError(t, w.Play())
		require.Equal(t, c.want, kube.Progress(w.Get(ref("batch/v1", "Job", "j"))), c.do+c.detail)
		require.Len(t, w.server.List("v1", "Pod"), c.pods, c.do+c.detail)
		if c.want == "1 active" {
			require.GreaterOrEqual(t, w.Now().Sub(before), 10*time.Second, "a pause comes first")
		}
	}
	w := plain(t, jobs, job(spec), Action{Do: Fail, Target: "Job/j"})
	require.Equal(t, "failed: Job has reached the specified backoff limit", kube.Progress(w.Get(ref("batch/v1", "Job", "j"))))
}
