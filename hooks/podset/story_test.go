package podset_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/operettatest"
)

// story is a PodSet in a world, told step by step.
type story struct {
	*testing.T

	world *operettatest.World
	// most is the largest number of Pods that were ever there at once, those
	// that were being deleted left out; fewestReady the least that were ready.
	most, fewestReady int
}

func tell(t *testing.T, options operettatest.Options) *story {
	s := &story{T: t}
	options.MaxSteps = 1000
	options.Around = func(direct operettatest.Call) operettatest.Call {
		return func(now time.Time, path string, body []byte) (int, []byte, error) {
			s.count()
			return direct(now, path, body)
		}
	}
	s.world = operettatest.NewWorld(t, options, podset.Controller())
	return s
}

// count looks at the world in the middle of things.
func (s *story) count() {
	ready := len(s.pods(isReady))
	s.most = max(s.most, len(s.pods(nil)))
	s.fewestReady = min(s.fewestReady, ready)
}

// edit applies a spec and plays until all is quiet.
func (s *story) edit(spec string) {
	s.Helper()
	s.apply(spec)
	s.play()
}

func (s *story) apply(spec string) {
	s.Helper()
	s.world.Apply("{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: web}, spec: " + spec + "}")
	s.most, s.fewestReady = 0, len(s.pods(isReady))
}

func (s *story) play() {
	s.Helper()
	s.world.Play()
}

func isReady(pod operettatest.Object) bool {
	return operettatest.ConditionOf(pod, "Ready").Status == "True"
}

// pods returns the names of the Pods that are not being deleted and have not
// failed.
func (s *story) pods(which func(operettatest.Object) bool) []string {
	var names []string
	for _, object := range s.world.Objects("Pod") {
		phase, _, err := unstructured.NestedString(object.Object, "status", "phase")
		require.NoError(s, err)
		if object.GetDeletionTimestamp() == nil && phase != "Failed" && (which == nil || which(object)) {
			names = append(names, object.GetName())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return names
}

func (s *story) uids() map[string]string {
	uids := map[string]string{}
	for _, name := range s.pods(nil) {
		uids[name] = string(s.world.MustGet("Pod/" + name).GetUID())
	}
	return uids
}

func (s *story) requireReady(status, reason string) {
	s.Helper()
	s.world.RequireCondition("PodSet/web", "Ready", status+" "+reason)
}

func template(image string) string {
	return "template: {spec: {containers: [{name: main, image: " + image + "}]}}"
}

func TestSurvivorsStayThroughScaling(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.edit("{size: 0}")
	s.requireReady("True", "Ready")
	s.edit("{size: 5}")
	require.Equal(t, []string{"web-0", "web-1", "web-2", "web-3", "web-4"}, s.pods(isReady))
	five := s.uids()
	s.edit("{size: 3}")
	require.Equal(t, []string{"web-0", "web-1", "web-2"}, s.pods(isReady))
	s.edit("{size: 5}")
	require.Equal(t, []string{"web-0", "web-1", "web-2", "web-3", "web-4"}, s.pods(isReady))
	again := s.uids()
	for i, name := range s.pods(nil) {
		require.Equal(t, i < 3, five[name] == again[name], name)
	}
	require.Equal(t, 5, s.most)
	s.requireReady("True", "Ready")
}

func TestRollKeepsToItsBudget(t *testing.T) {
	for maxUnavailable, fewestReady := range map[string]int{"1": 4, "2": 3, "50%": 3, "39%": 4, "10%": 4, "100%": 0} {
		s := tell(t, operettatest.Options{})
		s.edit("{size: 5, " + template("one") + "}")
		s.edit("{size: 5, maxUnavailable: " + maxUnavailable + ", " + template("two") + "}")
		require.Len(t, s.pods(isReady), 5)
		require.Len(t, s.pods(ofImage("two")), 5)
		require.Equal(t, fewestReady, s.fewestReady, maxUnavailable)
		require.Equal(t, 5, s.most, maxUnavailable)
		s.requireReady("True", "Ready")
	}
}

func ofImage(image string) func(operettatest.Object) bool {
	return func(pod operettatest.Object) bool {
		containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
		return containers[0].(map[string]any)["image"] == image
	}
}

func TestBadTemplateStopsTheRollAndCanBeTakenBack(t *testing.T) {
	s := tell(t, operettatest.Options{Fail: []string{"Pod/web-3"}})
	s.edit("{size: 3, " + template("good") + "}")
	before := s.uids()
	s.edit("{size: 3, " + template("bad") + "}")
	s.requireReady("False", "ProgressDeadlineExceeded")
	require.Equal(t, 2, s.fewestReady)
	require.Len(t, s.pods(ofImage("good")), 2)
	require.Equal(t, "True ProgressDeadlineExceeded", s.condition("Stalled"))

	s.edit("{size: 3, " + template("good") + "}")
	s.requireReady("True", "Ready")
	require.Empty(t, s.condition("Stalled"), "nothing is stalled any more")
	require.Len(t, s.pods(ofImage("good")), 3)
	require.Equal(t, 2, s.fewestReady)
	kept := 0
	for name, uid := range s.uids() {
		if before[name] == uid {
			kept++
		}
	}
	require.Equal(t, 2, kept, "going back touches none of those that had stayed")
}

func TestGoodTemplateMendsWhatWasBadFromTheStart(t *testing.T) {
	s := tell(t, operettatest.Options{Fail: []string{"Pod/web-0", "Pod/web-1", "Pod/web-2"}})
	s.edit("{size: 3, " + template("bad") + "}")
	s.requireReady("False", "ProgressDeadlineExceeded")
	require.Equal(t, "True ProgressDeadlineExceeded", s.condition("Stalled"))
	s.edit("{size: 3, " + template("good") + "}")
	require.Equal(t, []string{"web-3", "web-4", "web-5"}, s.pods(isReady))
	require.Equal(t, 3, s.most)
	s.requireReady("True", "Ready")
}

func (s *story) condition(conditionType string) string {
	return s.world.Condition("PodSet/web", conditionType).String()
}
