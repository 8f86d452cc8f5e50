package player

import (
	"fmt"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

// TestAPausedDeployment says so, whatever becomes of its Pods, and its deadline begins anew when it goes on.
func TestAPausedDeployment(t *testing.T) {
	y := newToy(deployments)
	d := deployment("web", "x:1", 1)
	y.sync = func(request) any { return answer(true, d) }
	w, round := y.world(t), 0
	edit := func() {
		round++
		require.True(t, w.Do(Action{Do: "edit", Target: "Toy/t", Detail: fmt.Sprintf(`{"spec":{"round":%d}}`, round)}))
	}
	require.NoError(t, w.Play())
	web := ref("apps/v1", "Deployment", "web")
	spec := d["spec"].(map[string]any)
	spec["paused"] = true
	do(t, w, "fail Deployment/web")
	edit()
	require.NoError(t, w.Play())
	require.Equal(t, []string{"Available False MinimumReplicasUnavailable", "Progressing Unknown DeploymentPaused"}, conditions(w.Get(web)))

	do(t, w, "wait 1h")
	delete(spec, "paused")
	edit()
	for range 4 {
		w.Step()
	}
	require.Equal(t, []string{"Available False MinimumReplicasUnavailable", "Progressing Unknown DeploymentResumed"}, conditions(w.Get(web)))
	require.NoError(t, w.Play())
	require.Equal(t, []string{"Available False MinimumReplicasUnavailable", "Progressing False ProgressDeadlineExceeded"}, conditions(w.Get(web)))
	spec["paused"] = true
	edit()
	require.NoError(t, w.Play())
	require.Equal(t, "ProgressDeadlineExceeded", kube.ConditionOf(w.Get(web), "Progressing").Reason, "a failure is not hidden")
}
