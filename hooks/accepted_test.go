package hooks_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/explore"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// atOnce is how many requests are sent at a time.
const atOnce = 4

// TestChildrenAreAccepted asks a real API server, by dry run, whether it takes each
// child that is asked for: for every sample, every case, and every edit of the
// scenarios that the CRD admits, on a new custom resource and on one that is there,
// in both ways in which Metacontroller applies children. A hook that answers with an
// error is a finding, too.
func TestChildrenAreAccepted(t *testing.T) {
	server := realAPIServer(t)
	for _, controller := range hooks.All() {
		if !selected(controller.Name()) {
			continue
		}
		t.Run(controller.Name(), func(t *testing.T) {
			a := &acceptance{server: server, known: map[string]*trial{}}
			a.addSamplesAndCases(t, controller)
			base := a.addEdits(t, controller)
			created := a.tryNew(t)
			updated := a.tryLive(t, base)
			t.Logf("%s: %d specs; %d different children created and %d updated, each by both strategies",
				controller.Name(), a.specs, created, updated)
			require.Positive(t, a.specs)
			require.Positive(t, created)
			a.report(t)
		})
	}
}

// acceptance collects what is asked for and what is refused.
type acceptance struct {
	server   *apiServer
	specs    int
	trials   []*trial
	known    map[string]*trial // by what is asked for
	findings []string
}

// trial is a child that is asked for, with the first spec that leads to it.
type trial struct {
	simulate.Asked
	spec    string
	refused []string
}

// add notes what is asked for, once.
func (a *acceptance) add(spec string, asked simulate.Asked) {
	text, err := json.Marshal(asked.Desired.Object)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	key := fmt.Sprint(asked.New) + string(text)
	if a.known[key] == nil {
		one := &trial{Asked: asked, spec: spec}
		a.known[key] = one
		a.trials = append(a.trials, one)
	}
}

// addSamplesAndCases adds what the answers to the cases ask for, and what samples
// come to ask for until they are at rest.
func (a *acceptance) addSamplesAndCases(t *testing.T, controller metacontroller.Controller) {
	for _, c := range cases(t) {
		if c.controller.Name() != controller.Name() || c.hook != metacontroller.SyncHook {
			continue
		}
		unknown, refusals := admitted(t, c)
		if len(unknown)+len(refusals) > 0 {
			continue // it cannot come to the hook
		}
		a.specs++
		answer, err := c.call()
		if err != nil {
			a.findings = append(a.findings, c.name+": the hook answers with an error: "+err.Error())
			continue
		}
		observed := map[string]bool{}
		for _, child := range observedIn(requestOf(t, c), "children") {
			observed[refOf(child)] = true
		}
		for _, child := range childrenOf(t, answer.Body) {
			if observed[refOf(child)] {
				continue // a case tells no more of it than what the case is about
			}
			a.add(c.name, simulate.Asked{New: true, Desired: completed(child)})
		}
	}
	for _, sample := range samples(t) {
		if sample.controller.Name() == controller.Name() {
			world := a.newWorld(sample.name)
			for _, object := range readDocuments(t, sample.name) {
				require.NoError(t, world.Apply(object), sample.name)
			}
			a.play(world, sample.name)
		}
	}
}

// newWorld returns a world of which each child that is asked for is noted.
func (a *acceptance) newWorld(spec string) *simulate.World {
	world := simulate.New(simulate.Options{Controllers: hooks.All(), Call: simulate.Direct(hooks.All()...), MaxSteps: 100})
	world.Ask(func(asked simulate.Asked) { a.add(spec, asked) })
	return world
}

// play plays a world, and notes the errors of hooks. Whether it comes to rest is
// for the explorations to say.
func (a *acceptance) play(world *simulate.World, spec string) {
	a.specs++
	before := len(world.Steps)
	_ = world.Play()
	for _, step := range world.Steps[before:] {
		for _, event := range step.Events {
			if event.Verb == simulate.Failed && strings.Contains(event.Detail, " hook: ") {
				a.findings = append(a.findings, spec+": "+event.Detail)
				return
			}
		}
	}
}

// addEdits adds what the edits of the scenario of a kind ask for, and returns what
// the scenario without an edit does.
func (a *acceptance) addEdits(t *testing.T, controller metacontroller.Controller) []simulate.Asked {
	s := scenario(t, controller.Name(), simulate.DynamicApply)
	var base []simulate.Asked
	world := a.newWorld(s.Name)
	world.Ask(func(asked simulate.Asked) { base = append(base, asked) })
	requireApplied(t, world, s.Objects)
	a.play(world, s.Name)
	for _, edit := range editsToTry(t, s, controller) {
		spec := fmt.Sprintf("%s %s = %s", s.Name, edit.Path, shortened(edit.Patch))
		if !s.Admits(edit.Object) {
			continue
		}
		for _, live := range []bool{false, true} {
			when := spec
			objects := s.WithParent(edit.Object)
			world := a.newWorld(when)
			if live && !isAdmitted(t, s.Objects, edit.Object) {
				continue
			}
			if live {
				when += " (edited)"
				world = a.playedWorld(t, s.Objects)
				world.Ask(func(asked simulate.Asked) { a.add(when, asked) })
				objects = [][]byte{encoded(t, edit.Object)}
			}
			refused := false
			for _, object := range objects {
				refused = refused || world.Apply(object) != nil
			}
			if !refused {
				a.play(world, when)
			}
		}
	}
	return base
}

// isAdmitted reports whether the CRD admits an edit of what is there.
func isAdmitted(t *testing.T, objects [][]byte, edited map[string]any) bool {
	world := simulate.New(simulate.Options{Controllers: hooks.All(), Call: simulate.Direct(hooks.All()...)})
	requireApplied(t, world, objects)
	return world.Apply(encoded(t, edited)) == nil
}

