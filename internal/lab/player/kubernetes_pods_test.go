package player

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

// TestControllersHearOfPodsLate wants a Deployment's controller to count a Pod that
// is gone until it hears of that, and to make no other for it before, nor two.
func TestControllersHearOfPodsLate(t *testing.T) {
	w := New(Options{Late: true})
	web := deployment("web", "nginx:1", 1)
	require.NoError(t, w.Apply([]byte(mustJSON(t, web))))
	require.True(t, w.Do(Action{Do: "calm", Target: "20"}))
	pods := w.List("v1", "Pod")
	require.Len(t, pods, 1)
	ready := func() string { return kube.Progress(w.List("apps/v1", "Deployment")[0]) }
	require.Equal(t, "1/1 ready", ready())

	require.True(t, w.Do(Action{Do: "delete", Target: kube.RefOf(pods[0]).String()}))
	require.True(t, w.Do(Action{Do: "step", Target: kube.RefOf(pods[0]).String()}))
	require.Empty(t, w.List("v1", "Pod"))
	require.True(t, w.Do(Action{Do: "step", Target: "Deployment/web"}))
	require.Equal(t, "1/1 ready", ready())
	require.Empty(t, w.List("v1", "Pod"))

	require.True(t, w.Do(Action{Do: "hear", Target: "Pod", Detail: "all"}))
	require.True(t, w.Do(Action{Do: "step", Target: "Deployment/web"}))
	require.Equal(t, "0/1 ready, 0 updated", ready())
	require.Len(t, w.List("v1", "Pod"), 1)
	w.Do(Action{Do: "step", Target: "Deployment/web"})
	require.Len(t, w.List("v1", "Pod"), 1, "what it has made it knows")
	require.True(t, w.Do(Action{Do: "calm", Target: "20"}))
	require.Equal(t, "1/1 ready", ready())
}
