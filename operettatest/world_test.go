package operettatest_test

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// recorder is a test that notes how it fails.
type recorder struct {
	testing.TB

	failure  string
	cleanups []func()
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Name() string        { return "a test" }
func (r *recorder) Cleanup(f func())    { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool        { return r.failure != "" }
func (r *recorder) Errorf(format string, args ...any) {
	r.failure += fmt.Sprintf(format, args...)
}
func (r *recorder) FailNow() { runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failureOf returns how a test fails, with its cleanups.
func failureOf(test func(t testing.TB)) string {
	r, done := &recorder{}, make(chan bool)
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	for _, f := range r.cleanups {
		f()
	}
	return r.failure
}

const shop = "{apiVersion: toys.example.com/v1, kind: Web, metadata: {name: shop}, spec: {image: nginx, replicas: 2}}"

// TestWorldsThatFailSayWhy plays what goes wrong.
func TestWorldsThatFailSayWhy(t *testing.T) {
	failing := func(operettatest.Call) operettatest.Call {
		return func(time.Time, string, []byte) (int, []byte, error) {
			return http.StatusInternalServerError, []byte("out of luck"), nil
		}
	}
	counting := func(direct operettatest.Call) operettatest.Call {
		n := 0
		return func(now time.Time, path string, body []byte) (int, []byte, error) {
			_, _, _ = direct(now, path, body)
			n++
			return http.StatusOK, fmt.Appendf(nil, `{"status":{"n":%d},"children":[],"resyncAfterSeconds":1}`, n), nil
		}
	}
	for want, test := range map[string]func(t testing.TB){
		"it had no effect: vanish Deployment/none: there is no object": func(t testing.TB) {
			operettatest.NewWorld(t, operettatest.Options{Vanish: []string{"Deployment/none"}}, webController()).Play()
		},
		"write KIND/NAME": func(t testing.TB) {
			operettatest.NewWorld(t, operettatest.Options{Fail: []string{"web"}}, webController())
		},
		"a hook fails: /web/sync answers 500: out of luck": func(t testing.TB) {
			world := operettatest.NewWorld(t, operettatest.Options{Around: failing}, webController())
			world.Apply(shop)
			world.Play()
		},
		"no fixed point after 30 steps": func(t testing.TB) {
			world := operettatest.NewWorld(t, operettatest.Options{Around: counting, MaxSteps: 30}, webController())
			world.Apply(shop)
			world.Play()
		},
		"the API server refuses what is applied": func(t testing.TB) {
			operettatest.NewWorld(t, operettatest.Options{}, webController()).Apply("{apiVersion: toys.example.com/v1, kind: Web, metadata: {name: shop}, spec: {}}")
		},
		"there is no Deployment/shop": func(t testing.TB) {
			operettatest.NewWorld(t, operettatest.Options{}, webController()).Delete("Deployment/shop")
		},
		"after 100 steps it does not hold that pigs fly": func(t testing.TB) {
			operettatest.NewWorld(t, operettatest.Options{}, webController()).Until("pigs fly", func() bool { return false })
		},
		`Ready of Web/shop is "True Available", and "False Flying" is wanted`: func(t testing.TB) {
			world := operettatest.NewWorld(t, operettatest.Options{}, webController())
			world.Apply(shop)
			world.Play()
			world.RequireCondition("Web/shop", "Ready", "False Flying")
		},
		"Web/shop is left behindDeployment/shop is left behind": func(t testing.TB) {
			world := operettatest.NewWorld(t, operettatest.Options{}, webController())
			world.Apply(shop)
			world.Play()
			world.RequireGone()
		},
		"the sync hook of Web answers with an error": func(t testing.TB) {
			operettatest.Ask(t, webController(), metacontroller.SyncHook, operettatest.Request{Parent: "{metadata: {name: shop}, spec: {}}"})
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, failureOf(test), want)
		})
	}
}

// TestAWorldIsPlayed uses what a test over time needs: steps, faults that pass, and what is there.
func TestAWorldIsPlayed(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{ServerSideApply: true, HookVersion: "v1", Evict: []string{"Deployment/shop@3"}}, webController())
	world.Apply(shop)
	began := world.Now()
	world.Until("there are Pods", func() bool { return len(world.Names("Pod")) == 2 })
	require.Greater(t, world.Now(), began)
	world.Play()
	require.Len(t, world.Created("Deployment"), 1)
	require.Len(t, world.Parents(), 1)
	require.Len(t, world.Children(), 1)

	world.Edit("Web/shop", "{spec: {replicas: 3}}")
	world.Play()
	var deployment appsv1.Deployment
	world.Decode("Deployment/shop", &deployment)
	require.EqualValues(t, 3, deployment.Status.ReadyReplicas)
	require.Empty(t, world.Failure("Web/shop"))
	require.Error(t, world.TryApply("{apiVersion: toys.example.com/v1, kind: Web, metadata: {name: b}}"))

	world.Delete("Web/shop")
	world.Play()
	world.RequireGone()

	var lives []string
	steps := 0
	for _, event := range world.Events() {
		require.GreaterOrEqual(t, event.Step, max(1, steps), "they are told in their order")
		steps = event.Step
		if event.Object.GetKind() == "Deployment" && event.Verb != operettatest.Reported {
			lives = append(lives, string(event.Verb))
		}
	}
	require.Equal(t, []string{"created", "changed", "deleted"}, lives)
}

// TestCasesAreWhole reads the case of the toys, and those of an operator that has none.
func TestCasesAreWhole(t *testing.T) {
	const project = "testdata/project"
	cases := operettatest.Cases(t, project, webController())
	require.Len(t, cases, 1)
	require.Equal(t, "web/sync/ready-when-all-replicas-are", cases[0].Name)
	require.Equal(t, metacontroller.SyncHook, cases[0].Hook)
	require.False(t, cases[0].Now.IsZero())
	_, err := webController().Call(cases[0].Hook, cases[0].Now, cases[0].Request)
	require.NoError(t, err, "it has what an .in.yaml leaves out")

	other := webController()
	other.Parent.Kind = "Other"
	require.Contains(t, failureOf(func(t testing.TB) { operettatest.Cases(t, project, other) }), "there are no cases below testdata/project/testdata/other")
}

// TestObservedChildrenAreWhatTheAPIServerHas reads each builder's object into its Go
// type, in which no field may be unknown.
func TestObservedChildrenAreWhatTheAPIServerHas(t *testing.T) {
	for name, test := range map[string]struct {
		object operettatest.Object
		into   any
	}{
		"Deployment":  {operettatest.Deployment("a", 3, 1), &appsv1.Deployment{}},
		"StatefulSet": {operettatest.StatefulSet("a", 3, 1), &appsv1.StatefulSet{}},
		"Job":         {operettatest.Job("a", ""), &batchv1.Job{}},
		"done":        {operettatest.Job("a", "Complete"), &batchv1.Job{}},
		"failed":      {operettatest.Job("a", "Failed"), &batchv1.Job{}},
		"Pod":         {operettatest.Pod("a", corev1.PodRunning), &corev1.Pod{}},
		"ConfigMap":   {operettatest.Child("v1", "ConfigMap", "a"), &corev1.ConfigMap{}},
	} {
		require.NoError(t, kruntime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(test.object.Object, test.into, true), name)
	}
	require.Panics(t, func() { operettatest.With(operettatest.Child("v1", "Pod", "a"), "[") })
}
