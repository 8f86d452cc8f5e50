package operettatest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/run"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// Object is a Kubernetes object of any kind. Its numbers are int64 and float64.
type Object = *unstructured.Unstructured

// Call calls a hook: the path is that of the URL, as in /podset/sync, the body
// a request. It returns the HTTP status and the answer.
type Call func(now time.Time, path string, body []byte) (status int, answer []byte, err error)

// Options configure a [World]. The zero value is a cluster in which nothing
// fails.
//
// Faults are written KIND/NAME, as in Deployment/web, or KIND/NAME@STEP, where
// STEP is the first step with the fault. A fault of an object that controls
// Pods applies to its Pods; Image/registry.example.com/web:2.0 applies to all
// Pods that run that image. A test fails at its end if a fault has found no
// object.
type Options struct {
	// ServerSideApply makes Metacontroller use server-side apply, not dynamic
	// apply.
	ServerSideApply bool
	// HookVersion is v1 or v2, the version of Metacontroller's requests. Empty is v2.
	HookVersion string
	// Simulation is what is told of the operators besides: the World asks it what Pods do.
	Simulation simulation.Kinds
	// MaxSteps is how many steps [World.Play] plays before it gives up. Zero is 200.
	MaxSteps int
	// SkipValidation accepts custom resources that their
	// CustomResourceDefinition refuses, as an older version of it may have.
	SkipValidation bool
	// Late delays the caches of Metacontroller and of the built-in controllers
	// until [World.Do] updates them. Step and Play update all of them.
	Late bool
	// Around wraps the calls of hooks, for a test that reads or changes
	// requests and answers. Nil calls them directly.
	Around func(direct Call) Call

	// Fail keeps objects from becoming ready from the beginning.
	Fail []string
	// Hold keeps running Pods from becoming ready or done, from the beginning.
	Hold []string
	// Vanish deletes objects by hand once, after everything has come to rest.
	Vanish []string
	// Evict fails Pods once, as a node that is short of memory does.
	Evict []string
	// Flap makes Pods not ready and ready again, twice, after everything has
	// come to rest.
	Flap []string
	// Actions are other lines of a schedule, each at its step, as in "drain Pod/web-0@5" or "crash
	// PodSet/web"; operetta explore --help lists them.
	Actions []string
}

// World is a cluster in memory in which operators run, for tests over time. Its
// methods fail the test if something cannot be done, and say why. Objects are
// named KIND/NAME, or KIND/NAMESPACE/NAME outside of the namespace default.
type World struct {
	t      testing.TB
	world  *player.World
	failed string // the first error of a hook since Play began
}

// NewWorld returns an empty cluster with these operators.
func NewWorld(t testing.TB, options Options, controllers ...metacontroller.Controller) *World {
	t.Helper()
	apply := player.DynamicApply
	if options.ServerSideApply {
		apply = player.ServerSideApply
	}
	call := player.Direct(controllers...)
	if options.Around != nil {
		call = player.Call(options.Around(Call(call)))
	}
	w := &World{t: t}
	w.world = player.New(player.Options{
		Controllers: controllers, Simulation: options.Simulation, Call: w.recordFailures(call), Apply: apply, HookVersion: options.HookVersion,
		MaxSteps: options.MaxSteps, SkipValidation: options.SkipValidation, Late: options.Late, Actions: options.actions(t),
	})
	t.Cleanup(func() {
		for _, vain := range w.world.InVain() {
			if !t.Failed() {
				t.Errorf("it had no effect: %s", vain)
			}
		}
	})
	return w
}

// recordFailures wraps the calls of hooks and records errors.
func (w *World) recordFailures(call player.Call) player.Call {
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		status, answer, err := call(now, path, body)
		switch {
		case w.failed != "":
		case err != nil:
			w.failed = fmt.Sprintf("%s: %s", path, err)
		case status != http.StatusOK:
			w.failed = fmt.Sprintf("%s answers %d: %s", path, status, answer)
		}
		return status, answer, err
	}
}