// requestOf returns the request of a case.
func requestOf(t *testing.T, c exchange) map[string]any {
	var request map[string]any
	require.NoError(t, json.Unmarshal(c.request, &request))
	return request
}

// completed returns a child of a case as it would be created in a world.
func completed(child map[string]any) simulate.Object {
	object := (&unstructured.Unstructured{Object: child}).DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields", "ownerReferences"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", metacontroller.LastAppliedAnnotation)
	delete(object.Object, "status")
	object.SetNamespace(cmp.Or(object.GetNamespace(), "default"))
	return object
}

// shortened returns a patch, for a line of a report.
func shortened(patch map[string]any) string {
	text, err := json.Marshal(patch["spec"])
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return string(text[:min(len(text), 400)])
}

// playedWorld returns a world in which objects are at rest.
func (a *acceptance) playedWorld(t *testing.T, objects [][]byte) *simulate.World {
	world := simulate.New(simulate.Options{Controllers: hooks.All(), Call: simulate.Direct(hooks.All()...), MaxSteps: 100})
	requireApplied(t, world, objects)
	_ = world.Play()
	return world
}

func requireApplied(t *testing.T, world *simulate.World, objects [][]byte) {
	for _, object := range objects {
		require.NoError(t, world.Apply(object))
	}
}

// editsToTry returns all edits for the thorough tests, and a part of them, the same
// in every run, without.
func editsToTry(t *testing.T, s *explore.Scenario, controller metacontroller.Controller) []explore.Edit {
	edits, err := s.Edits()
	require.NoError(t, err)
	parent, err := s.Parent()
	require.NoError(t, err)
	extremes, err := explore.Extremes(&controller, parent)
	require.NoError(t, err)
	all := append(edits, extremes...)
	const wanted = 100
	oneOf := uint32(max(1, len(all)/wanted))
	return slices.DeleteFunc(all, func(edit explore.Edit) bool {
		return !sampled(edit.Path+shortened(edit.Patch), oneOf)
	})
}

// tryNew tries what is created where nothing is yet, and returns how much that is.
func (a *acceptance) tryNew(t *testing.T) int {
	var list []*trial
	for _, one := range a.trials {
		if one.New {
			a.server.arrange(one.Desired)
			list = append(list, one)
		}
	}
	a.try(t, list, func(one *trial) {
		posted, err := one.Posted()
		if err == nil {
			err = a.server.create(posted, dryRun)
		}
		one.note("create", err)
		one.note("apply", a.server.apply(one.Desired, dryRun))
	})
	return len(list)
}

// tryLive tries what is updated, beside the children of the scenario without an
// edit, and returns how much that is.
func (a *acceptance) tryLive(t *testing.T, base []simulate.Asked) int {
	var list []*trial
	for _, one := range a.trials {
		if !one.New {
			list = append(list, one)
		}
	}
	a.beside(t, base, simulate.DynamicApply, func(live map[string]simulate.Object) {
		a.try(t, list, func(one *trial) {
			before := live[simulate.RefOf(one.Desired).String()]
			if before == nil { // it was created by the same edit
				posted, err := one.Posted()
				if err == nil {
					err = a.server.create(posted, dryRun)
				}
				one.note("create", err)
				return
			}
			put, err := one.Put(before)
			if err == nil {
				err = a.server.update(put, dryRun)
			}
			one.note("update", err)
		})
	})
	a.beside(t, base, simulate.ServerSideApply, func(map[string]simulate.Object) {
		a.try(t, list, func(one *trial) { one.note("apply", a.server.apply(one.Desired, dryRun)) })
	})
	return len(list)
}

// beside creates the children of a scenario for as long as something is tried.
func (a *acceptance) beside(t *testing.T, base []simulate.Asked, strategy simulate.Strategy, do func(live map[string]simulate.Object)) {
	live := map[string]simulate.Object{}
	for _, asked := range base {
		a.server.arrange(asked.Desired)
		ref := simulate.RefOf(asked.Desired).String()
		posted, err := asked.Posted()
		require.NoError(t, err)
		switch {
		case strategy == simulate.ServerSideApply:
			err = a.server.apply(asked.Desired, forReal)
		case live[ref] == nil:
			err = a.server.create(posted, forReal)
		default:
			put, putErr := asked.Put(live[ref])
			require.NoError(t, putErr)
			err = a.server.update(put, forReal)
		}
		require.NoError(t, err)
		live[ref] = a.server.get(asked.Desired)
		require.NotNil(t, live[ref])
	}
	defer func() {
		for _, object := range live {
			require.NoError(t, a.server.delete(object))
		}
	}()
	do(live)
}

// try tries some at a time.
func (a *acceptance) try(t *testing.T, list []*trial, do func(*trial)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, one := range list {
		group.Go(func() error { do(one); return nil })
	}
	require.NoError(t, group.Wait())
}

// note notes what the API server says.
func (one *trial) note(verb string, err error) {
	if err != nil {
		one.refused = append(one.refused, verb+" is refused: "+err.Error())
	}
}

// report fails the test for what was refused.
func (a *acceptance) report(t *testing.T) {
	for _, one := range a.trials {
		if len(one.refused) > 0 {
			a.findings = append(a.findings, fmt.Sprintf("%s: %s: %s", one.spec, simulate.RefOf(one.Desired), cmp.Or(strings.Join(one.refused, "; "))))
		}
	}
	for _, finding := range a.findings {
		t.Error(finding)
	}
}
