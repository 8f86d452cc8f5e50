package hooks_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// editsOfAKind is about how many edits of each kind are tried where not all are.
const editsOfAKind = 20

// TestChildrenAreAccepted asks a real API server, by dry run, whether it takes each
// child that is asked for: for every sample, every case, and edits of the scenarios
// that the CRD admits, on a new custom resource and on one that is there, in both
// ways in which Metacontroller applies children. The thorough tests try all edits.
//
// A hook that answers with an error is a finding, too. Of an edit, whose Pods may be of what only the
// API server validates, a refusal is told by a condition that names the child.
func TestChildrenAreAccepted(t *testing.T) {
	server := realAPIServer(t)
	for _, controller := range hooks.All() {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		t.Run(controller.Name(), func(t *testing.T) {
			a := &acceptance{server: server, known: map[string]*trial{}}
			a.addCases(t, controller)
			a.addSamples(t, controller)
			base := a.addEdits(t, controller)
			created := a.tryNew(t)
			updated := a.tryLive(t, base)
			refused := a.report(t)
			t.Logf("%s: %d specs; %d different children created and %d updated, each by both strategies; %d refused and told",
				controller.Name(), a.specs, created, updated, refused)
			require.Positive(t, a.specs)
			require.Positive(t, created)
		})
	}
}

// written is a custom resource and what stands beside it, as users write it, or an
// edit of it.
type written struct {
	name     string
	isEdited bool
	// before is at rest when objects are applied.
	before, objects [][]byte
}

// play plays a world until it is at rest, or nothing where the CRD refuses the
// custom resource.
func (w written) play(ask func(player.Asked) error) *player.World {
	world := newPlainWorld()
	if !applied(world, w.before) {
		return nil
	}
	if w.before != nil {
		untouched := newPlainWorld() // which shows sooner whether the edit is admitted
		if applied(untouched, w.before); !applied(untouched, w.objects) {
			return nil
		}
		_ = world.Play()
	}
	world.Ask(ask)
	if !applied(world, w.objects) {
		return nil
	}
	_ = world.Play() // whether it comes to rest is for the explorations to say
	return world
}

func newPlainWorld() *player.World {
	return player.New(player.Options{Controllers: hooks.All(), Simulation: invariants.All(), Call: player.Direct(hooks.All()...), MaxSteps: 100})
}

func applied(world *player.World, objects [][]byte) bool {
	for _, object := range objects {
		if world.Apply(object) != nil {
			return false
		}
	}
	return true
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
	player.Asked
	spec    written
	refused []string
}

// add notes what is asked for, once.
func (a *acceptance) add(spec written, asked player.Asked) {
	if key := keyOf(asked); a.known[key] == nil {
		one := &trial{Asked: asked, spec: spec}
		a.known[key] = one
		a.trials = append(a.trials, one)
	}
}

func keyOf(asked player.Asked) string {
	text, err := json.Marshal(asked.Desired.Object)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return fmt.Sprint(asked.New) + string(text)
}

// likeOf returns the content of a child, which is refused under any name.
func likeOf(asked player.Asked) string {
	child := asked
	child.Desired = asked.Desired.DeepCopy()
	child.Desired.SetName("")
	unstructured.RemoveNestedField(child.Desired.Object, "metadata", "annotations", metacontroller.HashAnnotation)
	return keyOf(child)
}

// addCases adds what the answers to the cases ask to create.
func (a *acceptance) addCases(t *testing.T, controller metacontroller.Controller) {
	for _, c := range cases(t) {
		if c.Controller.Name() != controller.Name() || c.Hook != metacontroller.SyncHook {
			continue
		}
		request := parsed(t, c.Request)
		if unknown, refusals := schemaOf(t, controller).Admit(t.Context(), request["parent"].(map[string]any), nil); len(unknown)+len(refusals) > 0 {
			continue // it cannot come to the hook
		}
		a.specs++
		answer, err := c.Call()
		if err != nil {
			a.findings = append(a.findings, c.Name+": the hook answers with an error: "+err.Error())
			continue
		}
		observed := map[string]bool{}
		for _, group := range request["children"].(map[string]any) {
			for _, child := range group.(map[string]any) {
				observed[corpus.Ref(child.(map[string]any))] = true
			}
		}
		for _, child := range parsed(t, answer.Body)["children"].([]any) {
			if child := child.(map[string]any); !observed[corpus.Ref(child)] { // of which a case tells no more than what it is about
				a.add(written{name: c.Name}, player.Asked{New: true, Desired: completed(child)})
			}
		}
	}
}

// completed returns a child of an answer with a namespace.
func completed(child map[string]any) kube.Object {
	object := (&unstructured.Unstructured{Object: child}).DeepCopy()
	object.SetNamespace(cmp.Or(object.GetNamespace(), "default"))
	return object
}

// addSamples adds what samples come to ask for until they are at rest.
func (a *acceptance) addSamples(t *testing.T, controller metacontroller.Controller) {
	for _, sample := range samples(t) {
		if sample.Controller.Name() == controller.Name() {
			spec := written{name: sample.Name, objects: sample.Objects()}
			require.True(t, a.play(spec, nil), sample.Name)
		}
	}
}

// play plays a spec, notes what is asked for and the errors of hooks, and reports
// whether the spec is admitted.
func (a *acceptance) play(spec written, more func(player.Asked)) bool {
	world := spec.play(func(asked player.Asked) error {
		a.add(spec, asked)
		if more != nil {
			more(asked)
		}
		return nil
	})
	if world == nil {
		return false
	}
	a.specs++
	for _, step := range world.Steps {
		for _, event := range step.Events {
			if event.Verb == player.Failed && strings.Contains(event.Detail, " hook: ") {
				a.findings = append(a.findings, spec.name+": "+event.Detail)
				return true
			}
		}
	}
	return true
}

// addEdits adds what the edits of the scenario of a kind ask for, and returns what
// the scenario without an edit asks for.
func (a *acceptance) addEdits(t *testing.T, controller metacontroller.Controller) []player.Asked {
	s := scenario(t, controller.Name(), player.DynamicApply)
	var base []player.Asked
	spec := written{name: s.Name, objects: s.Objects}
	require.True(t, a.play(spec, func(asked player.Asked) { base = append(base, asked) }))
	for _, edit := range editsToTry(t, s) {
		if !s.Admits(edit.Object()) {
			continue
		}
		name := fmt.Sprintf("%s: %s = %s", s.Name, edit.Path, shortened(edit.Patch()))
		a.play(written{name: name, isEdited: true, objects: s.WithParent(edit.Object())}, nil)
		edited, err := json.Marshal(edit.Object())
		require.NoError(t, err)
		a.play(written{name: name + ", edited", isEdited: true, before: s.Objects, objects: [][]byte{edited}}, nil)
	}
	return base
}

// editsToTry returns all edits for the thorough tests, and a part of them, the same
// in every run, without.
func editsToTry(t *testing.T, s *explore.Scenario) []explore.Edit {
	edits, err := s.Edits(t.Context())
	require.NoError(t, err)
	oneOf := uint32(max(1, len(edits)/editsOfAKind))
	return slices.DeleteFunc(edits, func(edit explore.Edit) bool {
		return !testenv.Sampled(edit.Path+shortened(edit.Patch()), oneOf)
	})
}

// shortened returns a patch, for a line of a report.
func shortened(patch map[string]any) string {
	text, err := json.Marshal(patch["spec"])
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return string(text[:min(len(text), 400)])
}