func (o Options) actions(t testing.TB) (list []player.Action) {
	t.Helper()
	add := func(do string, targets []string) {
		for _, target := range targets {
			action, err := player.ParseAction(strings.TrimSpace(do + " " + target))
			require.NoError(t, err)
			list = append(list, action)
		}
	}
	add(player.Fail, o.Fail)
	add(player.Hold, o.Hold)
	add(player.Vanish, o.Vanish)
	add(player.Flap, o.Flap)
	add(player.Evict, o.Evict)
	add("", o.Actions)
	return list
}

// LoseStatus wraps the calls of hooks so that the statuses of the sync answers
// from the first to the last, counted from 1, are not written: as when
// Metacontroller dies after it has created and deleted children. It is for
// [Options].Around.
func LoseStatus(call Call, first, last int) Call {
	return Call(player.LoseStatus(player.Call(call), first, last))
}

// Apply creates or edits objects, in YAML with --- between them, as kubectl does.
func (w *World) Apply(text string) {
	w.t.Helper()
	if err := w.TryApply(text); err != nil {
		w.t.Fatalf("the API server refuses what is applied: %s", err)
	}
}

// TryApply is [World.Apply] for objects that may be refused. The error is that
// of the API server.
func (w *World) TryApply(text string) error {
	w.t.Helper()
	for _, object := range documentsOf(w.t, text) {
		if err := w.world.Apply(object); err != nil {
			return err
		}
	}
	return nil
}

// Edit changes an object by a merge patch in YAML, as in {spec: {size: 3}}.
func (w *World) Edit(ref, patch string) {
	w.t.Helper()
	edited := With(w.MustGet(ref), patch)
	text, err := edited.MarshalJSON()
	require.NoError(w.t, err)
	if err := w.world.Apply(text); err != nil {
		w.t.Fatalf("the API server refuses the edit of %s: %s", ref, err)
	}
}

// Delete deletes an object by hand.
func (w *World) Delete(ref string) {
	w.t.Helper()
	require.NoError(w.t, w.world.Delete(kube.RefOf(w.MustGet(ref))))
}

// Step plays one step, which takes a second, and reports whether anything
// happened or is about to happen.
func (w *World) Step() bool { return w.world.Step() }

// Play plays until nothing changes any more, and checks that another sync
// changes nothing and that no hook has returned an error.
func (w *World) Play() {
	w.t.Helper()
	w.failed = ""
	if err := w.TryPlay(); err != nil {
		w.t.Fatalf("%s\nwhat happened:\n%s", err, w.happened())
	}
	if w.failed != "" {
		w.t.Fatalf("a hook fails: %s", w.failed)
	}
}

// TryPlay is [World.Play] for worlds that may never come to rest, and for hooks
// that return errors. The error says what keeps changing.
func (w *World) TryPlay() error { return w.world.Play() }

// Until plays step by step until a condition holds. The test fails if that
// takes more than a hundred steps.
func (w *World) Until(what string, holds func() bool) {
	w.t.Helper()
	for range 100 {
		if holds() {
			return
		}
		w.world.Step()
	}
	w.t.Fatalf("after 100 steps it does not hold that %s\nwhat happened:\n%s", what, w.happened())
}

// Do performs one action of an explored schedule, as in "quota Pod" or "wait
// 10s". The test fails if it is not possible now.
func (w *World) Do(action string) {
	w.t.Helper()
	parsed, err := player.ParseAction(action)
	require.NoError(w.t, err)
	if !w.world.Do(parsed) {
		w.t.Fatalf("%s: that cannot be done now", action)
	}
}

// Now returns the time in the cluster.
func (w *World) Now() time.Time { return w.world.Now() }

// storyLines is the number of events that a failure shows.
const storyLines = 60

// happened returns the last events as text.
func (w *World) happened() string {
	var text strings.Builder
	(&run.Printer{Out: &text}).Outcomes(w.world)
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-storyLines):], "\n")
}

// named reports whether an object has a name such as Pod/web.
func named(object Object, ref string) bool {
	kind, name, _ := strings.Cut(ref, "/")
	namespace, inNamespace, found := strings.Cut(name, "/")
	if found {
		name = inNamespace
	} else {
		namespace = "default"
	}
	return object.GetKind() == kind && object.GetName() == name && cmp.Or(object.GetNamespace(), namespace) == namespace
}
