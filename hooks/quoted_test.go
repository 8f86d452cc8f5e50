package hooks_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/explore"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/internal/testenv"
)

const (
	// largestEdit is about the size of what is written into one field.
	largestEdit = 180 << 10
	// longestRefusal is the longest message that an API server may refuse a child with.
	// Metacontroller keeps some thousands of them.
	longestRefusal = 16 << 10
	// shortEdit is about the size of many short values, and quotedForOne how many times as
	// long the message about them may be.
	shortEdit    = 4 << 10
	quotedForOne = 16
	// askedEdit is the size of many short values with which some children are only just asked
	// for, and longestOfAsked the longest message about one: twice what is counted for it.
	askedEdit      = 16 << 10
	longestOfAsked = 64 << 10
	// answerForMessage is how many times as large as its message an answer may be. It has
	// a list of all errors, also of those that the message tells once.
	answerForMessage = 4
)

// alwaysAsked are the fields of which the API server says the most in relation to what is counted
// for them: they go wrong together with others.
var alwaysAsked = regexp.MustCompile(`(containers\[0\].*divisor|hostPort)$`)

// TestRefusalsAreShort asks a real API server, by dry run, for the children of custom
// resources that have as much in one field as the CRD admits. What it refuses it quotes,
// with up to four bytes for one, and Metacontroller keeps each such message as an event.
func TestRefusalsAreShort(t *testing.T) {
	server := realAPIServer(t)
	for _, controller := range hooks.All() {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		t.Run(controller.Name(), func(t *testing.T) {
			s := scenario(t, controller.Name(), simulate.DynamicApply)
			parent, err := s.Parent()
			require.NoError(t, err)
			large, err := explore.Largest(&controller, parent, largestEdit)
			require.NoError(t, err)
			short, err := explore.Shortest(&controller, parent, shortEdit)
			require.NoError(t, err)
			asked, err := explore.Shortest(&controller, parent, askedEdit)
			require.NoError(t, err)
			if host, has := inHostNetwork(s, parent); has {
				onHost, err := explore.Shortest(&controller, host, askedEdit)
				require.NoError(t, err)
				asked = append(asked, onHost...)
			}
			for _, of := range []struct {
				most  int
				edits []explore.LargeEdit
			}{{longestRefusal, large}, {quotedForOne * shortEdit, short}, {longestOfAsked, asked}} {
				a := &acceptance{server: server, known: map[string]*trial{}}
				oneOf := uint32(max(1, len(of.edits)/(5*editsOfAKind)))
				for i, edit := range of.edits {
					isAlways := of.most == longestOfAsked && alwaysAsked.MatchString(edit.Path)
					if !isAlways && !testenv.Sampled(fmt.Sprint(edit.Path, i), oneOf) {
						continue
					}
					if object := edit.Make(); object != nil && s.Admits(object) {
						a.play(written{name: edit.Path, objects: s.WithParent(object)}, nil)
					}
				}
				a.refuseShortly(t, of.most)
			}
		})
	}
}

// inHostNetwork returns a custom resource whose Pods are in the network of their node, if its
// kind admits that: the API server asks more of their ports.
func inHostNetwork(s *explore.Scenario, parent simulate.Object) (simulate.Object, bool) {
	host := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(parent.Object)}
	for _, path := range [][]string{{"spec", "template", "spec"}, {"spec"}} {
		inner, has, err := unstructured.NestedMap(host.Object, path...)
		if err != nil || !has {
			continue
		}
		inner["hostNetwork"] = true
		if unstructured.SetNestedMap(host.Object, inner, path...) == nil && s.Admits(host.Object) {
			return host, true
		}
		host.Object = runtime.DeepCopyJSON(parent.Object)
	}
	return host, false
}

// refuseShortly fails the test for each refusal of what is created that has more bytes.
func (a *acceptance) refuseShortly(t *testing.T, allowed int) {
	longest, answers := make([]string, len(a.trials)), make([]int, len(a.trials))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, one := range a.trials {
		if !one.New {
			continue
		}
		a.server.arrange(one.Desired)
		group.Go(func() error {
			for _, err := range []error{a.post(one), a.server.apply(one.Desired, dryRun)} {
				if err != nil && len(err.Error()) > len(longest[i]) {
					longest[i] = err.Error()
				}
				var refused *refusal
				if errors.As(err, &refused) {
					answers[i] = max(answers[i], refused.bytes)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	most := 0
	for i, message := range longest {
		most = max(most, len(message))
		if len(message) > allowed {
			t.Errorf("%s: %s is refused with %d bytes: %.300q", a.trials[i].spec.name, simulate.RefOf(a.trials[i].Desired), len(message), message)
		}
	}
	for i, bytes := range answers {
		if bytes > answerForMessage*allowed {
			t.Errorf("%s: the refusal of %s has %d bytes in all", a.trials[i].spec.name, simulate.RefOf(a.trials[i].Desired), bytes)
		}
	}
	for _, finding := range a.findings {
		require.Less(t, len(finding), longestRefusal, fmt.Sprintf("%.300s", finding))
	}
	t.Logf("%d specs, %d children; the longest refusal has %d bytes, the largest answer %d", a.specs, len(a.trials), most, slices.Max(append(answers, 0)))
	require.Positive(t, a.specs)
}
