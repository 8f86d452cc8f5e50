package explore

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestEditsAreFound: all that break a law are one finding, which is the first in the order of the
// fields, however many processors play them.
func TestEditsAreFound(t *testing.T) {
	const images = `{"type":"string","enum":["x:1","x:2","x:3","x:4","x:5"]}`
	for name, c := range map[string]struct {
		breaks  func(*toy) bool
		played  int
		times   int
		created map[string]any
	}{
		"none":               {func(*toy) bool { return false }, 14, 0, nil},
		"some that are new":  {func(parent *toy) bool { return parent.Spec.Image > "x:2" }, 11, 3, map[string]any{"spec": map[string]any{"image": "x:3"}}},
		"some that are live": {func(parent *toy) bool { return parent.Spec.Image > "x:3" && parent.Generation > 1 }, 14, 2, nil},
	} {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				controller := toys(images, `{"type":"object"}`, func(parent *toy) []metacontroller.Object {
					config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}}
					if c.breaks(parent) {
						return []metacontroller.Object{config, config}
					}
					return []metacontroller.Object{config}
				}, metacontroller.Child{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace})
				for range 5 {
					s := toyScenario(apply, controller, `{"image":"x:1"}`)
					require.NoError(t, s.prepare(t.Context()))
					all := findings{of: map[Violation]*group{}}
					require.Equal(t, c.played, s.playEdits(t.Context(), Search{}, &all))
					findings := all.list()
					if c.times == 0 {
						require.Empty(t, findings)
						continue
					}
					require.Len(t, findings, 1)
					require.Equal(t, lawAnswers, findings[0].Law, findings[0].Detail)
					require.Equal(t, c.times, findings[0].Times)
					require.Equal(t, c.created, findings[0].Created)
					require.Equal(t, c.created == nil, strings.Contains(findings[0].Schedule.String(), `"image":"x:4"`))
				}
			})
		}
	}
}

// twoBugs are of an operator that gives a ConfigMap a field too much when it is edited to x:2, and
// leaves a Secret behind when it is edited to a later one, at the earliest with some generation.
func twoBugs(t *testing.T, generation int64) *Scenario {
	const images = `{"type":"string","enum":["x:1","x:2","x:3","x:4"]}`
	controller := toys(images, `{"type":"object"}`, func(parent *toy) []metacontroller.Object {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}, Data: map[string]string{}}
		children := []metacontroller.Object{config}
		switch image := parent.Spec.Image; {
		case parent.Generation > 1 && image == "x:2":
			config.Data["old"] = "true"
		case parent.Generation >= generation && image > "x:2":
			children = append(children, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimPrefix(image, "x:")}})
		}
		return children
	}, metacontroller.Child{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace},
		metacontroller.Child{Resource: metacontroller.Secret, Update: metacontroller.InPlace})
	s := toyScenario(player.DynamicApply, controller, `{"image":"x:1"}`)
	require.NoError(t, s.prepare(t.Context()))
	return s
}

// TestEachCauseIsFoundOnce: two bugs that break the same law are told apart, by a schedule of each,
// and what one of them does to several objects is not.
func TestEachCauseIsFoundOnce(t *testing.T) {
	s := twoBugs(t, 2)
	findings, played, err := s.Find(t.Context(), Search{First: 1, Schedules: 40})
	require.NoError(t, err)
	require.Equal(t, 40, played)
	require.Len(t, findings, 2)
	for _, finding := range findings {
		require.Equal(t, lawReady, finding.Law)
		require.Greater(t, finding.Times, 1)
		require.Len(t, finding.Schedule, 1, "an edit is all that it takes")
		require.Equal(t, finding.Violation, *s.Play(finding.Schedule).Broken)
		isLeft := strings.Contains(finding.Detail, "is left over")
		require.Equal(t, !isLeft, strings.Contains(finding.Schedule.String(), `"image":"x:2"`), finding.Text())
	}
	require.NotEqual(t, findings[0].cause(), findings[1].cause())
}

// TestMinimizingKeepsTheCause: a part of the schedule breaks the same law in another way.
func TestMinimizingKeepsTheCause(t *testing.T) {
	s := twoBugs(t, 3)
	edit := func(image string) player.Action {
		return player.Action{Do: "edit", Target: "Toy/t", Detail: `{"spec":{"image":"` + image + `"}}`}
	}
	whole := Schedule{edit("x:2"), edit("x:3"), {Do: "restart"}}
	broken := *s.Play(whole).Broken
	run, schedule := s.Minimize(t.Context(), whole, broken, minimizing)
	require.Equal(t, broken, *run.Broken)
	require.Equal(t, whole[:2], schedule)

	ended, end := context.WithCancel(t.Context())
	end()
	_, schedule = s.Minimize(ended, whole, broken, minimizing)
	require.Equal(t, whole, schedule)
}

// TestWhatVariesIsNoOtherCause: names, numbers and what is quoted.
func TestWhatVariesIsNoOtherCause(t *testing.T) {
	for _, same := range [][2]string{
		{"Deployment/a is left behind", "Deployment/b-1.c is left behind"},
		{`sync hook: no image "x:1" in list[0]`, `sync hook: no image "the \"y\" one" in list[12]`},
		{"hello-4cc8182588 has 3 Pods", "hello-7b56ab7a42 has 12 Pods"},
	} {
		require.Equal(t, wording(same[0]), wording(same[1]))
	}
	for _, other := range [][2]string{
		{"Deployment/a is left behind", "Service/a is left behind"},
		{"spec.replicas is 3", "spec.size is 3"},
	} {
		require.NotEqual(t, wording(other[0]), wording(other[1]))
	}
}
