package why_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/internal/record"
	"github.com/operetta-dev/operetta/metacontroller"
)

var direct = player.Direct(hooks.All()...)

// kinds are those of the samples.
var kinds = []string{"build", "dataservice", "modelbox", "myjob", "podbuggertool", "podset"}

// scene is a simulated cluster with one sample.
type scene struct {
	testing.TB
	*player.World

	kind string
	// failure is what the hooks answer instead, "" for their own answer.
	failure string
	extra   []kube.Object   // in the dump only
	dropped map[string]bool // not in the dump, as in Pod/a
	last    record.Exchange // the last sync of the kind
	waited  time.Duration   // after the world has stopped, until the dump
}

// begin returns the empty cluster of a kind.
func begin(t testing.TB, kind string) *scene {
	t.Helper()
	s := &scene{TB: t, kind: kind}
	s.start()
	return s
}

// start begins with an empty cluster that has faults.
func (s *scene) start(actions ...player.Action) {
	call := func(now time.Time, path string, body []byte) (int, []byte, error) {
		if s.failure != "" {
			return 500, []byte(s.failure), nil
		}
		status, answer, err := direct(now, path, body)
		if path == "/"+s.kind+"/sync" {
			s.last = record.Exchange{Hook: metacontroller.SyncHook, Now: now, Request: bytes.Clone(body), Answer: answer}
		}
		return status, answer, err
	}
	s.World = player.New(player.Options{Controllers: hooks.All(), Simulation: invariants.All(), Call: call, Actions: actions})
}

// apply applies the sample.
func (s *scene) apply() {
	s.Helper()
	text, err := os.ReadFile("../../../deploy/samples/" + s.kind + ".yaml")
	require.NoError(s, err)
	objects, err := documents.Objects(text)
	require.NoError(s, err)
	for _, object := range objects {
		require.NoError(s, s.Apply(object))
	}
}

func (s *scene) parent() kube.Object {
	s.Helper()
	require.NotEmpty(s, s.Parents())
	return s.Parents()[0]
}

// until plays until a check finds an object.
func (s *scene) until(find func() kube.Object) kube.Object {
	s.Helper()
	for range 60 {
		if found := find(); found != nil {
			return found
		}
		s.Step()
	}
	require.Fail(s, "nothing was found")
	return nil
}

// pod returns a Pod below the custom resource, or nil.
func (s *scene) pod() kube.Object {
	for _, pod := range s.List("v1", "Pod") {
		for owner := pod; owner != nil; {
			if kube.RefOf(owner) == kube.RefOf(s.parent()) {
				return pod
			}
			owner = s.ownerOf(owner)
		}
	}
	return nil
}

func (s *scene) ownerOf(object kube.Object) kube.Object {
	for _, owner := range object.GetOwnerReferences() {
		return s.Get(kube.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: object.GetNamespace(), Name: owner.Name})
	}
	return nil
}

// runningPod plays until a Pod of the custom resource runs.
func (s *scene) runningPod() kube.Object {
	s.Helper()
	return s.until(func() kube.Object {
		if pod := s.pod(); pod != nil && kube.ConditionOf(pod, "Initialized").Status == "True" {
			return pod
		}
		return nil
	})
}

// warn puts an event into the dump.
func (s *scene) warn(object kube.Object, reason, message string) {
	at := s.Now().UTC().Format(time.RFC3339)
	s.extra = append(s.extra, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata":       map[string]any{"name": fmt.Sprintf("%s.%d", object.GetName(), len(s.extra)), "namespace": object.GetNamespace(), "creationTimestamp": at},
		"involvedObject": map[string]any{"kind": object.GetKind(), "namespace": object.GetNamespace(), "name": object.GetName()},
		"type":           "Warning", "reason": reason, "message": message, "firstTimestamp": at, "lastTimestamp": at,
	}})
}

// replace puts another version of an object into the dump.
func (s *scene) replace(object kube.Object, change func(fields map[string]any)) {
	changed := object.DeepCopy()
	change(changed.Object)
	version, _, _ := unstructured.NestedString(changed.Object, "metadata", "resourceVersion")
	changed.SetResourceVersion(version + "0")
	s.extra = append(s.extra, changed)
}

// dump returns all objects and Events as kubectl prints them.
func (s *scene) dump() []byte {
	s.Helper()
	return dumptest.List(s, slices.DeleteFunc(slices.Concat(s.Objects(), s.Events(), s.extra), func(object kube.Object) bool {
		return s.dropped[kube.RefOf(object).String()]
	}))
}

// answer explains the custom resource from a dump.
func (s *scene) answer() why.Answer {
	s.Helper()
	d, err := dump.Read(bytes.NewReader(s.dump()))
	require.NoError(s, err)
	d.Asked(why.Kinds(hooks.All())...)
	for _, controller := range hooks.All() {
		for _, child := range controller.Children {
			d.Asked(child.Resource)
		}
		for _, related := range controller.Related {
			d.Asked(related.Resource)
		}
	}
	options := dump.Options{Controllers: hooks.All(), Call: direct, Now: s.Now().Add(s.waited)}
	for subject := range why.FromDump(d, options, why.Selection{Kind: s.kind}) {
		return subject.Explain()
	}
	require.Fail(s, "the dump has no "+s.kind)
	return why.Answer{}
}

// child returns the first child of a kind, or nil if the custom resource has none.
func (s *scene) child(kind string) kube.Object {
	for range 60 {
		for _, child := range s.Owned(s.parent()) {
			if child.GetKind() == kind {
				return child
			}
		}
		s.Step()
	}
	return nil
}

// requireFirst requires that the first cause names an object and some words.
func (s *scene) requireFirst(answer why.Answer, ref string, words ...string) {
	s.Helper()
	var text strings.Builder
	answer.Text(&text)
	s.Log("\n" + text.String())
	require.NotEmpty(s, answer.Because)
	first := answer.Because[0]
	require.Equal(s, ref, first.Ref.String())
	for _, word := range words {
		require.Contains(s, first.Source+" "+first.Reason+": "+first.Message, word)
	}
	require.LessOrEqual(s, strings.Count(text.String(), "\n"), 12)
	require.NotEmpty(s, first.Look)
	require.Equal(s, s.parent().GetName(), first.Holds[len(first.Holds)-1].Name)
}
